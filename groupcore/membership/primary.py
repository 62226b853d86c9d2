"""Whether this member can take part in a decision: the primary view is lost, or here again."""

from __future__ import annotations

from groupcore.effects import Effect, Notify
from groupcore.events import PrimaryLost, PrimaryRegained
from groupcore.membership.state import MembershipState
from groupcore.view import Address


class PrimaryWatch:
    """Tells the application when no quorum can be reached, and when it can again."""

    def __init__(self, state: MembershipState) -> None:
        self.state = state
        self.quorum_at = 0.0
        self.is_primary = True

    def watch(self, reachable: tuple[Address, ...], now: float) -> list[Effect]:
        """Look at who is reachable; a view change that does not end counts as lost, too."""
        view = self.state.view
        assert view is not None
        if view.is_quorum(member.name for member in reachable) and not self.state.blocked:
            self.quorum_at = now
        lost = now - self.quorum_at > self.state.options.primary_lost_s
        if lost and self.is_primary:
            self.is_primary = False
            return [Notify(PrimaryLost())]
        if not lost and not self.is_primary:
            self.is_primary = True
            return [Notify(PrimaryRegained())]
        return []

    def on_view(self, now: float) -> list[Effect]:
        """A view has been installed: a quorum has decided it."""
        self.quorum_at = now
        if self.is_primary:
            return []
        self.is_primary = True
        return [Notify(PrimaryRegained())]
