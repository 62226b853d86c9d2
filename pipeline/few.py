"""Few rows: this process reads them, and what is used twice is computed before Spark goes on.

Of a store with little in it Spark spends its time on plans, not on rows: it opens each file by a
task of its own, and goes through everything that a frame comes from again with each step behind it.
A frame of rows that are at hand has neither; and where it knows that there are none, or that a
condition leaves none, Spark leaves out all that would be done with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import pyarrow as pa
from pyarrow import fs, parquet
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from pipeline.session import adapts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEW_HERE_BYTES: Final = 128 << 10
"""Up to so many bytes in a table's parts they are read here: some ten thousand rows."""


def read_here(
    spark: SparkSession, files: fs.FileSystem, paths: Sequence[str], schema: str
) -> DataFrame:
    """The rows of these files as Spark would read them: columns that one has not are null."""
    columns = cast(StructType, StructType.fromDDL(schema))
    wanted = to_arrow_schema(columns, timezone="UTC")
    tables = []
    for path in paths:
        with parquet.ParquetFile(path, filesystem=files) as file:
            names = set(file.schema_arrow.names)
            rows = file.read([field.name for field in wanted if field.name in names])
        values = [
            rows.column(field.name).cast(field.type)
            if field.name in names
            else pa.nulls(rows.num_rows, field.type)
            for field in wanted
        ]
        tables.append(pa.table(values, schema=wanted))
    frame: DataFrame = spark.createDataFrame(pa.concat_tables(tables), columns)
    return frame


def at_hand(frame: DataFrame) -> DataFrame:
    """What is used more than once: of few rows computed at once, else cached when it is."""
    return frame.cache() if adapts(frame.sparkSession) else settled(frame)


def settled(frame: DataFrame) -> DataFrame:
    """Computed, and without its past: Spark looks at all of that again with each step behind it.

    Few rows by one task: what a task is told takes longer than what it does with them.
    """
    rows = frame if adapts(frame.sparkSession) else frame.coalesce(1)
    context = frame.sparkSession.sparkContext
    return rows.checkpoint() if context.getCheckpointDir() else rows.localCheckpoint()
