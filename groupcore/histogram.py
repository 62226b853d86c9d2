"""How often something was how large: counts of buckets, for whoever publishes them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

TIMES_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Bounds for times that people wait; s."""
SHORT_S = (0.0001, 0.0002, 0.0005, *TIMES_S)
"""Bounds for times that machines wait for each other; s."""


class Histogram:
    """How often a value was up to each of `bounds`; the last of `counts` is of those above all."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...] = TIMES_S) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """One more."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """Each bound, the last one infinite, with how many were up to it."""
        total = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            total += count
            yield bound, total
