"""Spark's data sources over a trace: the rows of one kind, and how far the logs have grown.

`spark.read.format("groupcore")` takes the options `trace`, the folder; `kind`, the table; and
`segments`, a JSON list of paths below the trace (without it: all of the kind). Each segment is a
partition.

`spark.readStream.format("groupcore-growth")` takes `trace`. Its offsets are positions: of each log
the last segment that is complete; and its rows say the same. A stream of the rows themselves would
be one for each kind, and of one moment there would be deliveries without what they rest on.
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
from pipeline.segments import list_segments, list_settled, log_of, open_trace, read_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

Offset = dict[str, list[int]]
"""Of each log the writer's epoch and the number of its last segment."""
GROWTH = "log string, epoch bigint, n bigint"
"""Columns of the stream."""


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


class GrowthSource(DataSource):
    """How far the logs of a trace are complete, as a stream."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.trace = options["trace"]

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "groupcore-growth"

    def schema(self) -> str:
        """A row a log: the writer's epoch and the number of its last segment."""
        return GROWTH

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """For a stream."""
        return GrowthReader(self.trace)


class GrowthPartition(InputPartition):
    """Where the logs stand at the end of a batch."""

    def __init__(self, offset: Offset) -> None:
        super().__init__(None)
        self.offset = offset


class GrowthReader(DataSourceStreamReader):
    """A batch ends where the logs are complete when it begins."""

    def __init__(self, trace: str) -> None:
        self._trace = trace

    def initialOffset(self) -> Offset:
        """Before all segments."""
        return {}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """The last complete segment of each log."""
        return dict(start) | {
            log_of(segment): [segment.epoch, segment.n]
            for segment in sorted(list_settled(self._trace), key=lambda s: (s.epoch, s.n))
        }

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """All logs, those as well that have not grown."""
        return [GrowthPartition(end)]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, int, int]]:
        """A row a log."""
        assert isinstance(partition, GrowthPartition)
        for log, (epoch, n) in partition.offset.items():
            yield log, epoch, n
