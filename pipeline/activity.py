"""The activity tables of a store, day by day: only days of which there is something new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.loading import following
from pipeline.schemas import raw
from pipeline.transforms import activity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.store import Snapshot, Store

POSITION: Final = "activity"
"""The position's name: the commit up to which rows are in the activity tables, and which day was
the newest then: `{"commit": …, "newest": …}`."""
TABLES: Final = {
    "activity_edit": activity.EDITS,
    "activity_presence": activity.PRESENCE,
    "activity_together": activity.TOGETHER_EDGES,
}


def days_to_count(snapshot: Snapshot) -> list[str]:
    """The days whose activity is not that of all rows of the store, in turn.

    Who a process is, and what a group is called, may be said on any day before.
    """
    counted = snapshot.positions.get(POSITION, {"commit": 0, "newest": ""})
    commit = counted["commit"]
    known = snapshot.days_since("accept", 0) | snapshot.days_since("session", 0)
    said = snapshot.days_since("session", commit) | snapshot.days_since("group", commit)
    new = snapshot.days_since("accept", commit)
    if said:
        new |= {day for day in known if day >= min(said)}
    if known and counted["newest"] < max(known):
        new.add(counted["newest"])  # who was there at its end was there until midnight
    return sorted(new & known)


def count_days(
    spark: SparkSession,
    store: Store,
    snapshot: Snapshot,
    phase: Callable[[str], object] = lambda name: None,
) -> Snapshot:
    """Compute what is new and commit it; the store behind that. PipelineError `store_busy`."""
    days = days_to_count(snapshot)
    if not days:
        return snapshot
    parts: dict[str, list[str]] = {name: [] for name in TABLES}
    for day in days:
        phase(f"activity of {day}")
        for name, frame in activity_of(spark, store, snapshot, day).items():
            parts[name].append(store.write(frame, name, snapshot, files=1, day=day))
    position = {"commit": snapshot.number, "newest": _newest(snapshot)}
    batch = f"activity {snapshot.number + 1}"
    return store.commit(snapshot, batch, renew=parts, positions={POSITION: position})


def _newest(snapshot: Snapshot) -> str:
    """The last day of which there is anything."""
    return max(snapshot.days_since("accept", 0) | snapshot.days_since("session", 0))


def activity_of(
    spark: SparkSession, store: Store, snapshot: Snapshot, day: str
) -> Mapping[str, DataFrame]:
    """The rows of one day, of all tables."""

    def table(kind: str, days: Callable[[str], bool]) -> DataFrame:
        return store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0, days))

    sessions = table("session", lambda other: other <= day)
    accepts = table("accept", lambda other: other == day)
    runs = activity.written(
        accepts,
        activity.people(sessions),
        activity.documents(table("group", lambda other: other <= day)),
    )
    begin, end = (F.lit(at).cast("timestamp") for at in (day, following(day)))
    if day == _newest(snapshot):
        # The day goes on: who is there was there until the last thing that was written down.
        times = accepts.select("t").unionByName(sessions.select("t"))
        last = times.agg(F.max("t")).first()
        assert last is not None
        end = F.least(end, F.lit(last[0]))
    return {
        "activity_edit": activity.edits(runs),
        "activity_presence": activity.presence(sessions, begin, end),
        "activity_together": activity.together(runs),
    }


def by_day(spark: SparkSession, store: Store, snapshot: Snapshot, name: str) -> DataFrame:
    """A table with the column `day`."""
    empty = spark.createDataFrame([], f"{TABLES[name]}, day string")
    return reduce(
        DataFrame.unionByName,
        (
            store.read(spark, name, TABLES[name], [part.folder]).withColumn("day", F.lit(part.day))
            for part in snapshot.tables.get(name, ())
        ),
        empty,
    )
