"""Learners: members without a vote, which ask for one when they have stored the state.

Idea. A member that has joined without the state takes part in everything, but what follows the view
is decided without it (`seats`): it could neither bear out what was confirmed nor be missed. When it
has the state on disk it says so, and the next view counts it among the voters. It repeats that
until then: what it has said is forgotten with each view.
"""

from __future__ import annotations

from groupcore.effects import Effect
from groupcore.membership.headers import Learned
from groupcore.membership.state import MembershipState
from groupcore.view import Address, View


class Learners:
    """Which learners of the view have the state, this member among them."""

    def __init__(self, state: MembershipState) -> None:
        self.state = state
        self.ready: set[Address] = set()

    def on_view(self, view: View) -> None:
        """Who is still a learner says so again."""
        self.ready.clear()

    def note(self, member: Address, number: int) -> bool:
        """A learner of this view has the state; whether that is news."""
        view = self.state.view
        if view is None or number != view.number or member not in view.learners:
            return False
        known = member in self.ready
        self.ready.add(member)
        return not known

    def tell(self) -> list[Effect]:
        """Say it, if it is so here and on disk."""
        state = self.state
        view = state.view
        if view is None or state.me not in view.learners:
            return []
        if state.record.rebuilding or state.is_storing:
            return []
        return [state.send(None, Learned(view.number))]
