"""How much a node has done in each of the last seconds, for charts that move."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

SAMPLE_S = 1.0
KEPT = 600
"""Ten minutes."""


class Totals(NamedTuple):
    """What a node counts, since it began; `waited_s` only since it was read before."""

    messages: int
    size_bytes: int
    waited_s: float
    cpu_s: float
    calls: int
    sessions: int


class Sample(NamedTuple):
    """One second, which ended at `at_ms` of Unix time.

    `messages` and `size_bytes` were numbered a second, `wait_ms` is the longest that a request has
    waited for its number, `cpu` the share of one processor in percent, `calls` those of pages a
    second, `sessions` how many there were.
    """

    at_ms: int
    messages: float
    size_bytes: float
    wait_ms: float
    cpu: float
    calls: float
    sessions: int


class Series:
    """The last samples; `read` gives the totals, `clock_s` and `wall_s` the times."""

    def __init__(
        self,
        read: Callable[[], Totals],
        clock_s: Callable[[], float] = time.monotonic,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self.samples: deque[Sample] = deque(maxlen=KEPT)
        self._read = read
        self._clock_s = clock_s
        self._wall_s = wall_s
        self._before = read()
        self._before_s = clock_s()

    def take(self) -> None:
        """One more sample, of the time since the last one."""
        now, now_s = self._read(), self._clock_s()
        before, seconds = self._before, max(now_s - self._before_s, 1e-3)
        self._before, self._before_s = now, now_s
        self.samples.append(
            Sample(
                round(self._wall_s() * 1000),
                round(max(0, now.messages - before.messages) / seconds, 1),
                round(max(0, now.size_bytes - before.size_bytes) / seconds, 1),
                round(now.waited_s * 1000, 2),
                round(100 * (now.cpu_s - before.cpu_s) / seconds, 1),
                round((now.calls - before.calls) / seconds, 1),
                now.sessions,
            )
        )

    def since(self, at_ms: int) -> list[Sample]:
        """Those that ended later."""
        return [one for one in self.samples if one.at_ms > at_ms]

    def mean(self, name: str, seconds: int) -> float:
        """The mean of a field over the last so many samples; 0.0 without any."""
        last = list(self.samples)[-seconds:]
        return sum(getattr(one, name) for one in last) / len(last) if last else 0.0

    def longest_wait_ms(self, seconds: int) -> float:
        """Of the last so many samples; 0.0 without any."""
        return max((one.wait_ms for one in list(self.samples)[-seconds:]), default=0.0)

    async def run(self) -> None:
        """Take one each second, until it is cancelled."""
        while True:
            await asyncio.sleep(SAMPLE_S)
            self.take()
