"""What of a proposal's cut a node holds: in memory, or on its disk.

Idea. Who lives in the former view has to hold all of the cut, and to have delivered what anybody
has: then its log, which is stored before its acceptance, has the commands in it. An application
stores by itself, so where its disk counts it is waited for. Who has only a disk has what that has;
nobody can give it commands that it lacks, and it remembers that it does (`lacks_commands`).
"""

from __future__ import annotations

from groupcore.digest import covers
from groupcore.membership.ballots import Proposal
from groupcore.membership.log_end import NO_LOG, LogEnd
from groupcore.membership.state import MembershipState, Questions


class Holding:
    """What this node holds of the cuts that are proposed."""

    def __init__(self, state: MembershipState, ask: Questions) -> None:
        self._state = state
        self._ask = ask

    def log_end(self) -> LogEnd:
        """How far this node's log goes, or will when its next record is stored, which is behind it.

        What it has delivered is in its log then; who lives in no view has the log that it found.
        An application's disk is its own: it goes as far as was said (`Synced`).
        """
        state = self._state
        if state.options.counts_disks:
            return LogEnd(*state.stored)
        if not state.options.logged:
            return NO_LOG
        if state.live_in_basis and state.view is not None:
            return LogEnd(state.view.epoch, self._ask.order_state().position, state.view.number)
        return LogEnd(*state.stored, self._ask.stored_view())

    def stored_streams(self, proposal: Proposal) -> bool:
        """Whether the cut of the streams is on disk here, where they are on disks at all."""
        return not self._state.options.logged or self._ask.has_streams(proposal.streams)

    def stored(self, proposal: Proposal) -> bool:
        """Whether the cut is on disk here, as far as streams and the order are on disks at all."""
        return self.stored_streams(proposal) and self.log_end() >= proposal.order

    def lacks_commands(self, proposal: Proposal) -> bool:
        """Whether this voter has only its disk, and commands are all that is missing there.

        Of a view from disk that goes for those alone that vote without having been in the former
        one: who is named as one that has the state is the source for others.
        """
        state, name = self._state, self._state.me.name
        counts = state.options.logged and not state.live_in_basis and not state.record.rebuilding
        asked = proposal.view.absent if proposal.recovered else proposal.view.voters
        if not counts or proposal.left or name not in asked:
            return False
        return self.stored_streams(proposal) and self.log_end() < proposal.order

    def all_of(self, proposal: Proposal) -> bool:
        """Whether multicasts and streams of the cut are here."""
        has_multicasts = covers(self._ask.digest(), proposal.cut)
        return has_multicasts and self._ask.has_streams(proposal.streams)

    def enough(self, proposal: Proposal) -> bool:
        """Whether everything is here that this member can be asked to hold."""
        if self._state.live_in_basis and not proposal.recovered:
            return self.all_of(proposal) and self.synced(proposal)
        return self.stored(proposal)

    def synced(self, proposal: Proposal) -> bool:
        """Whether what may be saved is on the application's disk, where such disks count."""
        return not self._state.options.counts_disks or self.log_end() >= proposal.order
