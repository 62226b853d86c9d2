"""Compaction: fewer parts, the same rows, and jobs that go on where they were."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.compacting import mergeable
from pipeline.ingest import ingest
from pipeline.jobs import compact as compact_job
from pipeline.loading import days_to_load
from pipeline.schemas import raw
from pipeline.store import Part, Snapshot, Store
from tests.pipeline.cluster import Cluster
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def part(kind: str, commit: int, day: str = "2026-11-22") -> Part:
    return Part(f"{kind}/commit={commit:012d}/date={day}", commit)


def test_parts_of_a_day_become_one_up_to_where_jobs_have_read() -> None:
    one, two, three, four = (part("accept", commit) for commit in (1, 2, 4, 5))
    other = part("accept", 5, "2026-11-23")
    snapshot = Snapshot(6, {"accept": [one, two, three, four, other], "load_group": [one, two]})
    assert mergeable(snapshot, 2) == {("accept", "2026-11-22", 0): [one, two, three, four]}
    assert mergeable(snapshot, 5) == {}
    read = Snapshot(6, snapshot.tables, {"load": 3, "audit_frontier": {"commit": 4, "judged": {}}})
    assert mergeable(read, 2) == {("accept", "2026-11-22", 0): [one, two]}
    counted = Snapshot(6, snapshot.tables, {"activity": {"commit": 1, "newest": ""}})
    assert mergeable(counted, 2) == {("accept", "2026-11-22", 1): [two, three, four]}


def test_what_is_compacted_has_the_same_rows(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(compact_job, "spark_session", lambda *given: nullcontext(spark))
    cluster = Cluster(3, nodes=2, groups=3, strict=1)
    cluster.run(100)
    rows = cluster.rows["accept"]
    store = Store(str(tmp_path / "store"))
    for number, own in enumerate((rows[:20], rows[20:])):
        for off, row in enumerate(own):
            row["off"] = 1000 * number + off
        write_segments(tmp_path / "trace", {"accept": own}, first=number)
        ingest(spark, store, str(tmp_path / "trace"))
    before = store.snapshot()
    assert len(before.tables["accept"]) == 2
    asked = {"least": 2, "keep": -1.0, "master": "", "memory": "", "partitions": 2, "json": True}
    assert compact_job.run(Namespace(store=store.root, trace=None, **asked)) == 0
    said = json.loads(capsys.readouterr().out)
    after = store.snapshot()
    assert said["merged"] == 4
    left = {
        str(path.parent.relative_to(store.root)) for path in Path(store.root).rglob("*.parquet")
    }
    assert left == {one.folder for parts in after.tables.values() for one in parts}
    assert [len(after.tables[kind]) for kind in ("accept", "segment")] == [1, 1]
    taken = store.read(spark, "accept", raw("accept"), after.parts_since("accept", 0))
    assert sorted((r["node"], r["off"]) for r in taken.select("node", "off").collect()) == sorted(
        (row["node"], row["off"]) for row in rows
    )
    assert days_to_load(after) == ["2026-11-22"]
    assert after.parts_since("accept", before.number) == []
    assert compact_job.run(Namespace(store=store.root, trace=None, **asked)) == 0
    assert json.loads(capsys.readouterr().out)["merged"] == 0
