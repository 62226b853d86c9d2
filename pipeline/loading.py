"""The load tables of a store, day by day: only days of which there is something new are computed.

A day's rows say nothing of later days, so yesterday's stay what they are. Two things reach over
midnight. How many nodes have a group is that of the end of the day, from all memberships until
then; and what was numbered before midnight may be delivered behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipeline.schemas import raw
from pipeline.transforms import load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.store import Snapshot, Store

POSITION: Final = "load"
"""The position's name: the commit up to which rows are in the load tables."""
TABLES: Final = ("load_group", "load_sequencer", "load_latency", "load_sender", "load_origin")
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
) -> Snapshot:
    """Compute what is new and commit it; the store behind that.

    Raises PipelineError `store_busy`.
    """
    days = days_to_load(snapshot)
    if not days:
        return snapshot
    parts: dict[str, list[str]] = {name: [] for name in TABLES}
    for day in days:
        phase(f"load of {day}")
        for name, frame in load_of(spark, store, snapshot, day).items():
            parts[name].append(store.write(frame, name, snapshot, files=1, day=day))
    batch = f"load {snapshot.number + 1}"
    return store.commit(snapshot, batch, renew=parts, positions={POSITION: snapshot.number})


def load_of(
    spark: SparkSession, store: Store, snapshot: Snapshot, day: str
) -> Mapping[str, DataFrame]:
    """The rows of one day, of all tables."""

    def table(kind: str, days: Callable[[str], bool]) -> DataFrame:
        return store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0, days))

    def same(other: str) -> bool:
        return other == day

    before = following(day, -1)
    accepts = table("accept", same)
    nodes = load.group_nodes(table("membership", lambda other: other <= day))
    return {
        "load_group": load.group_load(accepts, nodes),
        "load_sequencer": load.sequencer_load(table("frame", same)),
        "load_latency": load.latency(
            table("delivery", same), table("accept", lambda other: before <= other <= day)
        ),
        "load_sender": load.hot_senders(accepts, SENDERS_MAX),
        "load_origin": load.origins(accepts),
    }


def newest_days(
    spark: SparkSession, store: Store, snapshot: Snapshot, days: int
) -> tuple[DataFrame, DataFrame]:
    """The tables load_group and load_origin of the last days that they have, so many at most."""
    newest = set(sorted(snapshot.days_since("load_group", 0))[-days:])
    of_groups, of_origins = (
        store.read(spark, name, schema, snapshot.parts_since(name, 0, newest.__contains__))
        for name, schema in (("load_group", load.GROUP_LOAD), ("load_origin", load.ORIGIN))
    )
    return of_groups, of_origins
