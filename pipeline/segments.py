"""The segments of a trace: which there are, what each says of itself, and its rows.

A trace is a folder, or the URI of one that Arrow knows (`s3://…`, `hdfs://…`). Segments that are
still written are never opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
from pyarrow import fs

from groupcore.trace import (
    CHECKSUM_BYTES,
    CHECKSUM_MARK,
    OPEN_SUFFIX,
    TABLES,
    VERSION,
    Segment,
    parse_path,
)
from pipeline.errors import PipelineError
from pipeline.schemas import SEGMENT, arrow_schema

RESTING = ("frame", "delivery")
"""Kinds whose rows are judged by rows of other kinds."""
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""The last bytes of an Arrow stream that was closed."""


class SegmentHead(NamedTuple):
    """What a segment's schema says: `every` 1, or one of so many rows is in it; `has_checksum`:
    reading its rows compares them with a checksum, which earlier versions did not have."""

    version: str
    every: int
    recovered: bool
    has_checksum: bool


class DamagedSegment(Exception):
    """A complete segment that cannot be read whole; the text begins with its path."""


def open_trace(trace: str) -> tuple[fs.FileSystem, str]:
    """The file system and the folder in it. Raises PipelineError `trace_missing`."""
    try:
        filesystem, folder = fs.FileSystem.from_uri(trace) if "://" in trace else _local(trace)
        info = filesystem.get_file_info(folder)
    except (OSError, ValueError) as error:
        raise PipelineError(
            "trace_missing", f"{trace} cannot be reached: {error}.", "Check the path."
        ) from None
    if info.type != fs.FileType.Directory:
        raise PipelineError(
            "trace_missing",
            f"{trace} is no folder.",
            "Name the folder that the nodes write to (--trace of `python -m server`).",
        )
    return filesystem, folder


def _local(trace: str) -> tuple[fs.FileSystem, str]:
    from pathlib import Path

    return fs.LocalFileSystem(), str(Path(trace).resolve())


def list_segments(trace: str) -> list[Segment]:
    """All complete segments, in the order of their dates, nodes and names."""
    filesystem, folder = open_trace(trace)
    found = filesystem.get_file_info(fs.FileSelector(folder, recursive=True))
    paths = (info.path for info in found if info.type == fs.FileType.File)
    segments = (parse_path(path) for path in paths if not path.endswith(OPEN_SUFFIX))
    return sorted(segment for segment in segments if segment is not None)


def list_settled(trace: str) -> list[Segment]:
    """All complete segments, so that what rests on others is there only with these.

    Nodes complete deliveries and frames behind what these rest on. Looking at a folder takes a
    while, so the latter is looked for once more: it is there when the former was seen.
    """
    resting = [one for one in list_segments(trace) if one.kind in RESTING]
    found = [one for one in list_segments(trace) if one.kind not in RESTING]
    return sorted((*resting, *found))


def log_of(segment: Segment) -> str:
    """The log that a segment is of, as positions name it."""
    return f"{segment.node}/{segment.kind}"


def size_of(trace: str, segments: Iterable[Segment], bytes_max: int) -> int:
    """How many bytes segments take; no longer looked at when it is more than `bytes_max`."""
    filesystem, folder = open_trace(trace)
    total = 0
    for segment in segments:
        total += filesystem.get_file_info(f"{folder}/{segment.path}").size or 0
        if total > bytes_max:
            break
    return total


def read_head(filesystem: fs.FileSystem, folder: str, segment: Segment) -> SegmentHead:
    """What the segment says of itself. Raises DamagedSegment, also where its end is missing."""
    path = f"{folder}/{segment.path}"
    try:
        with filesystem.open_input_file(path) as file:
            metadata = pa.ipc.open_stream(file).schema.metadata or {}
            said = {key.decode(): value.decode() for key, value in metadata.items()}
            has_checksum = said.get("groupcore.checksum") == "sha256"
            wanted = END_OF_STREAM + (CHECKSUM_MARK if has_checksum else b"")
            at = file.size() - len(wanted) - (CHECKSUM_BYTES if has_checksum else 0)
            if at < 0 or file.read_at(len(wanted), at) != wanted:
                raise DamagedSegment(f"{segment.path}: its end is missing")
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DamagedSegment(f"{segment.path}: {str(error)[:200]}") from None
    if said.get("groupcore.kind") != segment.kind:
        raise DamagedSegment(f"{segment.path}: it says that it is of another kind")
    return SegmentHead(
        said.get("groupcore.version", ""),
        int(said.get("groupcore.every", "1")),
        said.get("groupcore.recovered") == "true",
        has_checksum,
    )


def require_version(heads: Iterable[tuple[Segment, SegmentHead]]) -> None:
    """Raises PipelineError `mixed_versions` unless all are of this version or an earlier one."""
    known = {str(version) for version in range(1, VERSION + 1)}
    other = [(segment, head) for segment, head in heads if head.version not in known]
    if other:
        segment, head = other[0]
        raise PipelineError(
            "mixed_versions",
            f"{len(other)} segments have a later version than {VERSION}, or none; the first,"
            f" {segment.path}, has {head.version or 'none'}.",
            "Read them with the pipeline of the release that wrote them, into a store of its own.",
        )


def read_rows(filesystem: fs.FileSystem, folder: str, segment: Segment) -> Iterator[pa.RecordBatch]:
    """The segment's rows with its path behind them; a column that it has not is null.

    Raises DamagedSegment at the first batch that cannot be read, and before any row where the
    checksum is that of other bytes. The whole file is in memory: nodes complete one at 64 MB.
    """
    wanted = arrow_schema(TABLES[segment.kind])
    try:
        with filesystem.open_input_file(f"{folder}/{segment.path}") as file:
            data = file.read_buffer()
            stream = pa.ipc.open_stream(data)
            if (stream.schema.metadata or {}).get(b"groupcore.checksum") == b"sha256":
                _require_sum(data, segment)
            for batch in stream:
                if batch.column("t").null_count:
                    raise DamagedSegment(f"{segment.path}: a row has no time")
                yield _fitted(batch, wanted, segment.path)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DamagedSegment(f"{segment.path}: {str(error)[:200]}") from None


def _require_sum(data: pa.Buffer, segment: Segment) -> None:
    """Raises DamagedSegment unless the bytes are those of the checksum behind them."""
    body = memoryview(data)[: data.size - CHECKSUM_BYTES - len(CHECKSUM_MARK)]
    told = bytes(memoryview(data)[data.size - CHECKSUM_BYTES :])
    if hashlib.sha256(body).digest() != told:
        raise DamagedSegment(f"{segment.path}: its checksum is of other bytes than these")


def _fitted(batch: pa.RecordBatch, wanted: pa.Schema, path: str) -> pa.RecordBatch:
    """The batch in exactly the columns that are wanted, and the path of its segment."""
    present = set(batch.schema.names)
    columns = [
        _cast(batch.column(field.name), field.type)
        if field.name in present
        else pa.nulls(batch.num_rows, field.type)
        for field in wanted
    ]
    columns.append(pa.repeat(pa.scalar(path), batch.num_rows))
    return pa.record_batch(columns, schema=wanted.append(pa.field(SEGMENT, pa.string())))


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
