"""A world whose nodes write the trace, and the rows of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from groupcore.sequencing.trace_rows import NULL, Column, Gathered, Reaches
from groupcore.sequencing.tracing import Recorder
from groupcore.view import Address
from tests.groupcore.sequencing.world import Host, World

Row = dict[str, Any]


class Traced(World):
    """`rows` has what all nodes have written, by kind, in the order of each node."""

    def __init__(self, names: str, seed: int = 0, every: int = 1) -> None:
        self.recorders: dict[Address, Recorder] = {}
        self.every = every
        super().__init__(names, seed)

    def make_host(self, address: Address) -> Host:
        """A host whose service tells a recorder."""
        host = super().make_host(address)
        recorder = self.recorders[address] = Recorder(every=self.every)
        host.service.trace(recorder)
        return host

    def rows(self, kind: str) -> list[Row]:
        """The rows of this kind so far; they can be taken once."""
        return [row for row in self.take() if row["kind"] == kind]

    def take(self) -> list[Row]:
        """All rows since the last time, with their `kind` and `node`."""
        taken = (one for recorder in self.recorders.values() for one in recorder.take())
        return [row for gathered in taken for row in rows_of(gathered)]


def rows_of(gathered: Gathered) -> Iterable[Row]:
    """Columns as rows; what is not there is None."""
    columns = {name: _values(column) for name, column in gathered.columns.items()}
    for at in range(gathered.rows):
        row = {name: values[at] for name, values in columns.items()}
        yield row | {"kind": gathered.kind, "node": gathered.node}


def _values(column: Column) -> list[Any]:
    if isinstance(column, Reaches):
        pairs = list(zip(column.sequencers, column.frames, strict=True))
        starts, ends = column.ends[:-1], column.ends[1:]
        return [pairs[start:end] for start, end in zip(starts, ends, strict=True)]
    if isinstance(column, array):
        return [None if value == NULL else value for value in column]
    return list(column)
