"""The load tables of a store, day by day: only days of which there is something new are computed.

A day's rows say nothing of later days, so yesterday's stay what they are. Two things reach over
midnight. How many nodes have a group is that of the end of the day, from all memberships until
then; and what was numbered before midnight may be delivered behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from pyspark.sql import functions as F

from pipeline.schemas import raw
from pipeline.transforms import load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.store import Snapshot, Store

POSITION: Final = "load"
"""The position's name: the commit up to which rows are in the load tables."""
TABLES: Final = (
    "load_group",
    "load_sequencer",
    "load_latency",
    "load_round",
    "load_busy",
    "load_sender",
    "load_origin",
)
SENDERS_MAX: Final = 1_000
"""Senders of a day that are kept, those who send most."""


def days_to_load(snapshot: Snapshot) -> list[str]:
    """The days whose load is not that of all rows of the store, in turn."""
    commit = snapshot.positions.get(POSITION, 0)
    loaded = {"accept", "frame", "delivery"}
    known = {day for kind in loaded for day in snapshot.days_since(kind, 0)}
    new = {day for kind in loaded for day in snapshot.days_since(kind, commit)}
    new |= {following(day) for day in snapshot.days_since("accept", commit)}
    turned = snapshot.days_since("membership", commit)
    if turned:
        new |= {day for day in known if day >= min(turned)}
    return sorted(new & known)


def following(day: str, days: int = 1) -> str:
    """The day that is so many days later."""
    return (date.fromisoformat(day) + timedelta(days)).isoformat()


def load_days(
    spark: SparkSession,
    store: Store,
    snapshot: Snapshot,
    phase: Callable[[str], object] = lambda name: None,
    window_s: int = load.WINDOW_S,
) -> Snapshot:
    """Compute what is new, in windows of so many seconds, and commit it; the store behind that.

    Loads are a second, so days may have windows of different lengths beside each other.

    Raises PipelineError `store_busy`.
    """
    days = days_to_load(snapshot)
    if not days:
        return snapshot
    parts: dict[str, list[str]] = {name: [] for name in TABLES}
    for day in days:
        phase(f"load of {day}")
        for name, frame in load_of(spark, store, snapshot, day, window_s).items():
            parts[name].append(store.write(frame, name, snapshot, files=1, day=day))
    batch = f"load {snapshot.number + 1}"
    return store.commit(snapshot, batch, renew=parts, positions={POSITION: snapshot.number})


def load_of(
    spark: SparkSession, store: Store, snapshot: Snapshot, day: str, window_s: int
) -> Mapping[str, DataFrame]:
    """The rows of one day, of all tables."""

    def table(kind: str, days: Callable[[str], bool]) -> DataFrame:
        return store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0, days))

    def same(other: str) -> bool:
        return other == day

    def until(other: str) -> bool:
        return following(day, -1) <= other <= day

    accepts = table("accept", same)
    nodes = load.group_nodes(table("membership", lambda other: other <= day))
    deliveries = table("delivery", same)
    return {
        "load_group": load.group_load(accepts, nodes, window_s),
        "load_sequencer": load.sequencer_load(table("frame", same), window_s),
        "load_latency": load.latency(deliveries, table("accept", until), window_s),
        "load_round": load.rounds(deliveries, table("frame", until), window_s),
        "load_busy": load.busy(table("seq_load", same), window_s),
        "load_sender": load.hot_senders(accepts, SENDERS_MAX),
        "load_origin": load.origins(accepts),
    }


class Loads(NamedTuple):
    """Tables of some days: `groups` is load_group, `origins` load_origin, `rounds` load_round,
    `busy` load_busy.
    """

    groups: DataFrame
    origins: DataFrame
    rounds: DataFrame
    busy: DataFrame


class Span(NamedTuple):
    """Times that windows are to begin in; None: no bound. `until` is not in it."""

    since: datetime | None = None
    until: datetime | None = None

    def of(self, windows: DataFrame) -> DataFrame:
        """The rows of a table whose windows begin in it."""
        if self.since is not None:
            windows = windows.where(F.col("w_start") >= F.lit(self.since))
        if self.until is not None:
            windows = windows.where(F.col("w_start") < F.lit(self.until))
        return windows


ALL_TIME: Final = Span()


def newest_days(
    spark: SparkSession, store: Store, snapshot: Snapshot, days: int, span: Span = ALL_TIME
) -> Loads:
    """Tables of the last days that they have, so many at most; windows of `span` only.

    `origins` are not divided by windows: they are those of the whole days.
    """
    newest = set(sorted(snapshot.days_since("load_group", 0))[-days:])

    def table(name: str, schema: str) -> DataFrame:
        return store.read(spark, name, schema, snapshot.parts_since(name, 0, newest.__contains__))

    return Loads(
        span.of(table("load_group", load.GROUP_LOAD)),
        table("load_origin", load.ORIGIN),
        span.of(table("load_round", load.ROUND)),
        span.of(table("load_busy", load.BUSY)),
    )
