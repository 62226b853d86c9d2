"""The order's time: what the senders' clocks make of it, always forward.

Each message carries its sender's estimate; the order's time at a message is the greatest so far.
A replica that sees the order's time ahead of its own clock moves its estimate by that much. So
all estimates follow the fastest clock, and go on at their own steady rate while nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable

MAX_MS = 1 << 53
"""No stamp is above this, so that a time in seconds is exact to the millisecond."""


class OrderClock:
    """One replica's estimate of the order's time, in milliseconds since 1970."""

    __slots__ = ("_now_s", "_offset_ms")

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._offset_ms = 0

    def now_ms(self) -> int:
        """What the order's time would be for a message that is sent now."""
        return max(0, min(int(self._now_s() * 1000) + self._offset_ms, MAX_MS))

    def saw(self, time_ms: int) -> None:
        """The order's time has come to this."""
        ahead_ms = time_ms - self.now_ms()
        if ahead_ms > 0:
            self._offset_ms += ahead_ms
