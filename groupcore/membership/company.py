"""With whom a member can go on: whom it hears, who has gone elsewhere, who comes and who leaves."""

from __future__ import annotations

from groupcore.membership.admission import Admission
from groupcore.membership.leaver import Leaver
from groupcore.membership.reachability import connected, is_lowest
from groupcore.membership.state import MembershipState, Questions
from groupcore.membership.succession import Candidates
from groupcore.view import Address, View


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

    def note_elsewhere(self, now: float) -> None:
        """Members whom a view of another lineage has taken: they never come back to this one."""
        mine = self.state.view
        if mine is None or not self.state.options.partitionable:
            return
        views = [view for view, _ in self.ask.present(now).values() if view.lineage != mine.lineage]
        gone = {member for view in views for member in view.members}
        self.elsewhere = frozenset(gone) & frozenset(mine.members) - {self.state.me}

    def on_view(self) -> None:
        """A view begins: what was heard before is of former ones."""
        self.elsewhere = frozenset()

    def unheard(self) -> dict[Address, frozenset[Address]]:
        """Who does not hear whom; nobody hears those who have gone elsewhere."""
        unheard = self.ask.unheard()
        if not self.elsewhere:
            return unheard
        return {member: deaf | self.elsewhere for member, deaf in unheard.items()}

    def unreachable(self) -> frozenset[Address]:
        """Members that this one does not hear."""
        return self.unheard().get(self.state.me, frozenset())

    def keep(self, view: View) -> tuple[Address, ...]:
        """The members that can go on together with this one."""
        return connected(view.members, self.state.me, self.unheard())

    def leads(self, view: View) -> bool:
        """Whether it is this member that proposes the next view."""
        return is_lowest(view.members, self.state.me, self.unheard())

    def silent(self) -> frozenset[Address]:
        """Whose answers are not waited for."""
        view = self.state.view
        return frozenset() if view is None else frozenset(view.members) - frozenset(self.keep(view))

    def candidates(self, now: float) -> Candidates:
        """Who joins and who leaves if a view is decided now: the provisional list."""
        view, stateful = self.state.view, self.state.options.application_state
        if view is None:
            return Candidates(stateful=stateful)
        keep = self.keep(view)
        ready = self.admission.ready(view, keep, self.unreachable(), now)
        cut_off = frozenset(view.members) - frozenset(keep)
        return Candidates(ready, frozenset(self.leaver.leaving), cut_off, stateful)

    def has_lost_its_proposer(self) -> bool:
        """Whether the one to whom this member has promised is not heard any more."""
        promised = self.state.record.promised
        return promised is not None and promised.proposer in self.unreachable()
