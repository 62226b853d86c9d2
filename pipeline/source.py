"""A data source of Spark: how far the logs of a trace have grown.

`spark.readStream.format("groupcore-growth")` takes `trace`. Its offsets are positions: of each log
the last segment that is complete; and its rows say the same. A stream of the rows themselves would
be one for each kind, and of one moment there would be deliveries without what they rest on.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    InputPartition,
)

from pipeline.segments import list_settled, log_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

Offset = dict[str, list[int]]
"""Of each log the writer's epoch and the number of its last segment."""
GROWTH = "log string, epoch bigint, n bigint"
"""Columns of the stream."""


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
