"""How long senders wait until their own message comes back, out of counts: measured, and expected.

What a run takes depends on whether its sender's node sequences the group itself (it is *near*) or
another does. So the time of each node's runs, near and far, is what was measured; another placement
changes how many of them are near. Where a node has never sent near, or never far, the other nodes'
times stand in for its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import exp2
from typing import NamedTuple

from pipeline.transforms.load import BUCKETS

Counts = Mapping[int, float]
"""Runs by bucket of `transforms.load.rounds`."""


class Wait(NamedTuple):
    """Percentiles over runs, in us. `near`: the share of runs that their own node sequences."""

    p50_us: float
    p95_us: float
    near: float


class Rounds:
    """The counted runs of some windows."""

    def __init__(self, rows: Iterable[tuple[str, bool, int, int]]) -> None:
        """`rows`: the sender's node, near or not, the bucket, and how many runs."""
        self._counts: dict[tuple[str, bool], Counter[int]] = {}
        for node, near, bucket, runs in rows:
            self._counts.setdefault((node, near), Counter())[bucket] += runs

    def measured(self) -> Wait | None:
        """As it was; None where nothing was timed."""
        return self._wait(dict.fromkeys(self._counts, 1.0))

    def expected(self, near: Mapping[str, float]) -> Wait | None:
        """As it would be if of each node's runs this share were near.

        None where nothing tells it: no run was timed, or none of a kind that would be there.
        """
        sent: Counter[str] = Counter()
        for (node, _), counts in self._counts.items():
            sent[node] += counts.total()
        weights: dict[tuple[str, bool], float] = {}
        for node, runs in sent.items():
            for is_near, share in ((True, near.get(node, 0.0)), (False, 1 - near.get(node, 0.0))):
                if share <= 0:
                    continue
                alike = self._alike(node, is_near)
                there = sum(self._counts[key].total() for key in alike)
                if not there:
                    return None
                for key in alike:
                    weights[key] = weights.get(key, 0.0) + runs * share / there
        return self._wait(weights)

    def _alike(self, node: str, near: bool) -> list[tuple[str, bool]]:
        """Whose times stand for those of a node: its own, or else everybody's."""
        if (node, near) in self._counts:
            return [(node, near)]
        return [key for key in self._counts if key[1] is near]

    def _wait(self, weights: Mapping[tuple[str, bool], float]) -> Wait | None:
        mixed: dict[int, float] = {}
        near = 0.0
        for key, weight in weights.items():
            for bucket, runs in self._counts[key].items():
                mixed[bucket] = mixed.get(bucket, 0.0) + weight * runs
                near += weight * runs if key[1] else 0.0
        total = sum(mixed.values())
        if not total:
            return None
        return Wait(percentile(mixed, 0.5), percentile(mixed, 0.95), round(near / total, 3))


def percentile(counts: Counts, share: float) -> float:
    """The time (us) that this share of runs stays below; within a bucket it grows evenly."""
    wanted = share * sum(counts.values())
    for bucket in sorted(counts):
        if counts[bucket] >= wanted > 0:
            return round(exp2((bucket + wanted / counts[bucket]) / BUCKETS), 1)
        wanted -= counts[bucket]
    return round(exp2((max(counts, default=0) + 1) / BUCKETS), 1)
