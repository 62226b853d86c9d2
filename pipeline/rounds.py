"""How long senders wait until their own message comes back, out of counts: measured, and expected.

A round is one's message on the way to its sequencer, what it waits there until it has its number,
and its frame on the way until a quorum of the nodes is known to hold it. Where the sender's node
sequences the group itself (the run is *near*), the first way is none, and the last begins and ends
there. With up to four nodes both take two hops: whoever is given a frame is the second one that
holds it. From five on a far run takes three, as it takes a third node to tell of itself, and a near
one two. So near and far runs are counted apart, and what they took is what they will take. A
sender's node stands for itself: where it has shown no such runs, by its others, shorter or longer
as near runs were than far ones in the same windows. (Hops take as long as each other only where
nobody waits for a processor. Where everybody does, a near run, which waits for both of two nodes,
may take as long as a far one, for which either of two will do.) Where too few runs of one kind were
timed, it is as many hops more or less.

What a run waits at its sequencer depends on how busy that is. Of the time of each run this part is
known (its frame says it), and another sequencer, or another load, changes it as in a queue with one
server: by u / (1 - u), where u is the share of time that the node's process computes. That is its
own measurement; a plan changes it by the load that it moves.

Source. The mean wait of M/G/1 (Pollaczek and Khinchine): with the same distribution of service it
grows as u / (1 - u).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import exp2, floor, log2
from typing import Final, NamedTuple

from pipeline.transforms.load import BUCKETS

Counts = Mapping[int, float]
"""Runs by bucket of `transforms.load.rounds`."""
Routes = Mapping[str, Mapping[str, float]]
"""Of each sender's node the share of its runs that each node sequences."""
USED_LEAST: Final = 0.01
"""A process that computes less is as one that computes so much: its waits are not its own."""
USED_MOST: Final = 0.95
"""Beyond this waits grow without end, and say nothing any more."""


class Wait(NamedTuple):
    """Percentiles over runs, in us. `near`: the share of runs that their own node sequences."""

    p50_us: float
    p95_us: float
    near: float


class Pair(NamedTuple):
    """Who sends and who sequences; `sequencer` is empty where tables do not tell."""

    node: str
    sequencer: str
    near: bool


class Timed(NamedTuple):
    """Runs of a pair: their times' bucket, and that of what they waited for their numbers."""

    pair: Pair
    bucket: int
    queue: int | None
    runs: int


class Use(NamedTuple):
    """Of each node the share of time that its process computes: as it was, and as it would be."""

    before: Mapping[str, float]
    after: Mapping[str, float]

    def growth(self, former: str, other: str) -> float:
        """By what the wait at one node is multiplied where another one, or it itself, has it."""
        was, will = self.before.get(former), self.after.get(other)
        return 1.0 if was is None or will is None else _queue(will) / _queue(was)


UNKNOWN_USE: Final = Use({}, {})
RUNS_LEAST: Final = 100
"""So many near runs and far ones say what they take in proportion; the median of fewer does not."""
HOPS_ALIKE: Final = 4
"""Up to so many nodes near and far runs take as many hops (`tests/bench/test_hops.py`)."""


def hops(nodes: int, near: bool) -> int:
    """Ways from node to node that a round consists of."""
    return 2 if near or nodes <= HOPS_ALIKE else 3


class Rounds:
    """The counted runs of some windows."""

    def __init__(self, rows: Iterable[Timed]) -> None:
        self._runs: dict[Pair, Counter[tuple[int, int | None]]] = {}
        for pair, bucket, queue, runs in rows:
            self._runs.setdefault(pair, Counter())[bucket, queue] += runs

    def measured(self, node: str | None = None) -> Wait | None:
        """As it was, for everybody or at one sender's node; None where nothing was timed."""
        mixed: Counter[int] = Counter()
        near = 0.0
        for pair, counted in self._runs.items():
            if node not in (None, pair.node):
                continue
            for (bucket, _), runs in counted.items():
                mixed[bucket] += runs
            near += counted.total() if pair.near else 0.0
        return _wait(mixed, near)

    @property
    def nodes(self) -> list[str]:
        """Whose runs were timed."""
        return sorted({pair.node for pair in self._runs})

    def expected(self, routes: Routes, use: Use = UNKNOWN_USE, nodes: int = 3) -> Wait | None:
        """As it would be in a cluster of so many nodes if the runs took these routes.

        None where nothing tells it: no run was timed.
        """
        sent: Counter[str] = Counter()
        for pair, counted in self._runs.items():
            sent[pair.node] += counted.total()
        mixed: dict[int, float] = {}
        near = 0.0
        nearer = self.nearer(nodes)
        for node, total in sent.items():
            for sequencer, share in routes.get(node, {}).items():
                alike = self._alike(node, sequencer)
                there = sum(self._runs[pair].total() for pair in alike)
                for pair in alike:
                    growth = use.growth(pair.sequencer, sequencer)
                    stretch = nearer ** ((node == sequencer) - pair.near)
                    for (bucket, queue), runs in self._runs[pair].items():
                        place = _changed(bucket, queue, growth, stretch)
                        mixed[place] = mixed.get(place, 0.0) + total * share * runs / there
                near += total * share if node == sequencer else 0.0
        return _wait(mixed, near)

    def nearer(self, nodes: int) -> float:
        """What a near run takes in proportion to a far one, besides waiting for its number.

        At most as much: it has no hop more, so where near runs took longer, their node is busier.
        """
        ways: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
        for pair, counted in self._runs.items():
            for (bucket, queue), runs in counted.items():
                ways[pair.near][_changed(bucket, queue, 0.0, 1.0)] += runs
        if min(kind.total() for kind in ways.values()) < RUNS_LEAST:
            return hops(nodes, near=True) / hops(nodes, near=False)
        return min(1.0, percentile(ways[True], 0.5) / percentile(ways[False], 0.5))

    def _alike(self, node: str, sequencer: str) -> list[Pair]:
        """Whose times stand for a pair's: its own, its node's that are alike, or its node's."""
        of_node = [pair for pair in self._runs if pair.node == node]
        own = [pair for pair in of_node if pair.sequencer == sequencer]
        return own or [pair for pair in of_node if pair.near is (node == sequencer)] or of_node


def percentile(counts: Counts, share: float) -> float:
    """The time (us) that this share of runs stays below; within a bucket it grows evenly."""
    wanted = share * sum(counts.values())
    for bucket in sorted(counts):
        if counts[bucket] >= wanted > 0:
            return round(exp2((bucket + wanted / counts[bucket]) / BUCKETS), 1)
        wanted -= counts[bucket]
    return round(exp2((max(counts, default=0) + 1) / BUCKETS), 1)


def _wait(counts: Counts, near: float) -> Wait | None:
    total = sum(counts.values())
    if not total:
        return None
    return Wait(percentile(counts, 0.5), percentile(counts, 0.95), round(near / total, 3))


def _queue(used: float) -> float:
    """What a wait is in proportion to."""
    bounded = min(max(used, USED_LEAST), USED_MOST)
    return bounded / (1 - bounded)


def _changed(bucket: int, queue: int | None, growth: float, stretch: float) -> int:
    """The bucket of a time whose part that was waited grows, and whose hops are others."""
    if growth == stretch == 1.0:
        return bucket
    whole = exp2((bucket + 0.5) / BUCKETS)
    waited = 0.0 if queue is None else min(exp2((queue + 0.5) / BUCKETS), whole)
    changed = (whole - waited) * stretch + waited * growth
    return floor(log2(max(changed, 1.0)) * BUCKETS)
