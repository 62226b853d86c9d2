"""Virtual time: one heap of events in integer nanoseconds, and the clocks that nodes read.

Events of equal time run in an order drawn from the seed, so that no protocol can come to rely on
one. A node's own clock has an offset and a drift, so that comparing two nodes' times goes wrong
here as it would in the world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

MICROSECOND = 1_000
MILLISECOND = 1_000_000
SECOND = 1_000_000_000


class Clock:
    """The world's time in nanoseconds since the schedule began, and what is to happen when."""

    def __init__(self, ties: Random) -> None:
        self.now_ns = 0
        self.events = 0
        self._tie = ties.random
        self._heap: list[tuple[int, float, int, Callable[..., None], tuple[object, ...]]] = []

    def at(self, time_ns: int, action: Callable[..., None], *arguments: object) -> None:
        """Call `action(*arguments)` at that time; a time that has passed means now."""
        self.events += 1
        moment = time_ns if time_ns > self.now_ns else self.now_ns
        # The running number only decides between equal draws; actions are never compared.
        heappush(self._heap, (moment, self._tie(), self.events, action, arguments))

    def after(self, delay_ns: int, action: Callable[..., None], *arguments: object) -> None:
        """Call `action(*arguments)` in that many nanoseconds."""
        self.events += 1
        moment = self.now_ns + delay_ns if delay_ns > 0 else self.now_ns
        heappush(self._heap, (moment, self._tie(), self.events, action, arguments))

    def run_until(self, end_ns: int) -> None:
        """Let everything happen that is due up to and including `end_ns`."""
        heap = self._heap
        while heap and heap[0][0] <= end_ns:
            self.now_ns, _, _, action, arguments = heappop(heap)
            action(*arguments)
        self.now_ns = end_ns


@dataclass(frozen=True, slots=True)
class LocalClock:
    """What one node takes for the time: `offset_s` ahead, and `rate` times as fast."""

    offset_s: float = 0.0
    rate: float = 1.0

    def seconds(self, time_ns: int) -> float:
        """The node's monotonic seconds at that moment of the world."""
        return self.offset_s + time_ns * self.rate / SECOND

    def moment(self, seconds: float) -> int:
        """The first whole nanosecond of the world at which the node's clock has passed that."""
        return int((seconds - self.offset_s) / self.rate * SECOND) + 1


class WallClock:
    """What one node takes for the date. Only incarnations come from it; it may be set wrongly.

    `ahead_s`: seconds by which it has been set forward in all, or (negative) back.
    """

    STRIDE = 100
    """Its units between two lives."""
    LIFE_S = 60.0
    """Seconds that a life's worth of units stands for."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        self._read = 0
        self._offset = 0

    def read(self) -> int:
        """The date at the beginning of a life; later at every one, unless it was set."""
        self._read += 1
        return self._read * self.STRIDE + self._offset

    def step(self, lives: int) -> None:
        """Let it jump by this many lives' worth, forward or (negative) back."""
        self.ahead_s += lives * self.LIFE_S
        # Not a multiple of the stride: no two lives may have one number.
        self._offset += lives * self.STRIDE + self.STRIDE // 2
