"""Giving a new node the directory and the records, as they are when nothing is in between.

They are packed some groups a turn (`node_packing`). With a log they are given when the log holds
them: who comes after the new node from disk takes nothing that is before, so this node's disk must
not be behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from groupcore.sequencing.headers import Reach
from groupcore.sequencing.node_packing import Packing
from groupcore.sequencing.node_state import Place
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.states import Copy, States


class Giving:
    """The node states that others have asked for; `place` is that of the directory now."""

    def __init__(self, plane: Plane, states: States, place: Callable[[], Place]) -> None:
        self._plane = plane
        self._states = states
        self._place = place
        self._packing: Packing | None = None
        self._tokens: dict[int, None] = {}
        self._packed: deque[tuple[int, int, bytes]] = deque()

    def copy(self, token: int, bases: tuple[Reach, ...]) -> Copy:
        """Copy the node's state for a new one; later while a stream is not that far here."""
        plane = self._plane
        if not plane.ready:
            return Copy.NONE
        for base in bases:
            stream = plane.streams.get(base.stream)
            if stream is not None and stream.recorded < base.received:
                return Copy.LATER
        self._tokens[token] = None
        return Copy.BEGUN

    def end_turn(self) -> None:
        """Do some more of what is under way, and give what can be given now."""
        log = self._plane.log
        if self._tokens and self._packing is None:
            self._packing = Packing(self._plane)
        state = None if self._packing is None else self._packing.step(self._place())
        if state is not None:
            self._packing = None
            tokens, self._tokens = self._tokens, {}
            mark = 0 if log is None else log.next_mark
            self._packed.extend((mark, token, state) for token in tokens)
        while self._packed and (log is None or self._packed[0][0] <= log.stored_mark):
            _, token, state = self._packed.popleft()
            self._states.give(token, state)

    def next_wake(self) -> float | None:
        """At once, while there is something to pack."""
        return None if self._packing is None or self._packing.waits else 0.0
