"""Few rows: who reads them makes no difference to what they are."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import fs, parquet

from pipeline import few
from pipeline.few import at_hand, read_here
from pipeline.schemas import raw
from pipeline.session import suit
from pipeline.store import Store
from tests.pipeline.cluster import Cluster
from tests.pipeline.growing import Growing, numbered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS = ("accept", "delivery", "frame", "membership", "view")


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Store:
    """Of a cluster with views, and frames with contexts."""
    cluster = Cluster(3, nodes=2, groups=3, strict=1)
    cluster.run(100)
    cluster.fail("n1#1")
    cluster.run(50, changes=False)
    growing = Growing(spark, tmp_path)
    growing.add(numbered(cluster))
    return growing.store


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_the_same_whoever_reads_them(
    spark: SparkSession, store: Store, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    folders = store.snapshot().parts_since(kind, 0)
    here = store.read(spark, kind, raw(kind), folders)
    monkeypatch.setattr(few, "FEW_HERE_BYTES", -1)
    there = store.read(spark, kind, raw(kind), folders)
    assert (not here.inputFiles(), bool(there.inputFiles())) == (True, True)
    assert here.schema == there.schema
    assert sorted(map(repr, here.collect())) == sorted(map(repr, there.collect()))
    assert here.count() > 0


def test_what_spark_has_written_is_read_too(spark: SparkSession, tmp_path: Path) -> None:
    schema = "w timestamp, n bigint, sketch binary"
    written = spark.sql("select timestamp'2026-11-22 10:00:00.123456' w, 7L n, X'00ff' sketch")
    written.write.parquet(str(tmp_path / "rows"))
    paths = [str(path) for path in (tmp_path / "rows").glob("*.parquet")]
    (row,) = read_here(spark, fs.LocalFileSystem(), paths, schema).collect()
    (same,) = spark.read.schema(schema).parquet(str(tmp_path / "rows")).collect()
    assert (row, row["n"]) == (same, 7)


def test_columns_that_a_file_has_not_are_null(spark: SparkSession, tmp_path: Path) -> None:
    now = datetime(2026, 11, 22, 10, tzinfo=UTC)
    for name, columns in {"old": {"a": [1]}, "new": {"t": [now], "z": [0], "a": [2]}}.items():
        parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    paths = [str(tmp_path / f"{name}.parquet") for name in ("old", "new")]
    rows = read_here(spark, fs.LocalFileSystem(), paths, "a bigint, t timestamp").collect()
    assert [(row["a"], row["t"] is None) for row in rows] == [(1, True), (2, False)]


def test_many_rows_are_cached_and_few_are_computed_at_once(spark: SparkSession) -> None:
    computed = at_hand(spark.range(3))
    assert (computed.is_cached, computed.count()) == (False, 3)
    suit(spark, few=False)
    try:
        spark.conf.set("spark.sql.adaptive.enabled", "true")
        assert at_hand(spark.range(3)).is_cached
    finally:
        suit(spark, few=True)
