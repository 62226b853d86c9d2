"""Rows that have gathered, as Arrow record batches.

The columns are 64-bit numbers already, so most are taken as they are; only texts are converted.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

import pyarrow as pa
import pyarrow.compute as pc

from groupcore.sequencing.trace_rows import NULL, Column, Gathered, Reaches
from groupcore.trace import REACHES, TABLES, Table
from groupcore.trace import Column as TableColumn

PSEUDONYM_BYTES = 16

TYPES = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "array<string>": pa.list_(pa.string()),
    REACHES: pa.list_(pa.struct([("sequencer", pa.string()), ("frame", pa.int64())])),
}
"""Arrow's names for the types of the tables."""


def schema_of(table: Table, metadata: dict[str, str]) -> pa.Schema:
    """The schema of a table's segments."""
    fields = [pa.field(column.name, TYPES[column.kind]) for column in table.columns]
    return pa.schema(fields, metadata)


class Encoder:
    """Makes batches; names of people and groups are hashed under `key`, if there is one."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key
        self._hashed: dict[str, str] = {}

    def batch(self, gathered: Gathered, off: int) -> pa.RecordBatch:
        """The rows, the first of which has the number `off`."""
        table, rows = TABLES[gathered.kind], gathered.rows
        arrays = []
        for column in table.columns:
            if column.name == "node":
                arrays.append(pa.repeat(pa.scalar(gathered.node, pa.string()), rows))
            elif column.name == "off":
                ones = pa.repeat(pa.scalar(1, pa.int64()), rows)
                arrays.append(pc.cumulative_sum(ones, start=off - 1))
            else:
                arrays.append(self._array(column, gathered.columns[column.name]))
        return pa.RecordBatch.from_arrays(arrays, schema=schema_of(table, {}))

    def _array(self, column: TableColumn, values: Column) -> pa.Array:
        if isinstance(values, Reaches):
            return _reaches(values)
        if isinstance(values, array):
            return _numbers(column.kind, values)
        if column.personal and self._key is not None:
            values = [self._pseudonym(one) for one in values]
        return pa.array(values, TYPES[column.kind])

    def _pseudonym(self, name: object) -> str | None:
        """The same for the same name, as long as the key is the same."""
        if name is None:
            return None
        text = str(name)
        hashed = self._hashed.get(text)
        if hashed is None:
            assert self._key is not None
            data = text.encode()
            digest = blake2b(data, key=self._key, digest_size=PSEUDONYM_BYTES, person=b"trace")
            hashed = self._hashed[text] = digest.hexdigest()
        return hashed


def _numbers(kind: str, values: array[int] | array[float]) -> pa.Array:
    """Numbers as they lie in memory, those below 0 as nulls."""
    buffers = [None, pa.py_buffer(values)]
    if kind == "double":
        return pa.Array.from_buffers(pa.float64(), len(values), buffers)
    numbers = pa.Array.from_buffers(pa.int64(), len(values), buffers)
    if pc.min(numbers).as_py() == NULL:
        numbers = pc.if_else(pc.equal(numbers, NULL), pa.scalar(None, pa.int64()), numbers)
    return numbers if kind == "bigint" else numbers.cast(TYPES[kind])


def _reaches(values: Reaches) -> pa.Array:
    entries = pa.StructArray.from_arrays(
        [pa.array(values.sequencers, pa.string()), _numbers("bigint", values.frames)]
        if values.sequencers
        else [pa.array([], pa.string()), pa.array([], pa.int64())],
        names=["sequencer", "frame"],
    )
    ends = pa.Array.from_buffers(pa.int32(), len(values.ends), [None, pa.py_buffer(values.ends)])
    return pa.ListArray.from_arrays(ends, entries)
