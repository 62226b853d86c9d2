"""Taking segments in: which are new, which are damaged, and their rows, in one commit.

How far each node's log of each kind has been taken is a position of the store, so a segment is
taken once. It stands in the manifest that makes the rows count: a job that is stopped anywhere
loses and doubles nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from groupcore.trace import Segment
from pipeline.errors import PipelineError, damaged_error
from pipeline.schemas import SEGMENT_FACTS
from pipeline.segments import (
    DamagedSegment,
    SegmentHead,
    list_segments,
    open_trace,
    read_head,
    read_rows,
    require_version,
)
from pipeline.source import TraceSource
from pipeline.store import Snapshot, Store

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

POSITIONS = "ingest"
"""The position's name: `{"<node>/<kind>": [epoch, n]}`."""
RESTING = ("frame", "delivery")
"""Kinds whose rows are judged by rows of other kinds."""


@dataclass(frozen=True)
class Taken:
    """What one run has taken in; `damaged`: paths that it has passed over, and why."""

    segments: int
    rows: int
    damaged: tuple[str, ...]


def new_segments(trace: str, snapshot: Snapshot) -> list[Segment]:
    """What lies behind the store's positions.

    Nodes complete deliveries and frames behind what these rest on. Looking at a folder takes a
    while, so the latter is looked for once more: it is there when the former was seen.
    """
    taken = snapshot.positions.get(POSITIONS, {})
    resting = [one for one in list_segments(trace) if one.kind in RESTING]
    found = [one for one in list_segments(trace) if one.kind not in RESTING]
    return [
        segment
        for segment in sorted((*resting, *found))
        if [segment.epoch, segment.n] > taken.get(_log(segment), [-1, -1])
    ]


def ingest(spark: SparkSession, store: Store, trace: str, *, skip_damaged: bool = False) -> Taken:
    """Take in what is new, in one commit.

    Raises PipelineError: `trace_missing`, `mixed_versions`, `damaged_segment` (unless they are to
    be passed over), `store_busy`; then nothing has been taken.
    """
    base = store.snapshot()
    segments = new_segments(trace, base)
    if not segments:
        return Taken(0, 0, ())
    heads, damaged = _heads(trace, segments)
    if skip_damaged:
        damaged |= _unreadable(spark, trace, [s for s in segments if s in heads])
    elif damaged:
        raise damaged_error(next(iter(damaged.values())))
    require_version((segment, head) for segment, head in heads.items())
    whole = [segment for segment in segments if segment not in damaged]
    parts: dict[str, Sequence[str]] = {
        kind: _write(spark, store, base, trace, [s for s in whole if s.kind == kind])
        for kind in sorted({segment.kind for segment in whole})
    }
    facts = _facts(spark, store, parts, heads, damaged)
    parts["segment"] = [store.write(facts, "segment", base, files=1)]
    rows = store.read(spark, "segment", SEGMENT_FACTS, parts["segment"])
    total = rows.agg(F.sum("rows")).first()
    positions = dict(base.positions.get(POSITIONS, {}))
    for segment in sorted(segments, key=lambda s: (s.epoch, s.n)):
        positions[_log(segment)] = [segment.epoch, segment.n]
    batch = f"ingest {base.number + 1} {hash_of(positions)}"
    store.commit(base, batch, add=parts, positions={POSITIONS: positions})
    return Taken(len(whole), int(total[0] or 0) if total else 0, tuple(damaged.values()))


def hash_of(value: object) -> str:
    """A short name for a JSON value, the same in every process."""
    import hashlib

    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _log(segment: Segment) -> str:
    return f"{segment.node}/{segment.kind}"


def _heads(
    trace: str, segments: Sequence[Segment]
) -> tuple[dict[Segment, SegmentHead], dict[Segment, str]]:
    """What the segments say of themselves; and which cannot, with the reason."""
    filesystem, folder = open_trace(trace)
    heads: dict[Segment, SegmentHead] = {}
    damaged: dict[Segment, str] = {}
    for segment in segments:
        try:
            heads[segment] = read_head(filesystem, folder, segment)
        except DamagedSegment as error:
            damaged[segment] = str(error)
    return heads, damaged


def _unreadable(spark: SparkSession, trace: str, segments: Sequence[Segment]) -> dict[Segment, str]:
    """Which of these cannot be read whole; by a look at every row."""
    by_path = {segment.path: segment for segment in segments}

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from groupcore.trace import parse_path

        filesystem, folder = open_trace(trace)
        for batch in batches:
            for path in batch.column(0).to_pylist():
                segment = parse_path(path)
                try:
                    for _ in read_rows(filesystem, folder, segment) if segment else ():
                        pass
                except DamagedSegment as error:
                    yield pa.record_batch([pa.array([path]), pa.array([str(error)])], ["p", "why"])

    paths = spark.createDataFrame([(path,) for path in by_path], "p string")
    found = paths.repartition(min(len(by_path), 64)).mapInArrow(look, "p string, why string")
    return {by_path[row["p"]]: row["why"] for row in found.collect()}


def _write(
    spark: SparkSession, store: Store, base: Snapshot, trace: str, segments: Sequence[Segment]
) -> list[str]:
    """The rows of one kind, as parts of its table by days."""
    spark.dataSource.register(TraceSource)
    kind = segments[0].kind
    rows = (
        spark.read.format("groupcore")
        .option("trace", trace)
        .option("kind", kind)
        .option("segments", json.dumps([segment.path for segment in segments]))
        .load()
    )
    files = min(len(segments), 2 * spark.sparkContext.defaultParallelism)
    return store.write_days(rows, kind, base, files=files)


def _facts(
    spark: SparkSession,
    store: Store,
    parts: Mapping[str, Sequence[str]],
    heads: dict[Segment, SegmentHead],
    damaged: dict[Segment, str],
) -> DataFrame:
    """A row a segment: what it says of itself, and what of it has been written."""
    said: list[tuple[Any, ...]] = []
    for segment, head in heads.items():
        said.append((segment.path, *segment[1:], head.every, head.recovered, segment in damaged))
    for segment in damaged.keys() - heads.keys():
        said.append((segment.path, *segment[1:], None, None, True))
    columns = (
        "segment string, node string, kind string, epoch bigint, n bigint, every bigint,"
        " recovered boolean, skipped boolean"
    )
    counts: DataFrame | None = None
    for kind, folders in parts.items():
        counted = (
            store.read(spark, kind, "off bigint, segment string", folders)
            .groupBy("segment")
            .agg(
                F.count("*").alias("rows"),
                F.min("off").alias("first_off"),
                F.max("off").alias("last_off"),
            )
        )
        counts = counted if counts is None else counts.unionByName(counted)
    if counts is None:
        raise PipelineError(
            "nothing_whole", "All new segments are damaged.", "Restore them from a copy."
        )
    names = [part.split()[0] for part in SEGMENT_FACTS.split(", ")]
    joined = spark.createDataFrame(said, columns).join(F.broadcast(counts), "segment", "left")
    return joined.na.fill(0, ["rows"]).select(*names)
