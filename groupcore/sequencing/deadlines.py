"""Times by key, of which the next one is known without looking at all of them."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

SLACK = 64
"""So many times that count no more may lie around before they are thrown out."""


class Deadlines(Generic[K]):
    """One time for each key; who has several things under way asks for those that are due."""

    __slots__ = ("_current", "_heap", "_turn")

    def __init__(self) -> None:
        self._current: dict[K, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._turn = 0

    def __len__(self) -> int:
        return len(self._current)

    def __contains__(self, key: K) -> bool:
        return key in self._current

    def set(self, key: K, at: float) -> None:
        """This is the key's time now, whatever it was before."""
        self._turn += 1
        self._current[key] = (at, self._turn)
        heappush(self._heap, (at, self._turn, key))
        if len(self._heap) > 2 * len(self._current) + SLACK:
            self._heap = [(at, turn, one) for one, (at, turn) in self._current.items()]
            heapify(self._heap)

    def drop(self, key: K) -> None:
        """The key has no time any more."""
        self._current.pop(key, None)

    def next(self) -> float | None:
        """The earliest time; None when there is none."""
        while self._heap:
            at, turn, key = self._heap[0]
            if self._current.get(key) == (at, turn):
                return at
            heappop(self._heap)
        return None

    def take_due(self, now: float) -> list[K]:
        """The keys whose time has come, the earliest first; they have none any more."""
        due: list[K] = []
        while (at := self.next()) is not None and at <= now:
            key = heappop(self._heap)[2]
            del self._current[key]
            due.append(key)
        return due
