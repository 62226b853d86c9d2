"""The merger's role: coordinators whose views meet bring them into one.

The coordinator that is first by address leads. It draws a merge id and asks the others; each who
is not busy stops the members of its view and answers where they have ended. The leader makes the
merged view of those who have answered in time, and each coordinator takes its own members into
it, as the successor of their view.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from groupcore.effects import Effect, StartTimer, StopTimer
from groupcore.membership.attempt import Attempt
from groupcore.membership.branching import end_position, unite
from groupcore.membership.company import Company
from groupcore.membership.headers import MergeInstall, MergeRequest, MergeResponse
from groupcore.membership.proposer import Proposer
from groupcore.membership.state import MembershipState
from groupcore.view import Address, View

ASK_EVERY_S = 0.05
"""Seconds between two tries to reach the other coordinators."""
TELL_S = 0.5
"""Seconds for which the leader repeats what has been decided."""

Side = tuple[View, tuple[Address, ...], int]


@dataclass(slots=True)
class Merge:
    """One merge, at its leader or at another coordinator.

    `waiting`: who has not answered the leader; `sides`: who has, with view, members and end;
    `told`: what was decided.
    """

    id: int
    leader: Address
    since: float
    waiting: dict[Address, None] = field(default_factory=dict)
    sides: dict[Address, Side] = field(default_factory=dict)
    told: MergeInstall | None = None


class Merger:
    """At most one merge at a time."""

    def __init__(
        self, state: MembershipState, proposer: Proposer, company: Company, random: Random
    ) -> None:
        self.state = state
        self.proposer = proposer
        self.company = company
        self.random = random
        self.merge: Merge | None = None
        self.numbers = {"merges": 0, "merges_cancelled": 0, "merges_rejected": 0}
        proposer.on_side_stopped = self.on_side_stopped

    def on_header(
        self, sender: Address, header: MergeRequest | MergeResponse | MergeInstall, now: float
    ) -> list[Effect]:
        """What coordinators tell each other."""
        match header:
            case MergeRequest():
                return self.on_request(sender, header, now)
            case MergeResponse():
                return self.on_response(sender, header)
            case MergeInstall():
                return self.on_install(sender, header)

    # --- beginning --------------------------------------------------------------------------------

    def on_found(self, views: tuple[View, ...], now: float) -> list[Effect]:
        """Several coordinators: the first by address leads a merge, unless something goes on."""
        mine = self.state.view
        if mine is None or not self.is_free(mine):
            return []
        others = {
            view.coordinator
            for view in views
            if view.lineage != mine.lineage and view.coordinator not in mine.members
        }
        if not others or min(others) < self.state.me:
            return []
        merge = Merge(self.random.getrandbits(63) | 1, self.state.me, now, dict.fromkeys(others))
        return self.begin(merge, mine)

    def is_free(self, mine: View) -> bool:
        """Whether this member may merge its view now: it can decide, and nothing goes on."""
        busy = self.merge is not None or self.state.blocked or self.proposer.attempt is not None
        if busy or not self.state.options.partitionable or mine.coordinator != self.state.me:
            return False
        return mine.is_quorum(member.name for member in self.company.keep(mine))

    def begin(self, merge: Merge, mine: View) -> list[Effect]:
        """Stop the own side; the leader asks the others."""
        self.merge = merge
        keep = frozenset(self.company.keep(mine))
        stop = self.proposer.start(mine, keep, merge.since, merge_id=merge.id)
        return [*self.ask(merge), *stop, StartTimer("merge", ASK_EVERY_S)]

    def ask(self, merge: Merge) -> list[Effect]:
        """The leader's question, to whoever has not answered it."""
        return [self.state.send(member, MergeRequest(merge.id)) for member in sorted(merge.waiting)]

    def on_request(self, leader: Address, request: MergeRequest, now: float) -> list[Effect]:
        """Say yes when this side has stopped; or no, at once, when it is busy."""
        mine, merge = self.state.view, self.merge
        if merge is not None and (merge.id, merge.leader) == (request.id, leader):
            return self.answer(merge)
        if mine is None or leader in mine.members or not self.is_free(mine):
            self.numbers["merges_rejected"] += 1
            nothing = mine or View(1, 0, 0, 1, (self.state.me,))
            return [self.state.send(leader, MergeResponse(request.id, True, nothing, (), 0))]
        return self.begin(Merge(request.id, leader, now), mine)

    # --- the sides --------------------------------------------------------------------------------

    def on_side_stopped(self, attempt: Attempt, going: tuple[Address, ...]) -> list[Effect]:
        """The members of this side have stopped: where they end is known."""
        merge = self.merge
        if merge is None or attempt.basis is None or attempt.merge_id != merge.id:
            return []
        merge.sides[self.state.me] = (attempt.basis, going, end_position(attempt.stopped.values()))
        return self.conclude(merge) if merge.leader == self.state.me else self.answer(merge)

    def answer(self, merge: Merge) -> list[Effect]:
        """Tell the leader how far this side is, once it has stopped."""
        mine = merge.sides.get(self.state.me)
        if mine is None or merge.leader == self.state.me:
            return []
        return [self.state.send(merge.leader, MergeResponse(merge.id, False, *mine))]

    def on_response(self, coordinator: Address, response: MergeResponse) -> list[Effect]:
        """A coordinator has answered the leader; one that says no is left out."""
        merge = self.merge
        if merge is None or merge.id != response.id or coordinator not in merge.waiting:
            return []
        del merge.waiting[coordinator]
        if not response.rejected and coordinator == response.view.coordinator:
            merge.sides[coordinator] = (response.view, response.members, response.position)
        return self.conclude(merge)

    def conclude(self, merge: Merge) -> list[Effect]:
        """When all have answered: the merged view, or, when only the leader is left, none."""
        if merge.waiting or merge.told is not None or self.state.me not in merge.sides:
            return []
        if len(merge.sides) == 1:
            return self.cancel()
        sides = [merge.sides[coordinator] for coordinator in sorted(merge.sides)]
        views = tuple(view for view, _, _ in sides)
        merge.told = MergeInstall(merge.id, unite(sides, self.random), views)
        return [*self.tell(merge), *self.on_install(merge.leader, merge.told)]

    def tell(self, merge: Merge) -> list[Effect]:
        """INSTALL_MERGE_VIEW, to the other coordinators."""
        assert merge.told is not None
        others = [member for member in sorted(merge.sides) if member != self.state.me]
        return [self.state.send(member, merge.told) for member in others]

    def on_install(self, leader: Address, install: MergeInstall) -> list[Effect]:
        """Take the own side into the merged view, if that is the merge that was agreed to."""
        merge = self.merge
        if merge is None or (merge.id, merge.leader) != (install.id, leader):
            return []
        if self.state.me not in merge.sides or self.state.view not in install.views:
            return []
        return self.proposer.propose_merged(install.id, install.view, install.views)

    # --- time -------------------------------------------------------------------------------------

    def on_timer(self, now: float) -> list[Effect]:
        """Ask or tell again; leave out who is late; give up when the leader is silent."""
        merge = self.merge
        if merge is None:
            return []
        options, again = self.state.options, StartTimer("merge", ASK_EVERY_S)
        if merge.leader != self.state.me:
            if now - merge.since > options.merge_lapse_s:
                return self.cancel()
            return [*self.answer(merge), again]
        if merge.told is not None:
            if now - merge.since > options.merge_lapse_s + TELL_S:
                self.merge = None
                return []
            return [*self.tell(merge), again]
        if now - merge.since > options.merge_s:
            merge.waiting = {}
            if self.state.me not in merge.sides:
                return self.cancel()
            concluded = self.conclude(merge)
            return concluded if self.merge is None else [*concluded, again]
        return [*self.ask(merge), again]

    def cancel(self) -> list[Effect]:
        """No merge: a side that was stopped goes on with a view of its own."""
        self.merge = None
        self.numbers["merges_cancelled"] += 1
        return [StopTimer("merge"), *self.proposer.leave_merge()]

    def on_view(self, merged: bool) -> None:
        """A view has come: the leader of a merge still tells it, others have nothing to do."""
        if merged:
            self.numbers["merges"] += 1
        if self.merge is not None and (self.merge.told is None or not merged):
            self.merge = None
