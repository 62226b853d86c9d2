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
    parts: dict[str, Sequence[str]] = dict(
        _write_here(store, base, trace, whole) if here else _write(spark, store, base, trace, whole)
    )
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
) -> dict[str, list[str]]:
    """Of each kind the folders of its rows by days; by Spark's workers.

    They write with Arrow, as one process does: handed to Spark each row would become an object, and
    be made a column again, which takes three times as long.
    """
    tasks = _tasks(segments, 2 * spark.sparkContext.defaultParallelism)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for task in batch.column(0).to_pylist():
                kind, own = tasks[task][0].kind, tasks[task]
                found = store.write_days(_rows(trace, own), kind, base, f"rows-{task:04d}")
                columns = [pa.array([kind] * len(found), pa.string()), pa.array(found, pa.string())]
                yield pa.record_batch(columns, ["kind", "folder"])

    numbers = spark.range(len(tasks), numPartitions=len(tasks))
    parts: dict[str, list[str]] = {kind: [] for kind in sorted({one.kind for one in segments})}
    for row in numbers.mapInArrow(work, "kind string, folder string").distinct().collect():
        parts[row["kind"]].append(row["folder"])
    return {kind: sorted(folders) for kind, folders in parts.items()}


def _tasks(segments: Sequence[Segment], count: int) -> list[list[Segment]]:
    """About so many lists, each with segments of one kind that follow each other."""
    most = -(-len(segments) // count)
    kinds: dict[str, list[Segment]] = {}
    for segment in segments:
        kinds.setdefault(segment.kind, []).append(segment)
    return [own[at : at + most] for own in kinds.values() for at in range(0, len(own), most)]


def _write_here(
    store: Store, base: Snapshot, trace: str, segments: Sequence[Segment]
) -> dict[str, list[str]]:
    """The same, by this process."""
    try:
        return {
            task[0].kind: store.write_days(_rows(trace, task), task[0].kind, base)
            for task in _tasks(segments, 1)
        }
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
        checked = None if head is None or not head.has_checksum else segment not in damaged
        said.append((segment.path, *segment[1:], *facts, *shown, segment in damaged, checked))
    return pa.Table.from_pylist(
        [dict(zip(ARROW_FACTS.names, row, strict=True)) for row in said], ARROW_FACTS
    )
