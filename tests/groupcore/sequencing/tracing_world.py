"""A world whose nodes write the trace, and the rows of it."""

from __future__ import annotations

from typing import Any

from groupcore.sequencing.trace_lines import rows_of
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
