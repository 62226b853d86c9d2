"""Rows of the trace one by one: for who has no columns, as the simulator and its tests."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping

from groupcore.sequencing.trace_rows import NULL, Column, Gathered, Reaches, Rows, Value

Row = dict[str, Value]
"""A row by the names of its columns, with its `kind` and `node`; without `off`."""


def rows_of(gathered: Gathered) -> Iterator[Row]:
    """The rows of some columns; what is null is None, a context a list of pairs."""
    columns = {name: _values(column) for name, column in gathered.columns.items()}
    for at in range(gathered.rows):
        row: Row = {"kind": gathered.kind, "node": gathered.node}
        row.update({name: values[at] for name, values in columns.items()})
        yield row


def gather(rows: Iterable[Mapping[str, Value]], rows_max: int = 2_000) -> Iterator[Gathered]:
    """The columns of some rows, of one kind and node each; KeyError for a kind that there is not.

    Rows of a kind and node stay in their order.
    """
    kept: dict[tuple[str, str], Rows] = {}
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        key = (str(row["kind"]), str(row["node"]))
        some = kept.get(key)
        if some is None:
            some, counts[key] = kept.setdefault(key, Rows(key[0])), 0
        some.add(dict(row))
        counts[key] += 1
        if counts[key] == rows_max:
            del kept[key]
            yield Gathered(*key, rows_max, some.columns)
    for key, some in kept.items():
        yield Gathered(*key, counts[key], some.columns)


def _values(column: Column) -> list[Value]:
    if isinstance(column, Reaches):
        pairs = list(zip(column.sequencers, column.frames, strict=True))
        starts, ends = column.ends[:-1], column.ends[1:]
        return [pairs[start:end] for start, end in zip(starts, ends, strict=True)]
    if isinstance(column, array):
        return [None if value == NULL else value for value in column]
    return list(column)
