"""Segments are taken in once, whole, and the damaged ones by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from pipeline.errors import PipelineError
from pipeline.ingest import HERE_BYTES_MAX, ingest, new_segments
from pipeline.schemas import SEGMENT_FACTS, raw
from pipeline.store import Store
from tests.pipeline.cluster import Cluster, Row
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Mapping[str, Sequence[Row]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    cluster = Cluster(3, nodes=2, groups=3, strict=1)
    cluster.run(150)
    return {kind: cluster.rows[kind] for kind in ("accept", "delivery", "view")}


def table(spark: SparkSession, store: Store, kind: str) -> list[tuple[object, ...]]:
    frame = store.read(spark, kind, raw(kind), store.snapshot().parts_since(kind, 0))
    return sorted(tuple(row) for row in frame.select("node", "off", "gid", "seq").collect())


def test_each_segment_is_taken_once(spark: SparkSession, tmp_path: Path, rows: Rows) -> None:
    trace, store = tmp_path / "trace", Store(str(tmp_path / "store"))
    write_segments(trace, {"delivery": rows["delivery"], "view": rows["view"]})
    first = ingest(spark, store, str(trace))
    assert first.rows == len(rows["delivery"]) + len(rows["view"])
    assert ingest(spark, store, str(trace)).segments == 0
    write_segments(trace, {"accept": rows["accept"]})
    assert ingest(spark, store, str(trace)).rows == len(rows["accept"])
    for kind in ("accept", "delivery"):
        wanted = sorted((row["node"], row["gid"], row["seq"]) for row in rows[kind])
        assert sorted((n, g, s) for n, _, g, s in table(spark, store, kind)) == wanted


def test_workers_write_what_this_process_would(
    spark: SparkSession, tmp_path: Path, rows: Rows
) -> None:
    trace = tmp_path / "trace"
    written = write_segments(trace, {k: rows[k] for k in ("accept", "view")}, size=20)
    broken = trace / written[0].path
    broken.write_bytes(broken.read_bytes()[:-30])
    stores = {}
    for name, most in (("here", HERE_BYTES_MAX), ("workers", 0)):
        store = stores[name] = Store(str(tmp_path / name))
        taken = ingest(spark, store, str(trace), skip_damaged=True, here_bytes_max=most)
        assert len(taken.damaged) == 1
    for kind in ("accept", "view", "segment"):
        schema = SEGMENT_FACTS if kind == "segment" else raw(kind)
        here, workers = (
            sorted(
                map(
                    str,
                    store.read(
                        spark, kind, schema, store.snapshot().parts_since(kind, 0)
                    ).collect(),
                )
            )
            for store in stores.values()
        )
        assert here == workers
        assert here


def test_a_part_that_two_write_at_a_time_has_its_rows_once(tmp_path: Path) -> None:
    """A worker that was given up may still be writing when another one has its task."""
    store = Store(str(tmp_path))
    base = store.snapshot()
    some = pa.table({"t": pa.array([0, 1], pa.timestamp("us", "UTC")), "off": [0, 1]})

    def given_up() -> Iterator[pa.Table]:
        yield some
        assert store.write_days([some, some], "accept", base, "rows-0001") == folders
        assert sum(batch.num_rows for batch in store.scan(folders, ["off"])) == 4
        yield some

    folders = [store.folder("accept", base, "1970-01-01")]
    assert store.write_days(given_up(), "accept", base, "rows-0001") == folders
    assert sum(batch.num_rows for batch in store.scan(folders, ["off"])) == 4
    assert len(list((tmp_path / folders[0]).iterdir())) == 1


def test_what_is_taken_in_may_have_an_end(spark: SparkSession, tmp_path: Path, rows: Rows) -> None:
    trace, store = tmp_path / "trace", Store(str(tmp_path / "store"))
    written = write_segments(trace, {"accept": rows["accept"]}, size=10)
    ends = {"n0/accept": [1, 0], "n1/accept": [1, 1]}
    assert ingest(spark, store, str(trace), ends=ends).segments == 3 < len(written)
    assert ingest(spark, store, str(trace)).segments == len(written) - 3


def test_a_job_that_was_stopped_before_its_commit_doubles_nothing(
    spark: SparkSession, tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, store = tmp_path / "trace", Store(str(tmp_path / "store"))
    write_segments(trace, {"delivery": rows["delivery"]})
    with monkeypatch.context() as patched:
        patched.setattr(Store, "commit", lambda *given, **named: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            ingest(spark, store, str(trace))
    assert store.snapshot().number == 0
    assert len(new_segments(str(trace), store.snapshot())) > 0
    ingest(spark, store, str(trace))
    assert len(table(spark, store, "delivery")) == len(rows["delivery"])


def test_damaged_segments_stop_it_unless_they_are_to_be_passed_over(
    spark: SparkSession, tmp_path: Path, rows: Rows
) -> None:
    trace, store = tmp_path / "trace", Store(str(tmp_path / "store"))
    written = write_segments(trace, {"delivery": rows["delivery"]}, size=10)
    assert len(written) > 3
    short, broken = (trace / segment.path for segment in written[:2])
    short.write_bytes(short.read_bytes()[:-30])
    text = bytearray(broken.read_bytes())
    start = text.index(b"\x28\xb5\x2f\xfd")
    text[start : start + 8] = b"\0" * 8
    broken.write_bytes(text)
    with pytest.raises(PipelineError, match=written[0].path) as error:
        ingest(spark, store, str(trace))
    assert (error.value.code, store.snapshot().number) == ("damaged_segment", 0)
    taken = ingest(spark, store, str(trace), skip_damaged=True)
    assert sorted(what.partition(":")[0] for what in taken.damaged) == sorted(
        segment.path for segment in written[:2]
    )
    facts = store.read(
        spark, "segment", SEGMENT_FACTS, store.snapshot().parts_since("segment", 0)
    ).collect()
    assert {row["segment"] for row in facts if row["skipped"]} == {s.path for s in written[:2]}
    lost = min(20, sum(row["node"].startswith(written[0].node) for row in rows["delivery"]))
    assert {segment.node for segment in written[:2]} == {written[0].node}
    assert sum(row["rows"] for row in facts) == taken.rows == len(rows["delivery"]) - lost
