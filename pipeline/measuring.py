"""How load was divided and how long senders waited, in the windows that there were.

The figures are those that `planning` expects of a placement, so what a plan has brought is held
against what it said by one and the same measure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from pipeline.rounds import Pair, Rounds, Timed, Wait, percentile
from pipeline.transforms import owners

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pipeline.loading import Loads


class Window(NamedTuple):
    """The load of the fullest node and the mean of all; us a second."""

    start: datetime
    fullest_us: float
    mean_us: float


@dataclass(frozen=True)
class Replay:
    """The windows under a placement: the fullest node's load over the mean, and its load.

    `imbalance`: median over the windows; `fullest_us`: 95th percentile, us a second.
    """

    windows: int
    imbalance: float
    fullest_us: float


@dataclass(frozen=True)
class Measured:
    """`all`: the windows together. `waits`: of each window the runs that were timed in it, and the
    median of their times. `at_nodes`: the median of those of each sender's node, us. `lengths`: of
    each window, s; days may have been computed in windows of different ones. None: not known.
    """

    windows: list[Window]
    all: Replay
    wait: Wait | None
    waits: dict[datetime, tuple[int, float]]
    at_nodes: dict[str, float]
    lengths: dict[datetime, int | None]

    def shown(self) -> dict[str, object]:
        """As the console reads it: a row a window, times in seconds since 1970. `window_s` of all
        is null where they are of several lengths. Imbalances are not rounded: the console's medians
        of them are to be those that `over` has.
        """
        rows = []
        for one in self.windows:
            runs, latency_us = self.waits.get(one.start, (0, None))
            row = {
                "at_s": one.start.timestamp(),
                "window_s": self.lengths.get(one.start),
                "imbalance": one.fullest_us / one.mean_us if one.mean_us else 1.0,
                "fullest_us": round(one.fullest_us, 1),
                "runs": runs,
                "latency_us": latency_us,
            }
            rows.append(row)
        lengths = {self.lengths.get(one.start) for one in self.windows}
        window_s = lengths.pop() if len(lengths) == 1 else None
        return {"load": 1, "window_s": window_s, "windows": rows}


def measure(loads: Loads, nodes: int) -> Measured:
    """The windows as they were; `nodes`: how many have shared the load."""
    windows = collected(owners.carried(loads.groups, nodes))
    rows = (
        loads.rounds.groupBy("w_start", "node", "near", "bucket")
        .agg(F.sum("runs").alias("runs"))
        .collect()
    )
    rounds = Rounds(
        Timed(Pair(row["node"], "", row["near"]), row["bucket"], None, row["runs"]) for row in rows
    )
    counts: dict[datetime, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        counts[row["w_start"]][row["bucket"]] += row["runs"]
    waits = {at: (int(sum(one.values())), percentile(one, 0.5)) for at, one in counts.items()}
    at_nodes = {node: wait.p50_us for node in rounds.nodes if (wait := rounds.measured(node))}
    spans = loads.groups.groupBy("w_start").agg(F.max("window_s").alias("window_s")).collect()
    lengths = {row["w_start"]: row["window_s"] for row in spans}
    return Measured(windows, over(windows), rounds.measured(), waits, at_nodes, lengths)


def collected(windows: DataFrame) -> list[Window]:
    """Rows as of `owners.carried` and `owners.replayed`, in the order of time."""
    rows = windows.select("w_start", "fullest", "mean").collect()
    return sorted(Window(row["w_start"], row["fullest"], row["mean"]) for row in rows)


def over(windows: Iterable[Window]) -> Replay:
    """Windows together."""
    some = list(windows)
    shares = [one.fullest_us / one.mean_us for one in some if one.mean_us]
    if not shares:
        return Replay(0, 1.0, 0.0)
    fullest = _at_95([one.fullest_us for one in some])
    return Replay(len(some), round(median(shares), 3), round(fullest, 1))


def _at_95(values: Sequence[float]) -> float:
    """The 95th percentile, between two values in proportion."""
    ranked = sorted(values)
    place = 0.95 * (len(ranked) - 1)
    low = int(place)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (place - low) * (ranked[high] - ranked[low])
