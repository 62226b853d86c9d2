"""What a gateway has done so far, as plain numbers for whoever publishes them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

BOUNDS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(slots=True)
class Histogram:
    """How often a time was up to each of `bounds_s`; the last of `counts` is of those above all."""

    bounds_s: tuple[float, ...] = BOUNDS_S
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    sum_s: float = 0.0

    def observe(self, time_s: float) -> None:
        """One more."""
        self.counts[bisect_left(self.bounds_s, time_s)] += 1
        self.sum_s += time_s


@dataclass(slots=True)
class Figures:
    """Since the gateway began.

    `sessions` and `connections` are those of now; `refused` counts by code of `error`, and of HTTP
    refusals; `cut` by close code; `fell_behind`: connections that became congested; `latency`: from
    a call to its answer.
    """

    sessions: int = 0
    connections: int = 0
    frames_in: int = 0
    messages_in: int = 0
    frames_out: int = 0
    calls: int = 0
    fell_behind: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    cut: Counter[int] = field(default_factory=Counter)
    latency: Histogram = field(default_factory=Histogram)
