"""The doorkeeper's role: who asks to join is told the view, refused, or noted for the next one."""

from __future__ import annotations

from groupcore.effects import Effect, Notify
from groupcore.events import Excluded
from groupcore.membership.admission import Admission
from groupcore.membership.ballots import Record
from groupcore.membership.headers import GoneOn, JoinRefused, JoinRequest
from groupcore.membership.state import MembershipState, Questions
from groupcore.membership.voter import Voter
from groupcore.view import Address, View

NAMESAKE_S = 0.5
"""Seconds for which a namesake must still be heard after a join request to count as alive."""


class Doorkeeper:
    """Answers those who ask to join, and notices other views of this chain and other chains."""

    def __init__(
        self, state: MembershipState, voter: Voter, admission: Admission, ask: Questions
    ) -> None:
        self.state = state
        self.voter = voter
        self.admission = admission
        self.ask = ask

    def on_join_request(
        self, joiner: Address, request: JoinRequest, view: View, now: float
    ) -> list[Effect] | None:
        """What a node that asks to be taken in is told; None when it is noted and has to wait."""
        send = self.state.send
        if joiner in view.members:
            last = self.state.last_install
            return [] if last is None else [send(joiner, last)]
        foreign = request.lineage not in (0, view.lineage)
        if request.lineage in self.state.record.left:
            return [send(joiner, GoneOn(request.lineage, view))]
        if foreign and not self.state.options.partitionable:
            return [send(joiner, JoinRefused("foreign_cluster"))]
        if request.logged != self.state.options.logged:
            return [send(joiner, JoinRefused("mixed_logs"))]
        if self.admission.has_left(joiner):
            return [send(joiner, JoinRefused("left_behind"))]
        since = self.admission.ask(joiner, request.hears, now)
        if now - since > NAMESAKE_S:
            heard = self.ask.heard_since(since + NAMESAKE_S / 2)
            if self.admission.live_namesake(joiner, view, heard) is not None:
                return [send(joiner, JoinRefused("id_in_use"))]
        return None

    def fence(self, now: float) -> list[Effect]:
        """Tell nodes of a lineage that ended under a waiver that the others have gone on."""
        left = self.state.record.left
        if not left:
            return []
        mine = self.state.view
        assert mine is not None
        known = dict(self.ask.seeking(now).items())
        known.update({member: view for member, (view, _) in self.ask.present(now).items()})
        return [
            self.state.send(node, GoneOn(view.lineage, mine))
            for node, view in known.items()
            if view is not None and view.lineage in left
        ]

    def on_found(self, mine: View, now: float) -> list[Effect]:
        """Somebody is in a later view of this chain, or in another chain."""
        for member, (view, primary) in self.ask.present(now).items():
            if view.lineage == mine.lineage and view.number > mine.number:
                return self.voter.learn_view(view, member)
            if view.lineage != mine.lineage and primary and self.state.options.may_absorb:
                theirs = (-len(view.members), view.lineage)
                if theirs < (-len(mine.members), mine.lineage):
                    return self.join_other_cluster()
        return []

    def join_other_cluster(self) -> list[Effect]:
        """Forget this chain, on disk first, and come back as a node that has never been in one."""
        self.state.record, self.state.gone = Record(), True
        reason = "a larger cluster of this name is there: joining it"
        return [self.state.persist([Notify(Excluded(reason))])]
