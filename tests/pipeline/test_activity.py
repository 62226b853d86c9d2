"""Activity: who has written what, was there, and works with whom; day by day; and the page."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from groupcore.trace import TABLES
from pipeline.activity import days_to_count
from pipeline.activity_page import Activity, page
from pipeline.ingest import ingest
from pipeline.jobs import activity as activity_job
from pipeline.plots import bars, graph
from pipeline.store import Store
from tests.pipeline.cluster import Row
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENING = datetime(2026, 11, 21, 23, 50, tzinfo=UTC)
COMMON = {"master": "", "memory": "", "partitions": 2, "json": True, "trace": None}


def row(kind: str, minute: float, **values: object) -> Row:
    """A row of a raw table, so many minutes behind EVENING; what is not given is null."""
    made: Row = {column.name: None for column in TABLES[kind].columns}
    return made | {"node": "a#1", "t": EVENING + timedelta(minutes=minute)} | values


def edit(minute: float, process: str, gid: int, count: int = 1) -> Row:
    return row("accept", minute, gid=gid, sender=process, count=count, bytes=10 * count)


def session(minute: float, op: str, person: str, process: str) -> Row:
    return row("session", minute, op=op, session=f"of {person}", user=person, process=process)


ROWS: dict[str, list[Row]] = {
    "group": [
        row("group", 0, op="owned", gid=7, name="doc/plan"),
        row("group", 0, op="owned", gid=8, name="doc/plan/block-1"),
        row("group", 0, op="owned", gid=9, name="doc/notes"),
    ],
    "session": [
        session(0, "open", "ada", "a#1/1"),
        session(1, "open", "ben", "a#1/2"),
        session(20, "close", "ada", "a#1/1"),
        session(40, "resume", "ben", "a#1/2"),
    ],
    "accept": [
        edit(1, "a#1/1", 7),
        edit(1.5, "a#1/1", 8, count=3),
        edit(2, "a#1/2", 8),
        edit(3, "a#1/0", 8),  # the node itself
        edit(15, "a#1/1", 7),
        edit(30, "a#1/2", 9),
    ],
}


def test_activity_by_day(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(activity_job, "spark_session", lambda *given: nullcontext(spark))
    write_segments(tmp_path / "trace", ROWS)
    store = Store(str(tmp_path / "store"))
    ingest(spark, store, str(tmp_path / "trace"))
    assert days_to_count(store.snapshot()) == ["2026-11-21", "2026-11-22"]
    path = tmp_path / "activity.html"
    asked = Namespace(store=store.root, page=path, days=30, rows=50, **COMMON)
    assert activity_job.run(asked) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["documents"], said["people"], said["edits"]) == (2, 2, 7)
    assert days_to_count(store.snapshot()) == []

    shown = activity_job.read_activity(spark, store, store.snapshot(), 30)
    assert sorted(shown.edits) == [
        ("2026-11-21", "doc/plan", "ada", 4, 40),
        ("2026-11-21", "doc/plan", "ben", 1, 10),
        ("2026-11-22", "doc/notes", "ben", 1, 10),
        ("2026-11-22", "doc/plan", "ada", 1, 10),
    ]
    # Ada was there for ten minutes on either side of midnight; Ben's session goes on.
    assert sorted(shown.presence) == [
        ("2026-11-21", "ada", 1, 600.0),
        ("2026-11-21", "ben", 1, 540.0),
        ("2026-11-22", "ada", 1, 600.0),
        ("2026-11-22", "ben", 1, 1800.0),
    ]
    assert shown.together == [("doc/plan", "ada", "ben", 1)]
    assert "doc/plan" in path.read_text()


def test_the_page_is_whole_and_shows_names_as_they_are() -> None:
    shown = Activity(
        ["2026-11-21", "2026-11-22"],
        [("2026-11-22", "doc/<b>", "ada & ben", 1200, 5)],
        [("2026-11-21", "ada & ben", 1, 5400.0)],
        [],
    )
    text = page(shown, 50)
    assert "<script" not in text
    assert "doc/&lt;b&gt;" in text
    assert "ada &amp; ben" in text
    assert "1,200" in text
    assert "1.5" in text
    assert "Nobody has edited together" in text
    assert "2026-11-21 to 2026-11-22" in text
    assert "no day" in page(Activity([], [], [], []), 50)


def test_tables_say_what_they_leave_out() -> None:
    edits = [("2026-11-22", f"doc/{i}", "ada", 1, 1) for i in range(5)]
    assert "3 more in the tables" in page(Activity(["2026-11-22"], edits, [], []), 2)


def test_bars_are_as_high_as_their_values() -> None:
    drawn = ElementTree.fromstring(bars([("a", 1.0), ("b", 4.0), ("c", 0.0)], "Things"))
    heights = [float(rect.attrib["height"]) for rect in drawn.iter("rect")]
    assert heights[1] == pytest.approx(4 * heights[0])
    assert heights[2] == 0
    assert drawn.attrib["aria-label"] == "Things"


def test_lines_are_as_thick_as_people_work_together() -> None:
    drawn = ElementTree.fromstring(graph({("ada", "ben"): 10, ("ben", "<eve>"): 5}, "Who"))
    widths = sorted(float(line.attrib["stroke-width"]) for line in drawn.iter("line"))
    assert widths == [3.5, 6.0]
    assert len(list(drawn.iter("circle"))) == 3
    assert "<eve>" in "".join(text.text or "" for text in drawn.iter("text"))
    assert graph({}, "Who") == ""
