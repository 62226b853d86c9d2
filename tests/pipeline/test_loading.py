"""Load by day: which days are computed, and what reaches over midnight."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from groupcore.trace import TABLES
from pipeline.activity import days_to_count
from pipeline.ingest import ingest
from pipeline.loading import days_to_load, load_days
from pipeline.store import Part, Snapshot, Store
from tests.pipeline.cluster import Row
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIDNIGHT = datetime(2026, 11, 22, tzinfo=UTC)


def snapshot(parts: Mapping[str, list[tuple[int, int]]], **positions: object) -> Snapshot:
    """A store with parts of tables: the day of November, and the commit."""
    tables = {
        kind: [Part(f"{kind}/commit={commit}/date=2026-11-{day}", commit) for day, commit in own]
        for kind, own in parts.items()
    }
    return Snapshot(9, tables, positions)


def days(*numbers: int) -> list[str]:
    return [f"2026-11-{number}" for number in numbers]


@pytest.mark.parametrize(
    ("parts", "loaded", "wanted"),
    [
        ({"accept": [(21, 1), (22, 2)]}, None, days(21, 22)),
        ({"accept": [(21, 1), (22, 2)]}, 2, []),
        ({"delivery": [(21, 1), (22, 2), (22, 3)]}, 2, days(22)),
        # What was numbered before midnight is delivered behind it; there need be nothing then.
        ({"accept": [(20, 1), (21, 3)], "delivery": [(22, 1), (23, 1)]}, 2, days(21, 22)),
        ({"accept": [(22, 3)]}, 2, days(22)),
        # How many nodes have a group is known from all that was said of it before.
        ({"frame": [(20, 1), (21, 1), (23, 1)], "membership": [(21, 3)]}, 2, days(21, 23)),
        ({"view": [(22, 3)]}, 2, []),
    ],
)
def test_days_whose_load_is_not_that_of_all_rows(
    parts: Mapping[str, list[tuple[int, int]]], loaded: int | None, wanted: list[str]
) -> None:
    positions = {} if loaded is None else {"load": loaded}
    assert days_to_load(snapshot(parts, **positions)) == wanted


@pytest.mark.parametrize(
    ("parts", "newest", "wanted"),
    [
        ({"accept": [(21, 1), (22, 1)]}, "2026-11-22", []),
        ({"accept": [(21, 1), (21, 3), (22, 1)]}, "2026-11-22", days(21)),
        # Who was there at the end of the newest day was there until midnight, as is known now.
        ({"accept": [(20, 1), (21, 1), (22, 3)]}, "2026-11-21", days(21, 22)),
        ({"accept": [(20, 1), (22, 1)], "session": [(21, 3)]}, "2026-11-22", days(21, 22)),
        ({"accept": [(20, 1), (22, 1)], "group": [(21, 3)]}, "2026-11-22", days(22)),
    ],
)
def test_days_whose_activity_is_not_that_of_all_rows(
    parts: Mapping[str, list[tuple[int, int]]], newest: str, wanted: list[str]
) -> None:
    assert days_to_count(snapshot(parts, activity={"commit": 2, "newest": newest})) == wanted


def row(kind: str, second: float, node: str = "a#1", **values: object) -> Row:
    made: Row = {column.name: None for column in TABLES[kind].columns}
    return made | {"node": node, "t": MIDNIGHT + timedelta(seconds=second)} | values


def accept(second: float, lseq: int) -> Row:
    return row("accept", second, lseq=lseq, gid=7, sender="a#1/1", count=1, bytes=1024)


def delivery(second: float, lseq: int) -> Row:
    return row("delivery", second, gid=7, sequencer="a#1", lseq=lseq)


def turn(second: float, op: str, node: str, dno: int) -> Row:
    return row("membership", second, node, gid=7, op=op, dno=dno, seq=0)


def test_what_reaches_over_midnight(spark: SparkSession, tmp_path: Path) -> None:
    trace, store = tmp_path / "trace", Store(str(tmp_path / "store"))
    yesterday: dict[str, list[Row]] = {
        "accept": [accept(-60, 1), accept(-1, 2)],
        "delivery": [delivery(-59, 1)],
        "membership": [turn(-61, "state", "a#1", 0), turn(-61, "state", "b#1", 0)],
    }
    today = {
        "delivery": [delivery(1, 2)],
        "accept": [accept(5, 3)],
        "membership": [turn(2, "released", "b#1", 9)],
    }
    for n, rows in enumerate((yesterday, today)):
        for kind, own in rows.items():
            for at, one in enumerate(own):
                one["off"] = 10 * n + at
            write_segments(trace, {kind: own}, first=n)
        ingest(spark, store, str(trace))
        before = store.snapshot()
        made = load_days(spark, store, before)
    assert made.parts_since("load_group", 0) == [
        *before.parts_since("load_group", 0),  # yesterday's stays what it is
        *made.parts_since("load_group", before.number),
    ]

    def table(name: str, *columns: str) -> set[tuple[object, ...]]:
        schema = {
            "load_group": "w_start timestamp, gid bigint, messages bigint, nodes bigint",
            "load_latency": "w_start timestamp, deliveries bigint, delay_us_p50 bigint",
        }[name]
        parts = made.parts_since(name, 0)
        return {tuple(r) for r in store.read(spark, name, schema, parts).select(*columns).collect()}

    assert table("load_group", "messages", "nodes") == {(2, 2), (1, 1)}
    # What was delivered today is in today's part, in the window of yesterday.
    assert table("load_latency", "deliveries", "delay_us_p50") == {
        (1, 1_000_000),
        (1, 2_000_000),
    }
