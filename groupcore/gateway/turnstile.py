"""Lets so many through in one turn of the loop; whoever comes after them waits for the next.

What a page opens at once, or all pages that come from a node that has died, is a lot of work. Cut
into turns, it leaves room for what people type meanwhile.
"""

from __future__ import annotations

from collections import deque

from groupcore.shared.pending import Pending
from groupcore.shared.runtime import Runtime


class Turnstile:
    """`await enter()` returns for `per_turn` in each turn, in the order in which they came."""

    def __init__(self, runtime: Runtime, per_turn: int) -> None:
        self._runtime = runtime
        self._per_turn = per_turn
        self._left = per_turn
        self._waiting: deque[Pending[None]] = deque()
        self._is_scheduled = False

    async def enter(self) -> None:
        """Wait for a place."""
        if self._left and not self._waiting:
            self._left -= 1
            self._schedule()
            return
        place: Pending[None] = Pending(self._runtime.wait)
        self._waiting.append(place)
        try:
            await place
        except BaseException:  # who waited has been cancelled
            if not place.done:
                self._waiting.remove(place)
            raise

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._runtime.soon(self._turn)

    def _turn(self) -> None:
        """The next turn has begun."""
        self._is_scheduled = False
        self._left = self._per_turn
        while self._waiting and self._left:
            self._left -= 1
            self._waiting.popleft().resolve(None)
        if self._left < self._per_turn:
            self._schedule()
