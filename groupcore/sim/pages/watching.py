"""An observer of a node's copy of an object that pages have open, for the trace."""

from __future__ import annotations

from groupcore.sequencing.names import Process
from groupcore.shared.body import Body
from groupcore.shared.machine import Done, digest_of
from groupcore.sim.clock import Clock
from groupcore.sim.documents.person import what_of
from groupcore.sim.documents.program import Program
from groupcore.sim.trace import Trace
from groupcore.sim.trace_documents import DocumentDone, DocumentHash

HASHED_EVERY = 8


class CopyWatch:
    """What was done there, and what its state is now and then."""

    def __init__(
        self, clock: Clock, trace: Trace, program: Program, name: str, body: Body[object]
    ) -> None:
        self._clock = clock
        self._trace = trace
        self._program = program
        self._name = name
        self._body = body

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""
        del process
        view = self._program.node.view
        if view is not None:
            place = (self._name, view.epoch, self._body.machine.birth, position)
            address, now = self._program.node.address, self._clock.now_ns
            self._trace.add(DocumentDone(now, *address, *place, what_of(done)))
        if position % HASHED_EVERY == 0:
            self.hash()

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone."""
        self.on_done(position, process, done)

    def on_replaced(self) -> None:
        """The state was taken from another node."""
        self.hash()

    def hash(self) -> None:
        """Write down what the state is."""
        machine, node = self._body.machine, self._program.node
        if node.view is not None:
            place = (self._name, node.view.epoch, machine.birth, machine.position)
            sh = digest_of(machine.packed()).hex()
            record = DocumentHash(self._clock.now_ns, *node.address, *place, sh)
            self._trace.add(record)
