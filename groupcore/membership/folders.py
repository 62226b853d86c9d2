"""Counts the generations of this node's folder, tells them, and keeps those of the others.

Idea. Where something has been stored since the last generation, the record gets the next one. It is
written behind what had been stored by then, by the same writer, so the folder that has it has all
of that. Then the others are told, who keep it in their records with their next one. Nothing waits
for any of this.

Source. Decision 0182.

Invariants.
  I1  A generation is told when it is on disk, and each is higher than the former ones.
  I2  Of a node that has begun a view in a new life nothing is known until that life tells: what
      its former lives had told says nothing of a folder that took another's state.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.effects import Effect
from groupcore.membership.generation import UNCOUNTED, Generation
from groupcore.membership.headers import Stored
from groupcore.membership.state import MembershipState, Questions
from groupcore.view import Address, View

TOLD_TIMES = 3
"""The last generation is told so often: a datagram may be lost."""


class Folders:
    """How far the folders of the members are, as they have said."""

    def __init__(self, state: MembershipState, ask: Questions) -> None:
        self.state = state
        self._ask = ask
        self._due_at = 0.0
        self._token = 0
        self._to_tell = 0
        self._counted: tuple[tuple[int, int], int] = ((0, 0), 0)

    def on_view(self, view: View) -> None:
        """A view begins; its members may be other lives than those that have told (I2)."""
        for member in view.members:
            known = self.state.heard.get(member.name)
            if known is not None and known.life != member.incarnation:
                del self.state.heard[member.name]

    def note(self, member: Address, number: int) -> None:
        """A member's folder has this generation."""
        view = self.state.view
        if view is None or member not in view.members or member == self.state.me:
            return
        told = Generation(member.name, member.incarnation, number)
        if self.state.heard.get(member.name, UNCOUNTED).is_before(told):
            self.state.heard[member.name] = told

    def tick(self, now: float) -> list[Effect]:
        """The next generation, if it is time and something has been stored."""
        state = self.state
        options, view = state.options, state.view
        if not options.counts_folders or view is None or now < self._due_at:
            return []
        if len(view.members) == 1 or self._token in state.after_persist:
            return []
        self._due_at = now + options.generation_s
        stored = (state.stored, self._ask.disk_mark())
        if stored != self._counted:
            self._counted, self._to_tell = stored, TOLD_TIMES - 1
            following = self._following()
            return self._keep(following, [state.send(None, Stored(following.number))])
        if state.heard_sorted != state.record.heard:
            return self._keep(state.record.generation, [])
        if self._to_tell > 0:
            self._to_tell -= 1
            return [state.send(None, Stored(state.record.generation.number))]
        return []

    def _following(self) -> Generation:
        """Each life counts from 1 (I1)."""
        former = self.state.record.of_life(self.state.me).generation
        return former._replace(number=former.number + 1)

    def _keep(self, generation: Generation, then: list[Effect]) -> list[Effect]:
        state = self.state
        self._token = state.next_token
        state.record = replace(state.record, generation=generation, heard=state.heard_sorted)
        return [state.persist(then)]
