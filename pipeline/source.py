"""Spark's data source over a trace: `spark.read.format("groupcore").option("kind", …)`.

Options: `trace`, the folder; `kind`, the table; for a batch `segments`, a JSON list of paths below
the trace (without it: all of the kind). Each segment is a partition. As a stream its offsets are
the last segment of each node; a batch takes what has been completed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)

from groupcore.trace import Segment, parse_path
from pipeline.schemas import raw
from pipeline.segments import list_segments, open_trace, read_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

Offset = dict[str, list[int]]
"""Of each node's id the writer's epoch and the number of its last segment of the kind."""


class SegmentPartition(InputPartition):
    """A segment, which one task reads."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(None)
        self.segment = segment


class TraceSource(DataSource):
    """The rows of one kind in a trace."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.trace, self.kind = options["trace"], options["kind"]

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "groupcore"

    def schema(self) -> str:
        """The table's columns and the segment's path."""
        return raw(self.kind)

    def reader(self, schema: StructType) -> DataSourceReader:
        """For a batch."""
        return TraceReader(self.trace, self.kind, self.options.get("segments"))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """For a stream."""
        return TraceStreamReader(self.trace, self.kind)


class TraceReader(DataSourceReader):
    """A batch: the segments that are named, or all."""

    def __init__(self, trace: str, kind: str, segments: str | None) -> None:
        self._trace = trace
        self._kind = kind
        self._segments = segments

    def partitions(self) -> Sequence[InputPartition]:
        """One a segment."""
        if self._segments is None:
            chosen = list_segments(self._trace)
        else:
            chosen = [s for s in map(parse_path, json.loads(self._segments)) if s is not None]
        return [SegmentPartition(segment) for segment in chosen if segment.kind == self._kind]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Its rows; DamagedSegment ends the job."""
        assert isinstance(partition, SegmentPartition)
        yield from read_rows(*open_trace(self._trace), partition.segment)


class TraceStreamReader(DataSourceStreamReader):
    """A stream: of each node, segments in the order of their names."""

    def __init__(self, trace: str, kind: str) -> None:
        self._trace = trace
        self._kind = kind

    def initialOffset(self) -> Offset:
        """Before all segments."""
        return {}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """The last complete segment of each node."""
        return dict(start) | {
            segment.node: [segment.epoch, segment.n]
            for segment in sorted(self._segments(), key=lambda s: (s.epoch, s.n))
        }

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """What lies behind `start`, up to and with `end`."""
        return [
            SegmentPartition(segment)
            for segment in self._segments()
            if start.get(segment.node, [-1, -1])
            < [segment.epoch, segment.n]
            <= end.get(segment.node, [-1, -1])
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Its rows; DamagedSegment ends the query."""
        assert isinstance(partition, SegmentPartition)
        yield from read_rows(*open_trace(self._trace), partition.segment)

    def _segments(self) -> list[Segment]:
        return [segment for segment in list_segments(self._trace) if segment.kind == self._kind]
