"""The tables' columns for Spark and for Arrow: those of the trace from `groupcore.trace`, and ours.

Spark's are texts of its DDL, which it takes wherever it takes a schema. Raw tables have the trace's
columns and behind them `segment`: the path of the segment that a row is from, below the trace.
"""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa

from groupcore.trace import REACHES, TABLES, Table

SEGMENT: Final = "segment"
"""The column that reading adds to each raw table."""

_ARROW: Final[dict[str, pa.DataType]] = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "array<string>": pa.list_(pa.string()),
    REACHES: pa.list_(pa.struct([("sequencer", pa.string()), ("frame", pa.int64())])),
}


def arrow_schema(table: Table) -> pa.Schema:
    """A trace table's columns as a segment has them."""
    return pa.schema([(column.name, _ARROW[column.kind]) for column in table.columns])


def raw(kind: str) -> str:
    """A raw table's columns as Spark has them."""
    return f"{TABLES[kind].ddl}, {SEGMENT} string"


def names_of(columns: str) -> list[str]:
    """The names of columns that are written as `name type, …`."""
    return list(re.findall(r"(?:^|, )(\w+) \w", columns))


SEGMENT_FACTS: Final = (
    "segment string, node string, kind string, epoch bigint, n bigint, rows bigint,"
    " first_off bigint, last_off bigint, every bigint, recovered boolean, skipped boolean,"
    " checked boolean"
)
"""Table `segment`: what has been taken in. `node` is the id; `skipped`: it was damaged; `checked`:
it was held against its checksum; null where it had none."""

ARROW_FACTS: Final = pa.schema(
    [(name, _ARROW[kind]) for name, kind in (c.split(" ") for c in SEGMENT_FACTS.split(", "))]
)
"""Its columns as Arrow has them."""

VIOLATION: Final = (
    "rule string, gid bigint, seq bigint, message string, node string, process string, dno bigint,"
    " segment string, gid2 bigint, seq2 bigint, message2 string, node2 string, process2 string,"
    " dno2 bigint, segment2 string, says string"
)
"""Table `audit_violation`: a row breaks `rule`; the columns with 2 say against what."""

NUMBERED: Final = (
    "node string, gid bigint, epoch bigint, lseq bigint, seq bigint, end bigint, sender string,"
    " first bigint"
)
"""What has been given numbers, `seq` to `end`; `sender` and `first` are null for a change."""

SPAN: Final = "node string, kind string, low bigint, high bigint"
"""Where lost rows lay in a life of a node, as of `pipeline.lost.Span`."""

PLACE: Final = "node string, gid bigint, dno bigint, seq bigint"
"""Up to which number a node has a group, as of a delivery number."""
