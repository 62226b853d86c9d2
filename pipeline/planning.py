"""A placement plan out of a store: units from the overlap, loads from the last windows, then both
placements replayed over these windows. What nothing demands is proposed only if that makes them
better (decision 77).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pipeline.errors import PipelineError
from pipeline.loading import ALL_TIME, Span, newest_days
from pipeline.measuring import Replay, collected, over
from pipeline.overlap import find_overlap
from pipeline.placement import Bounds, Placement, Unit, place
from pipeline.rounds import Pair, Rounds, Timed, Use, Wait
from pipeline.schemas import raw
from pipeline.transforms import load, owners
from pipeline.transforms.resting import REST_MIN, moved_lately

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.store import Snapshot, Store

LOCALITY_SHARE = 0.6
"""A group is near the node that sends at least so much of it, as the directory has it."""
GAIN = 0.01
"""Less than this share of a figure is no difference."""
DEMANDED = frozenset({"strict", "drain"})
"""Reasons of moves that are not a matter of better or worse."""


@dataclass(frozen=True)
class Planned:
    """The placement that is proposed, and both of them over the windows that there were.

    `waits`: how long senders have waited, and would; None where it is not known. `not_worth`: by
    their reasons, how many moves were left out, as they would have made nothing better. `present`:
    the nodes of the newest primary view; `names`: those that the placement is for.
    """

    placement: Placement
    before: Replay
    after: Replay
    waits: tuple[Wait | None, Wait | None]
    not_worth: Mapping[str, int] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @property
    def supposes(self) -> list[str]:
        """The nodes of a what-if; none where the placement is for those that there are."""
        return [] if self.names == self.present else sorted(self.names)

    def text(self) -> dict[str, object]:
        """As the sequencing service takes it, with what it is to bring: before and after."""
        expects: dict[str, object] = {
            "imbalance": [self.before.imbalance, self.after.imbalance],
            "fullest_us": [self.before.fullest_us, self.after.fullest_us],
        }
        before, after = self.waits
        if before is not None and after is not None:
            expects["latency_us"] = [before.p50_us, after.p50_us]
        made = {**self.placement.plan(), "expects": expects}
        return {**made, "supposes": self.supposes} if self.supposes else made


def plan(
    spark: SparkSession,
    store: Store,
    snapshot: Snapshot,
    bounds: Bounds,
    *,
    nodes: Iterable[str] = (),
    observers_max: int = 64,
    days: int = 7,
    span: Span = ALL_TIME,
    rest_min: float = REST_MIN,
) -> Planned:
    """Propose a placement on `nodes`, or on those of the newest primary view, for the load of the
    last so many days that `loading.load_days` has written, in windows of `span`. What has moved
    within `rest_min` minutes of the trace's end moves only if it must.

    Raises PipelineError `no_nodes`, `no_groups`.
    """

    def table(kind: str) -> DataFrame:
        return store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0))

    present = frozenset(r["node"] for r in owners.present_nodes(table("view")).collect())
    names = frozenset(nodes) or present
    if not names:
        raise PipelineError("no_nodes", "The trace has no primary view.", "Give --nodes.")
    membership, groups = table("membership"), table("group")
    at = {row["gid"]: row["node"] for row in owners.owners(groups).collect()}
    if not at:
        raise PipelineError("no_groups", "The trace has no group.", "Take more of it in.")
    found_loads = newest_days(spark, store, snapshot, days, span)
    loads, sent = found_loads.groups.cache(), found_loads.origins.cache()
    peaks = {row["gid"]: row["load_us"] for row in load.group_peaks(loads).collect()}
    senders = {r["gid"]: r["sender"] for r in load.main_senders(sent, LOCALITY_SHARE).collect()}
    found = find_overlap(membership, groups, observers_max)
    component = {row["gid"]: row["component"] for row in found.components.collect()}
    resting = resting_groups(spark, store, snapshot, rest_min)
    units = make_units(at, peaks, component, senders, resting)
    rounds, left = rounds_of(found_loads.rounds), len(names - bounds.draining) or 1
    before, measured = replay(loads, at, len(names)), rounds.measured()

    def over_windows(placement: Placement) -> Planned:
        after = dict(at)
        for move in placement.moves:
            after |= dict.fromkeys(move.groups, move.target)
        use = use_of(found_loads.busy, placement)
        expected = rounds.expected(routes(sent, after), use, len(names))
        waits = (measured, expected)
        then = replay(loads, after, left)
        return Planned(placement, before, then, waits, present=present, names=names)

    return worth_it(lambda own: over_windows(place(units, names, own)), bounds)


def resting_groups(
    spark: SparkSession, store: Store, snapshot: Snapshot, minutes: float
) -> frozenset[int]:
    """Groups that have moved within so many minutes of the trace's end."""
    moves = snapshot.parts_since("migration", 0)
    if not moves or minutes <= 0:
        return frozenset()
    newest = set(sorted(snapshot.days_since("seq_load", 0))[-1:])
    days = snapshot.parts_since("seq_load", 0, newest.__contains__)
    work = store.read(spark, "seq_load", raw("seq_load"), days)
    migrations = store.read(spark, "migration", raw("migration"), moves)
    return frozenset(row["gid"] for row in moved_lately(migrations, work, minutes).collect())


def worth_it(try_out: Callable[[Bounds], Planned], bounds: Bounds) -> Planned:
    """The best within the bounds; what S2 and drains demand, if the rest makes nothing better.

    The placement is made for the most that each group has had; the windows are what there was.
    """
    best = try_out(bounds)
    free = Counter(one.reason for one in best.placement.moves if one.reason not in DEMANDED)
    if not free:
        return best
    demanded = try_out(replace(bounds, moves=0))
    if is_better(best, demanded, bounds.slack):
        return best
    return replace(demanded, not_worth=dict(free))


def is_better(one: Planned, other: Planned, slack: float) -> bool:
    """Whether the load of the windows would be clearly more even, or waits clearly shorter and the
    load hardly less even.
    """
    shares = [
        mine / its if its else 1.0
        for mine, its in (
            (one.after.imbalance, other.after.imbalance),
            (one.after.fullest_us, other.after.fullest_us),
        )
    ]
    if min(shares) < 1 - GAIN and max(shares) < 1 + GAIN:
        return True
    wait, its_wait = one.waits[1], other.waits[1]
    if wait is None or its_wait is None:
        return False
    return wait.p50_us < its_wait.p50_us * (1 - slack) and max(shares) < 1 + slack


def rounds_of(rounds: DataFrame) -> Rounds:
    """The counts of all windows together."""
    keys = ("node", "sequencer", "near", "bucket", "queue")
    rows = rounds.groupBy(*keys).agg(F.sum("runs").alias("runs")).collect()
    return Rounds(
        Timed(
            Pair(row["node"], row["sequencer"] or "", row["near"]),
            row["bucket"],
            row["queue"],
            row["runs"],
        )
        for row in rows
    )


def use_of(busy: DataFrame, placement: Placement) -> Use:
    """How busy the nodes' processes were, and would be with the load that moves."""
    rows = busy.groupBy("node").agg(F.sum("seconds").alias("s"), F.sum("cpu_us").alias("us"))
    before = {row["node"]: row["us"] / row["s"] / 1e6 for row in rows.collect() if row["s"]}
    moved = {
        node: placement.after.get(node, 0.0) - placement.before.get(node, 0.0) for node in before
    }
    return Use(before, {node: used + moved[node] / 1e6 for node, used in before.items()})


def routes(sent: DataFrame, placement: Mapping[int, str]) -> dict[str, dict[str, float]]:
    """Of each sender's node the shares of its runs that the nodes would sequence."""
    spark = sent.sparkSession
    where = spark.createDataFrame(list(placement.items()), "gid bigint, node string")
    runs = F.sum(F.coalesce("runs", "messages")).alias("runs")
    rows = sent.join(where, "gid").groupBy("sender", "node").agg(runs).collect()
    counts: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        counts[row["sender"]][row["node"]] = row["runs"]
    return {
        sender: {node: runs / total for node, runs in own.items() if runs}
        for sender, own in counts.items()
        if (total := sum(own.values()))
    }


def make_units(
    at: Mapping[int, str],
    peaks: Mapping[int, float],
    component: Mapping[int, int],
    senders: Mapping[int, str],
    resting: Container[int] = frozenset(),
) -> list[Unit]:
    """Units of the groups in `at`. A unit's sender is the one that sends most of its load; it rests
    if one of its groups does.
    """
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
        homes, sender = {gid: at[gid] for gid in gids}, best if enough else None
        units.append(Unit(name, homes, loads, sender, any(gid in resting for gid in gids)))
    return units


def replay(loads: DataFrame, placement: Mapping[int, str], nodes: int) -> Replay:
    """The windows of `loads` under a placement."""
    spark = loads.sparkSession
    where = spark.createDataFrame(list(placement.items()), "gid bigint, node string")
    return over(collected(owners.replayed(loads, where, nodes)))
