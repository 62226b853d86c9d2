"""Observers of the cells of a node, for the trace: what was done, by whom held, how they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from groupcore.sequencing.names import Process
from groupcore.shared.body import Body
from groupcore.shared.machine import Done, digest_of
from groupcore.shared.places import Cell
from groupcore.shared.places.parts import Grabbed, Rang, Released, ThingsGone, Ticked
from groupcore.shared.places.refusals import ThingHeldError
from groupcore.sim.documents.person import what_of
from groupcore.sim.trace_documents import DocumentDone, DocumentHash
from groupcore.sim.trace_places import PlaceGone, PlaceHeld, PlaceRang, PlaceTicked

if TYPE_CHECKING:
    from groupcore.sim.places.cluster import PlaceCluster
    from groupcore.sim.places.program import PlaceProgram

HASHED_EVERY = 8


class CellWatch:
    """Of one copy of a cell, or of the outline."""

    def __init__(
        self, town: PlaceCluster, program: PlaceProgram, name: str, body: Body[object]
    ) -> None:
        self._town = town
        self._program = program
        self._name = name
        self._body = body

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""
        del process
        self._did(position, done)

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone."""
        del process
        self._did(position, done)

    def on_replaced(self) -> None:
        """The state was taken from another node."""
        self.hash()

    def _did(self, position: int, done: Done) -> None:
        view = self._program.node.view
        if view is None:
            return
        address, now = self._program.node.address, self._town.clock.now_ns
        place = (now, *address, self._name, view.epoch, self._body.machine.birth, position)
        add = self._town.trace.add
        add(DocumentDone(*place, what_of(done)))
        error = done.error
        if isinstance(error, ThingHeldError) and done.failed == "grab":
            by = cast("str", done.calls[0][1][1])
            add(PlaceHeld(*place, "refused", error.thing, by, error.holder))
        time_ms = self._body.machine.time_ms
        ended = [details for _, details in done.ended]
        for detail in [one for details in (*done.details, *ended) for one in details]:
            match detail:
                case Grabbed(things, holder):
                    for one in things:
                        add(PlaceHeld(*place, "got", one, str(holder), str(holder)))
                case Released(things):
                    for one in things:
                        add(PlaceHeld(*place, "free", one, "", ""))
                case ThingsGone(things):
                    for one in things:
                        add(PlaceGone(now, *address, one))
                case Ticked(number):
                    add(PlaceTicked(*place, number))
                case Rang(thing, due_ms):
                    add(PlaceRang(*place, thing, due_ms, time_ms))
        if position % HASHED_EVERY == 0:
            self.hash()
        if isinstance(self._body.machine.target, Cell):
            self._town.look(self._program)

    def hash(self) -> None:
        """Write down what the state is."""
        machine, node = self._body.machine, self._program.node
        if node.view is not None:
            sh = digest_of(machine.packed()).hex()
            place = (self._name, node.view.epoch, machine.birth, machine.position)
            record = DocumentHash(self._town.clock.now_ns, *node.address, *place, sh)
            self._town.trace.add(record)
