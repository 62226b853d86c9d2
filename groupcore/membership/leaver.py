"""The leaver's role: a member that wants to go asks until a view comes without it.

It does not wait for ever. A leaver that was a quorum by itself and has proposed a view of the
others only cannot tell whether they have decided it; if they have died, no answer comes. After
`leave_s` it goes all the same. To the others that is a crash, which a view change allows for.
"""

from __future__ import annotations

from groupcore.effects import Effect, Notify, StartTimer
from groupcore.events import Left
from groupcore.membership.headers import Dissolved, LeaveRequest
from groupcore.membership.state import MembershipState
from groupcore.view import Address, View

DISSOLVED_TIMES = 3
"""How often it is told that all go; who hears none of it asks on and leaves by a view."""


class Leaver:
    """Who wants to leave the view, this member included."""

    def __init__(self, state: MembershipState) -> None:
        self.state = state
        self.leaving: dict[Address, None] = {}
        self.asked_at: float | None = None

    def note(self, member: Address) -> None:
        """A member has asked to leave; strangers do not count."""
        if self.state.view is not None and member in self.state.view.members:
            self.leaving[member] = None

    def on_view(self, view: View) -> None:
        """Who is not in this view has left."""
        self.leaving = {member: None for member in self.leaving if member in view.members}

    def begin(self) -> list[Effect]:
        """The application wants to go; the ordering layer says when nothing is in flight."""
        self.state.leaving = True
        if self.state.view is None:
            return self.go()
        return [] if self.state.options.drains else [StartTimer("leave", 0)]

    def ask(self, now: float) -> list[Effect]:
        """Ask the coordinator, again and again, until a view comes without this member."""
        view = self.state.view
        assert view is not None
        if self.asked_at is None:
            self.asked_at = now
        if len(view.members) == 1 or now - self.asked_at >= self.state.options.leave_s:
            return self.go()
        self.leaving[self.state.me] = None
        self.state.asks_out = True
        asked = self.state.send(None, LeaveRequest())
        return [asked, StartTimer("leave", self.state.options.tick_s)]

    def dissolve(self) -> list[Effect]:
        """Everybody leaves: nobody needs another view, and this one stays the last on disk."""
        told = [self.state.send(None, Dissolved()) for _ in range(DISSOLVED_TIMES)]
        return [*told, *self.go()]

    def on_dissolved(self) -> list[Effect]:
        """Everybody has asked to leave: go."""
        return self.go() if self.state.leaving else []

    def go(self) -> list[Effect]:
        """This life has ended as it should."""
        self.state.gone = True
        return [Notify(Left())]
