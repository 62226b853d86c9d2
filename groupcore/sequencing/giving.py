"""Giving a new node the directory and the records, as they are when nothing is in between.

With a log they are given when the log holds them: who comes after the new node from disk takes
nothing that is before, so this node's disk must not be behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from groupcore.sequencing.headers import Reach
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.states import Copy, States


class Giving:
    """The node states that others have asked for; `pack` makes one."""

    def __init__(self, plane: Plane, states: States, pack: Callable[[], bytes]) -> None:
        self._plane = plane
        self._states = states
        self._pack = pack
        self._tokens: dict[int, None] = {}
        self._packed: deque[tuple[int, int, bytes]] = deque()

    def copy(self, token: int, bases: tuple[Reach, ...]) -> Copy:
        """Copy the node's state for a new one; later while a stream is not that far here."""
        plane = self._plane
        if not plane.ready:
            return Copy.NONE
        if plane.early:
            return Copy.LATER
        for base in bases:
            stream = plane.streams.get(base.stream)
            if stream is not None and stream.recorded < base.received:
                return Copy.LATER
        self._tokens[token] = None
        return Copy.BEGUN

    def end_turn(self) -> None:
        """Give what can be given now."""
        log = self._plane.log
        if self._tokens and not self._plane.early:
            tokens, self._tokens = self._tokens, {}
            mark = 0 if log is None else log.next_mark
            for token in tokens:
                self._packed.append((mark, token, self._pack()))
        while self._packed and (log is None or self._packed[0][0] <= log.stored_mark):
            _, token, state = self._packed.popleft()
            self._states.give(token, state)
