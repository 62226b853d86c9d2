"""When the next view is proposed, and by whom: the reasons, the waiting, and the second attempts.

The layer tells what happens; the timers `gather` and `stuck` are the layer's, which hands them
back. How a proposal goes on is the proposer's matter.
"""

from __future__ import annotations

from random import Random

from groupcore.effects import Effect, StartTimer
from groupcore.events import ViewInstalled
from groupcore.membership.company import Company
from groupcore.membership.learners import Learners
from groupcore.membership.leaver import Leaver
from groupcore.membership.primary import PrimaryWatch
from groupcore.membership.proposer import Proposer
from groupcore.membership.state import MembershipState, Questions
from groupcore.membership.succession import is_quorum_of
from groupcore.membership.turns import Turns
from groupcore.view import Address, View

FRUITLESS_S = 0.1
"""Seconds after a view that has changed nothing; twice as long after each further one."""

FRUITLESS_MOST_S = 2.0


class Convener:
    """Decides that this member starts an attempt."""

    def __init__(
        self,
        state: MembershipState,
        proposer: Proposer,
        company: Company,
        leaver: Leaver,
        learners: Learners,
        primary: PrimaryWatch,
        ask: Questions,
        random: Random,
    ) -> None:
        self.state = state
        self.options = state.options
        self.proposer = proposer
        self.company = company
        self.leaver = leaver
        self.learners = learners
        self.primary = primary
        self.ask = ask
        self.random = random
        self.turns = Turns(state, company)
        self.numbers = self.turns.numbers
        self.gathering = False
        self.fruitless = 0
        self.not_before = 0.0

    def on_view(self, event: ViewInstalled, now: float) -> None:
        """A view begins: one that has changed nothing makes the next wait."""
        former, view = event.previous, event.view
        same = former is not None and former.members == view.members
        same = same and former is not None and former.voters == view.voters
        self.fruitless = self.fruitless + 1 if same else 0
        self.turns.on_view()
        wait_s = min(FRUITLESS_S * 2**self.fruitless, FRUITLESS_MOST_S) if same else 0.0
        self.not_before = now + wait_s

    def gather(self) -> list[Effect]:
        """Wait a moment for others that join or leave at the same time (I6)."""
        if self.gathering:
            return []
        self.gathering = True
        return [StartTimer("gather", self.options.bulk_s)]

    def on_gathered(self, now: float) -> list[Effect]:
        """Serve all who have asked meanwhile."""
        self.gathering = False
        return self.consider(now)

    def on_tick(self, now: float) -> list[Effect]:
        """Look whose turn it is, and whether there is a reason to propose."""
        if self.state.view is not None:
            self.company.note_restarted(now)
            self.turns.look(self.state.view, now)
        return self.consider(now)

    def consider(self, now: float) -> list[Effect]:
        """Propose the next view if there is reason to, and this member is the one to do it."""
        view, state = self.state.view, self.state
        if view is None:
            return []
        if self.proposer.attempt is not None:
            return self.give_way(now)
        waits = state.blocked or now < self.proposer.quiet_until
        if waits and not self.company.has_lost_its_proposer():
            return []
        if self.company.leader(view) != state.me:
            return []
        keep = self.company.keep(view)
        candidates = self.company.candidates(now, keep)
        leaving = [member for member in view.members if member in candidates.leaving]
        if len(keep) == len(view.members):
            wanted = bool(candidates.joiners) or bool(leaving) or bool(self.learners.ready)
            if not wanted or now < self.not_before:
                return []
        if set(keep) <= set(leaving) and not candidates.joiners:
            return self.leaver.dissolve()
        return self.propose(view, keep, now)

    def give_way(self, now: float) -> list[Effect]:
        """End an attempt that others are to go on without, with this member's vote."""
        view = self.state.view
        gives = view is not None and self.company.gives_way(view)
        return self.proposer.give_way(now) if gives else []

    def propose(self, view: View, keep: tuple[Address, ...], now: float) -> list[Effect]:
        """Start an attempt if enough nodes can vote: members, else what is on disks."""
        cluster_size = self.options.cluster_size
        expected = frozenset({*keep, *self.company.deciding(view)})
        if self.proposer.is_failing:
            alone = self.go_alone(view, frozenset(keep), now)
            if alone:
                return alone
        if not is_quorum_of(view, {member.name for member in expected}, cluster_size):
            seekers = frozenset(self.ask.seeking(now))
            expected |= seekers
            if not is_quorum_of(view, {member.name for member in expected}, cluster_size):
                return self.go_alone(view, frozenset(keep), now)
        return [*self.proposer.start(view, expected, now), *self.watch()]

    def go_alone(self, view: View, keep: frozenset[Address], now: float) -> list[Effect]:
        """A component that could decide nothing for a while (merge policy `application`)."""
        if not self.options.partitionable or self.primary.is_primary:
            return []
        return [*self.proposer.start(view, keep, now, alone=True), *self.watch()]

    def watch(self) -> list[Effect]:
        """A member that was stopped proposes itself when nothing comes of it (I7)."""
        if not self.state.blocked or self.proposer.attempt is not None:
            return []
        rank = 0 if self.state.view is None else self.state.view.rank(self.state.me)
        delay_s = self.options.stuck_s + 0.1 * rank * (1 + self.random.random())
        return [StartTimer("stuck", delay_s)]

    def on_stuck(self, now: float) -> list[Effect]:
        """Still blocked: the proposer has died, or could not get a quorum."""
        view = self.state.view
        if view is None or not self.state.blocked or self.proposer.attempt is not None:
            return []
        if self.company.gives_way(view):  # as long as their turn lasts
            return [StartTimer("stuck", self.proposer.back_off_s())]
        effects = self.propose(view, self.company.keep(view), now)
        return effects or [StartTimer("stuck", self.proposer.back_off_s())]
