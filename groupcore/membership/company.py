"""With whom a member can go on: whom it hears, who has gone elsewhere, who comes and who leaves."""

from __future__ import annotations

from collections.abc import Set

from groupcore.events import ViewInstalled
from groupcore.membership.admission import Admission
from groupcore.membership.halves import first_half, other_half
from groupcore.membership.leaver import Leaver
from groupcore.membership.reachability import connected, proposer
from groupcore.membership.state import MembershipState, Questions
from groupcore.membership.succession import Candidates
from groupcore.view import Address, View

SETTLED_S = 2.0
"""Seconds after a view's beginning in which what is heard of others may be older than the view."""


class Company:
    """What the other layers and the roles know of the others, put together."""

    def __init__(
        self, state: MembershipState, admission: Admission, leaver: Leaver, ask: Questions
    ) -> None:
        self.state = state
        self.admission = admission
        self.leaver = leaver
        self.ask = ask
        self.elsewhere: frozenset[Address] = frozenset()
        self.passed_over: frozenset[Address] = frozenset()
        self.restarted: Set[str] = frozenset()
        self.ancestors: dict[int, int] = {}
        self.settled_at = 0.0

    def note_elsewhere(self, now: float) -> None:
        """Members whom a view of another lineage has taken: they never come back to this one."""
        mine = self.state.view
        if mine is None or not self.state.options.partitionable or now < self.settled_at:
            return
        gone: set[Address] = set()
        for view, _ in self.ask.present(now).values():
            if self.is_elsewhere(view, mine):
                gone.update(view.members)
        self.elsewhere = frozenset(gone) & frozenset(mine.members)

    def note_restarted(self, now: float) -> None:
        """Nodes that look for a view and could vote on the next one with what is on their disks.

        A disk that does not know of this view may have lost what the node promised in it. Not so
        that of a voter that was away when the view began, whatever it knows: it takes part by
        storing the view first.
        """
        mine = self.state.view
        away = () if mine is None else mine.absent
        seekers = self.ask.seeking(now).items()
        knowing = {node.name for node, view in seekers if view == mine or node.name in away}
        self.restarted = knowing - self.ask.empty(now)

    def is_elsewhere(self, view: View, mine: View) -> bool:
        """Whether its members are in another lineage, and it is not one that was left for mine."""
        if view.lineage == mine.lineage or self.state.me in view.members:
            return False
        # Who has lived through a former lineage knows where it left it; others go by the numbers.
        if not self.ancestors:
            return view.number > mine.number
        return view.number > self.ancestors.get(view.lineage, 0)

    def on_view(self, event: ViewInstalled, now: float) -> None:
        """A view begins: what was heard before is of former ones."""
        former = [*event.merged, *([] if event.previous is None else [event.previous])]
        for view in former:
            if view.lineage != event.view.lineage:
                self.ancestors[view.lineage] = view.number
        self.elsewhere = self.passed_over = frozenset()
        self.settled_at = now + SETTLED_S

    def unheard(self) -> dict[Address, frozenset[Address]]:
        """Who does not hear whom; nobody hears who has gone elsewhere or has been passed over."""
        return self.unheard_without(self.passed_over)

    def unheard_without(self, others: frozenset[Address]) -> dict[Address, frozenset[Address]]:
        """The same, if it were these who had been passed over."""
        unheard = self.ask.unheard()
        gone = self.elsewhere | others
        if not gone:
            return unheard
        mine = {self.state.me: frozenset[Address](), **unheard}
        return {member: deaf | gone for member, deaf in mine.items()}

    def unreachable(self) -> frozenset[Address]:
        """Members that this one does not hear."""
        return self.unheard().get(self.state.me, frozenset())

    def keep(self, view: View) -> tuple[Address, ...]:
        """The members that can go on together with this one."""
        other = self.other_half(view)
        return other if self.state.me in other else self.connected(view, self.unheard())

    def leader(self, view: View) -> Address | None:
        """Who proposes the next view; None if that is not known."""
        for member in self.other_half(view):
            if member.name in view.voters:
                return member
        return proposer(view, self.state.me, self.unheard(), self.restarted)

    def other_half(self, view: View) -> tuple[Address, ...]:
        """Who goes on with the votes of the first half, and without it (`halves`); mostly nobody.

        Not if one of them has had its turn in vain: then the first half has the word.
        """
        indirect = self.ask.indirect()
        if not any(indirect.values()):
            return ()
        gone = self.elsewhere | self.passed_over
        return other_half(view, self.unheard(), {m: far - gone for m, far in indirect.items()})

    def first_half(self, view: View) -> tuple[Address, ...]:
        """Who votes for the other half, where there is one that goes on."""
        return first_half(view, self.unheard()) if self.other_half(view) else ()

    def gives_way(self, view: View) -> bool:
        """Whether this member is to vote for the others, and to propose nothing itself."""
        return self.state.me in self.first_half(view)

    def together(self, view: View) -> tuple[Address, ...]:
        """The members that this one could go on with if nobody had been passed over."""
        return self.connected(view, self.unheard_without(frozenset()))

    def connected(
        self, view: View, unheard: dict[Address, frozenset[Address]]
    ) -> tuple[Address, ...]:
        """Those who can go on with this member, if it is so who does not hear whom."""
        return connected(view, self.state.me, unheard, self.restarted)

    def pass_over(self, view: View, others: frozenset[Address]) -> None:
        """Go on without these others if a quorum can; else all have their turn again."""
        group = self.connected(view, self.unheard_without(others))
        can = view.is_quorum([*self.restarted, *(member.name for member in group)])
        self.passed_over = others if can else frozenset()

    def silent(self) -> frozenset[Address]:
        """Whose answers are not waited for."""
        view = self.state.view
        if view is None:
            return frozenset()
        return frozenset(view.members) - {*self.keep(view), *self.deciding(view)}

    def deciding(self, view: View) -> tuple[Address, ...]:
        """Both halves, where the votes of both are needed for the one that goes on."""
        return (*self.first_half(view), *self.other_half(view))

    def candidates(self, now: float, keep: tuple[Address, ...] | None = None) -> Candidates:
        """Who joins and who leaves if a view is decided now: the provisional list.

        `keep`: who can go on together, where that has been asked for already.
        """
        view, options = self.state.view, self.state.options
        logged, disks = options.logged, options.counts_disks
        if view is None:
            return Candidates(stateful=options.stateful, logged=logged, counts_disks=disks)
        if keep is None:
            keep = self.keep(view)
        ready = self.admission.ready(view, keep, self.unreachable(), now)
        cut_off = frozenset(view.members) - frozenset(keep)
        leaving = frozenset(self.leaver.leaving)
        return Candidates(ready, leaving, cut_off, options.stateful, logged, disks)

    def has_lost_its_proposer(self) -> bool:
        """Whether the one to whom this member has promised is not heard any more, or gives way."""
        promised, view = self.state.record.promised, self.state.view
        if promised is None or view is None:
            return False
        return promised.proposer in {*self.unreachable(), *self.first_half(view)}
