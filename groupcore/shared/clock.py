"""The order's time: what the senders' clocks make of it, always forward.

Each message carries its sender's estimate; the order's time at a message is the greatest so far.
The first message's is what its sender's clock shows. Everybody else takes the order's time over,
whatever their own clock shows, lets it go on at the clock's steady rate, and moves it forward when
a message is ahead. So clocks that are set wrongly do no harm, and only a fast one puts time ahead.
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
        self._offset_ms: int | None = None

    def now_ms(self) -> int:
        """What the order's time would be for a message that is sent now."""
        return max(0, min(int(self._now_s() * 1000) + (self._offset_ms or 0), MAX_MS))

    def saw(self, time_ms: int) -> None:
        """The order's time has come to this; 0: it has not begun."""
        if time_ms:
            offset_ms = time_ms - int(self._now_s() * 1000)
            if self._offset_ms is None or offset_ms > self._offset_ms:
                self._offset_ms = offset_ms
