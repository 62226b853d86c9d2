"""Lets so many through in one turn of the loop; whoever comes after them waits for the next.

What a page opens at once, or all pages that come from a node that has died, is a lot of work. Cut
into turns, it leaves room for what people type meanwhile.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Turnstile:
    """`await enter()` returns for `per_turn` in each turn, in the order in which they came."""

    def __init__(self, per_turn: int) -> None:
        self._per_turn = per_turn
        self._left = per_turn
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_scheduled = False

    async def enter(self) -> None:
        """Wait for a place."""
        if self._left and not self._waiting:
            self._left -= 1
            self._schedule()
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        await place

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """The next turn has begun."""
        self._is_scheduled = False
        self._left = self._per_turn
        while self._waiting and self._left:
            place = self._waiting.popleft()
            if not place.done():  # who waited has been cancelled
                place.set_result(None)
                self._left -= 1
        if self._left < self._per_turn:
            self._schedule()
