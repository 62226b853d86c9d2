"""What runs on a simulated node with pages: its gateway, and a program that may keep objects."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

from groupcore.endpoint import Endpoint
from groupcore.errors import GroupcoreError
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.kinds import kinds_of
from groupcore.sequencing.events import (
    Delivered,
    Departed,
    Enrolled,
    Joined,
    ServiceEvent,
    StateInstalled,
)
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.service import Service
from groupcore.shared.object import SharedObject
from groupcore.shared.runtime import elapse
from groupcore.shared.types import Counter, List, Lock, Map, Presence
from groupcore.sim.clock import Clock
from groupcore.sim.documents.host import DocumentHost
from groupcore.sim.documents.lifetime import Lifetime
from groupcore.sim.documents.program import Program, Tell, Watch
from groupcore.sim.documents.scribe import Scribe
from groupcore.sim.node import Node

TYPES: dict[str, type[object]] = {
    "Counter": Counter,
    "List": List[str],
    "Lock": Lock,
    "Map": Map[str, int],
    "Presence": Presence[str],
}
OBJECTS = {
    "list": "List",
    "words": "List",
    "map": "Map",
    "clicks": "Counter",
    "key": "Lock",
    "people": "Presence",
}
"""What pages may open, and of which type it is."""
KINDS = kinds_of(TYPES)
LINGER_S = 0.4
"""How long a session waits for its page, and a page that has come back may leave open what it has
not asked for again."""
POLL_S = 0.05


def snapshot_of(name: str, target: object) -> object:
    """What a page is shown of the object of this name."""
    assert isinstance(target, SharedObject)
    return KINDS[OBJECTS[name]].snapshot(target, -1)


class PageProgram(Program):
    """`gateway` serves pages as long as the process runs; `reached`: the last number that was told
    of each group. `types`: what pages may open.
    """

    types: ClassVar[Mapping[str, type[object]]] = TYPES

    def __init__(
        self,
        node: Node,
        number: int,
        service: Service,
        clock: Clock,
        tasks: Lifetime,
        watch: Watch,
        tell: Tell,
        scribe: Scribe,
    ) -> None:
        super().__init__(node, number, service, clock, tasks, watch, tell, scribe)
        self.gateway = Gateway(self, self.types, linger_s=LINGER_S)
        self.reached: dict[GroupId, int] = {}
        self._keeps = False

    def _receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            match event:
                case Delivered(group=group, seqno=seqno, payloads=payloads):
                    self._reach(group, seqno + len(payloads) - 1)
                case Joined() | Departed() | Enrolled() | StateInstalled():
                    self._reach(event.group, event.seqno)
        super()._receive(events)

    def _reach(self, group: GroupId, seqno: int) -> None:
        self.reached[group] = max(seqno, self.reached.get(group, 0))

    def live_again(self, service: Service, scribe: Scribe) -> None:
        """See `Program`."""
        self.reached.clear()
        super().live_again(service, scribe)

    @property
    def is_settled(self) -> bool:
        """Whether no answer of the service is waited for, and no session is about to end."""
        at_pages = len(self.gateway.pages) + self._keeps
        is_ending = self.gateway.lingering or len(self.host.sessions) != at_pages
        return self.is_quiet and not is_ending

    def keep(self) -> None:
        """Have all objects open from now on, as a program's own."""
        if not self._keeps:
            self._keeps = True
            self.tasks.spawn(self._keep())

    async def _keep(self) -> None:
        while True:
            with suppress(GroupcoreError):
                session = self.session()
                for name, kind in OBJECTS.items():
                    await session.open(TYPES[kind], name)
                while not session.ended:
                    await elapse(self.runtime, POLL_S)
            await elapse(self.runtime, POLL_S)


class PageHost(DocumentHost):
    """The guest of a node with pages. `is_kept`: its program keeps the objects."""

    program_kind = PageProgram
    is_kept = False

    def begin_life(self, endpoint: Endpoint) -> tuple[int, int] | None:
        """See `Guest`."""
        held = super().begin_life(endpoint)
        assert isinstance(self.program, PageProgram)
        if self.is_kept:
            self.program.keep()
        return held
