"""A store whose trace grows, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.audit import Audited
from pipeline.certificate import describe
from pipeline.ingest import ingest
from pipeline.judging import judge, keep
from pipeline.store import Store
from tests.pipeline.cluster import Cluster, Row
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2026, 11, 22, tzinfo=UTC)
Rows = dict[str, list[Row]]


def numbered(cluster: Cluster) -> Rows:
    """A cluster's rows, with their numbers in the logs."""
    written: Rows = dict(cluster.rows)
    for of_kind in written.values():
        numbers: Counter[str] = Counter()
        for row in of_kind:
            row["off"] = numbers[row["node"]]
            numbers[row["node"]] += 1
    return written


class Growing:
    """A store whose trace grows, and is audited each time."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.trace = folder / "trace"
        self.store = Store(str(folder / "store"))
        self.n = 0

    def write(self, rows: Rows) -> None:
        """Rows that nodes have written since the last time."""
        for kind, of_kind in rows.items():
            write_segments(self.trace, {kind: of_kind}, size=10_000, first=self.n)
        self.n += 1

    def add(self, rows: Rows) -> None:
        """The same, and they are taken in."""
        self.write(rows)
        ingest(self.spark, self.store, str(self.trace))

    def audit(self, *, whole: bool = False) -> tuple[Audited, bool]:
        """The audit's result, and whether everything was judged."""
        snapshot = self.store.snapshot()
        audited, logs, all_of_it = judge(self.spark, self.store, snapshot, whole=whole)
        parts, frontier = keep(self.store, snapshot, audited, logs)
        said = describe(audited, "store", snapshot.number, NOW)
        positions = {"audit": said, "audit_frontier": frontier.position()}
        batch = f"audit {snapshot.number}"
        self.store.commit(snapshot, batch, replace=parts, positions=positions)
        # As jobs that follow a trace do, behind each of their batches.
        self.spark.catalog.clearCache()
        return audited, all_of_it


def divided(rows: Rows, parts: int) -> Sequence[Rows]:
    """The rows by time; but one node's logs are a part behind."""
    times = sorted(row["t"] for of_kind in rows.values() for row in of_kind)
    ends = [times[len(times) * part // parts] for part in range(1, parts)]
    result: list[Rows] = [{} for _ in range(parts)]
    for kind, of_kind in rows.items():
        for row in of_kind:
            part = sum(row["t"] >= end for end in ends) + (row["node"] == "n0#1")
            result[min(part, parts - 1)].setdefault(kind, []).append(row)
    return result
