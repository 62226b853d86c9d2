"""Taking segments in: which are new, which are damaged, and their rows, in one commit.

How far each node's log of each kind has been taken is a position of the store, so a segment is
taken once. It stands in the manifest that makes the rows count: a job that is stopped anywhere
loses and doubles nothing.

A few segments are read and written by this process, many by Spark's workers: handing a few thousand
rows to these takes longer than Arrow takes for a million.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from groupcore.trace import Segment
from pipeline.errors import PipelineError, damaged_error
from pipeline.schemas import ARROW_FACTS
from pipeline.segments import (
    DamagedSegment,
    SegmentHead,
    list_settled,
    log_of,
    open_trace,
    read_head,
    read_rows,
    require_version,
    size_of,
)
from pipeline.source import TraceSource
from pipeline.store import Snapshot, Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POSITIONS = "ingest"
"""The position's name: `{"<node>/<kind>": [epoch, n]}`."""
HERE_BYTES_MAX: Final = 64 << 20
"""Segments of so many bytes in all are taken in by this process: some four million rows."""
HELD_ROWS: Final = 1 << 17
"""Rows that it holds at a time."""


@dataclass(frozen=True)
class Taken:
    """What one run has taken in; `damaged`: paths that it has passed over, and why."""

    segments: int
    rows: int
    damaged: tuple[str, ...]


def new_segments(
    trace: str, snapshot: Snapshot, ends: Mapping[str, Sequence[int]] | None = None
) -> list[Segment]:
    """What lies behind the store's positions, and not behind `ends`: positions as well."""
    taken = snapshot.positions.get(POSITIONS, {})
    return [
        segment
        for segment in list_settled(trace)
        if [segment.epoch, segment.n] > taken.get(log_of(segment), [-1, -1])
        and (ends is None or [segment.epoch, segment.n] <= list(ends.get(log_of(segment), ())))
    ]


def ingest(
    spark: SparkSession,
    store: Store,
    trace: str,
    *,
    skip_damaged: bool = False,
    ends: Mapping[str, Sequence[int]] | None = None,
    here_bytes_max: int = HERE_BYTES_MAX,
) -> Taken:
    """Take in what is new, up to `ends` where they are given, in one commit.

    Raises PipelineError: `trace_missing`, `mixed_versions`, `damaged_segment` (unless they are to
    be passed over), `store_busy`; then nothing has been taken.
    """
    base = store.snapshot()
    segments = new_segments(trace, base, ends)
    if not segments:
        return Taken(0, 0, ())
    heads, damaged = _heads(trace, segments)
    here = size_of(trace, segments, here_bytes_max) <= here_bytes_max
    if skip_damaged:
        whole = [s for s in segments if s in heads]
        damaged |= _read_through(trace, whole) if here else _unreadable(spark, trace, whole)
    elif damaged:
        raise damaged_error(next(iter(damaged.values())))
    require_version((segment, head) for segment, head in heads.items())
    whole = [segment for segment in segments if segment not in damaged]
    if not whole:
        raise PipelineError(
            "nothing_whole", "All new segments are damaged.", "Restore them from a copy."
        )
    parts: dict[str, Sequence[str]] = {}
    for kind in sorted({segment.kind for segment in whole}):
        own = [segment for segment in whole if segment.kind == kind]
        if here:
            parts[kind] = _write_here(store, base, trace, own)
        else:
            parts[kind] = _write(spark, store, base, trace, own)
    facts = _facts(store, parts, heads, damaged)
    parts["segment"] = [store.write_here(facts, "segment", base)]
    positions = dict(base.positions.get(POSITIONS, {}))
    for segment in sorted(segments, key=lambda s: (s.epoch, s.n)):
        positions[log_of(segment)] = [segment.epoch, segment.n]
    batch = f"ingest {base.number + 1} {hash_of(positions)}"
    store.commit(base, batch, add=parts, positions={POSITIONS: positions})
    return Taken(len(whole), sum(facts["rows"].to_pylist()), tuple(damaged.values()))


def hash_of(value: object) -> str:
    """A short name for a JSON value, the same in every process."""
    import hashlib

    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


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


def _read_through(trace: str, segments: Iterable[Segment]) -> dict[Segment, str]:
    """Which of these cannot be read whole; by a look at every row."""
    filesystem, folder = open_trace(trace)
    damaged: dict[Segment, str] = {}
    for segment in segments:
        try:
            for _ in read_rows(filesystem, folder, segment):
                pass
        except DamagedSegment as error:
            damaged[segment] = str(error)
    return damaged


def _unreadable(spark: SparkSession, trace: str, segments: Sequence[Segment]) -> dict[Segment, str]:
    """The same, by Spark's workers."""
    by_path = {segment.path: segment for segment in segments}
    if not by_path:
        return {}

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            asked = [by_path[path] for path in batch.column(0).to_pylist()]
            found = {one.path: why for one, why in _read_through(trace, asked).items()}
            columns = [pa.array(list(side), pa.string()) for side in (found, found.values())]
            yield pa.record_batch(columns, ["p", "why"])

    paths = spark.createDataFrame([(path,) for path in by_path], "p string")
    found = paths.repartition(min(len(by_path), 64)).mapInArrow(look, "p string, why string")
    return {by_path[row["p"]]: row["why"] for row in found.collect()}


def _write(
    spark: SparkSession, store: Store, base: Snapshot, trace: str, segments: Sequence[Segment]
) -> list[str]:
    """The rows of one kind, as parts of its table by days; by Spark's workers."""
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


def _write_here(store: Store, base: Snapshot, trace: str, segments: Sequence[Segment]) -> list[str]:
    """The same, by this process."""
    try:
        return store.write_days_here(_rows(trace, segments), segments[0].kind, base)
    except DamagedSegment as error:
        raise damaged_error(str(error)) from None


def _rows(trace: str, segments: Iterable[Segment]) -> Iterator[pa.Table]:
    """The rows of segments, some at a time."""
    filesystem, folder = open_trace(trace)
    held: list[pa.RecordBatch] = []
    count = 0
    for segment in segments:
        for batch in read_rows(filesystem, folder, segment):
            held.append(batch)
            count += batch.num_rows
            if count >= HELD_ROWS:
                yield pa.Table.from_batches(held)
                held, count = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _facts(
    store: Store,
    parts: Mapping[str, Sequence[str]],
    heads: Mapping[Segment, SegmentHead],
    damaged: Mapping[Segment, str],
) -> pa.Table:
    """A row a segment: what it says of itself, and what of it has been written."""
    written: dict[str, tuple[int, int, int]] = {}
    folders = [folder for of_kind in parts.values() for folder in of_kind]
    for batch in store.scan(folders, ["off", "segment"]):
        counted = pa.Table.from_batches([batch]).group_by("segment")
        for row in counted.aggregate(
            [("off", "count"), ("off", "min"), ("off", "max")]
        ).to_pylist():
            rows, first, last = written.get(row["segment"], (0, row["off_min"], row["off_max"]))
            written[row["segment"]] = (
                rows + row["off_count"],
                min(first, row["off_min"]),
                max(last, row["off_max"]),
            )
    said = []
    for segment in (*heads, *(damaged.keys() - heads.keys())):
        head = heads.get(segment)
        facts = written.get(segment.path, (0, None, None))
        shown = (None, None) if head is None else (head.every, head.recovered)
        said.append((segment.path, *segment[1:], *facts, *shown, segment in damaged))
    return pa.Table.from_pylist(
        [dict(zip(ARROW_FACTS.names, row, strict=True)) for row in said], ARROW_FACTS
    )
