"""What runs on a node for documents: the service, and the program over it."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Protocol

from groupcore.endpoint import Endpoint, Turn
from groupcore.shared.body import Body
from groupcore.shared.events import SharedEvent
from groupcore.sim.clock import Clock
from groupcore.sim.documents.lifetime import Lifetime
from groupcore.sim.documents.program import Program
from groupcore.sim.documents.scribe import Scribe
from groupcore.sim.fault import NAMES
from groupcore.sim.groups.observer import ObservedService
from groupcore.sim.groups.scenario import DRAIN, MOVE, Act
from groupcore.sim.node import Node
from groupcore.sim.trace import Trace


class Town(Protocol):
    """What all hosts share. `watch` and `tell` are those of `Program`."""

    clock: Clock
    trace: Trace
    nodes: list[Node]
    programs: list[Program]

    def watch(self, program: Program, name: str, body: Body[object]) -> None:
        """See above."""

    def tell(self, program: Program, event: SharedEvent) -> None:
        """See above."""


class DocumentHost:
    """The guest of a node. `program` is what runs there now, None while nothing does."""

    keeps_state = True
    program_kind: type[Program] = Program

    def __init__(self, town: Town, node: Node, random: Random) -> None:
        self.program: Program | None = None
        self._town = town
        self._node = node
        self._random = random
        self._service: ObservedService | None = None
        self._stored = 0

    def may_start(self) -> bool:
        """See `Guest`."""
        return True

    def begin_life(self, endpoint: Endpoint) -> tuple[int, int] | None:
        """See `Guest`: the program goes on in it, or a new one begins."""
        service = endpoint.service
        assert isinstance(service, ObservedService)
        self._service = service
        town = self._town
        scribe = Scribe(endpoint.address, town.trace, town.clock)
        if self.program is not None:
            self.program.live_again(service, scribe)
        else:
            tasks = Lifetime(town.clock, self._node, self._random)
            number = len(town.programs)
            self.program = self.program_kind(
                self._node, number, service, town.clock, tasks, town.watch, town.tell, scribe
            )
            town.programs.append(self.program)
        return service.held

    def end_life(self, goes_on: bool) -> None:
        """See `Guest`."""
        self._service, self._stored = None, 0
        if self.program is not None and not goes_on:
            self.program.end()
            self.program = None

    def view(self) -> None:
        """See `Guest`."""
        if self._service is not None:
            self._service.write()

    def feed(self, now: float) -> None:
        """See `Guest`."""
        if self._service is not None and self._stored:
            self._service.stored(self._stored, now)
            self._stored = 0
        if self.program is not None:
            self.program.tasks.resume()

    def store(self, turn: Turn) -> None:
        """See `Guest`."""
        if turn.log:
            mark = turn.log[-1].mark
            self._node.disk.append(turn.log, partial(self._on_stored, self._service, mark))

    def _on_stored(self, service: ObservedService | None, mark: int) -> None:
        if service is not None and self._service is service:
            self._stored = mark
            self._node.plan()

    def hear(self, turn: Turn) -> None:
        """See `Guest`."""
        if self.program is not None:
            self.program.hear(turn)

    def act(self, act: Act) -> None:
        """What an operator asks for at this node: groups that it knows are moved, or a drain."""
        program = self.program
        if program is None or self._node.view is None:
            return
        if act.kind == MOVE:
            known = program.host.open_groups
            groups = tuple(sorted({known[one % len(known)] for one in act.groups if known}))
            address = self._town.nodes[act.target].address
            if groups:
                program.service.move(groups, address, "plan", 0.0)
        else:
            program.service.drain(NAMES[act.target], act.kind == DRAIN, 0.0)
        program.wake_soon()
