"""A placement plan out of a store: units from the overlap, loads from the last windows, then both
placements replayed over these windows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pipeline.errors import PipelineError
from pipeline.loading import newest_days
from pipeline.overlap import find_overlap
from pipeline.placement import Bounds, Placement, Unit, place
from pipeline.schemas import raw
from pipeline.transforms import load, owners

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.store import Snapshot, Store

LOCALITY_SHARE = 0.6
"""A group is near the node that sends at least so much of it, as the directory has it."""


@dataclass(frozen=True)
class Replay:
    """The windows under a placement: the fullest node's load over the mean, and its load.

    `imbalance`: median over the windows; `fullest_us`: 95th percentile, us a second.
    """

    windows: int
    imbalance: float
    fullest_us: float


@dataclass(frozen=True)
class Planned:
    """The placement that is proposed, and both of them over the windows that there were."""

    placement: Placement
    before: Replay
    after: Replay


def plan(
    spark: SparkSession,
    store: Store,
    snapshot: Snapshot,
    bounds: Bounds,
    *,
    nodes: Iterable[str] = (),
    observers_max: int = 64,
    days: int = 7,
) -> Planned:
    """Propose a placement on `nodes`, or on those of the newest primary view, for the load of the
    last so many days that `loading.load_days` has written.

    Raises PipelineError `no_nodes`, `no_groups`.
    """

    def table(kind: str) -> DataFrame:
        return store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0))

    names = set(nodes) or {r["node"] for r in owners.present_nodes(table("view")).collect()}
    if not names:
        raise PipelineError("no_nodes", "The trace has no primary view.", "Give --nodes.")
    membership, groups = table("membership"), table("group")
    at = {row["gid"]: row["node"] for row in owners.owners(groups).collect()}
    if not at:
        raise PipelineError("no_groups", "The trace has no group.", "Take more of it in.")
    loads, sent = newest_days(spark, store, snapshot, days)
    loads = loads.cache()
    peaks = {row["gid"]: row["load_us"] for row in load.group_peaks(loads).collect()}
    senders = {r["gid"]: r["sender"] for r in load.main_senders(sent, LOCALITY_SHARE).collect()}
    found = find_overlap(membership, groups, observers_max)
    component = {row["gid"]: row["component"] for row in found.components.collect()}
    placement = place(make_units(at, peaks, component, senders), names, bounds)
    after = dict(at)
    for move in placement.moves:
        after |= dict.fromkeys(move.groups, move.target)
    return Planned(
        placement,
        replay(loads, at, len(names)),
        replay(loads, after, len(names - bounds.draining) or 1),
    )


def make_units(
    at: Mapping[int, str],
    peaks: Mapping[int, float],
    component: Mapping[int, int],
    senders: Mapping[int, str],
) -> list[Unit]:
    """Units of the groups in `at`. A unit's sender is the one that sends most of its load."""
    whole: dict[int, list[int]] = defaultdict(list)
    for gid in at:
        whole[component.get(gid, gid)].append(gid)
    units = []
    for name, gids in sorted(whole.items()):
        loads = {gid: peaks.get(gid, 0.0) for gid in gids}
        shares: dict[str, float] = defaultdict(float)
        for gid in gids:
            if gid in senders:
                shares[senders[gid]] += loads[gid]
        best = max(shares, key=lambda node: (shares[node], node), default=None)
        enough = best is not None and shares[best] >= LOCALITY_SHARE * sum(loads.values()) > 0
        units.append(Unit(name, {gid: at[gid] for gid in gids}, loads, best if enough else None))
    return units


def replay(loads: DataFrame, placement: Mapping[int, str], nodes: int) -> Replay:
    """The windows of `loads` under a placement."""
    spark = loads.sparkSession
    where = spark.createDataFrame(list(placement.items()), "gid bigint, node string")
    row = (
        owners.replayed(loads, where, nodes)
        .agg(
            F.count("*").alias("windows"),
            F.percentile(F.col("fullest") / F.col("mean"), 0.5).alias("imbalance"),
            F.percentile("fullest", 0.95).alias("fullest"),
        )
        .first()
    )
    assert row is not None
    if not row["windows"]:
        return Replay(0, 1.0, 0.0)
    return Replay(row["windows"], round(row["imbalance"], 3), round(row["fullest"], 1))
