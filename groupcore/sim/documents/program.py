"""The program of a simulated node, which runs as long as its process does.

It drives on virtual time the host that a `groupcore.aio.objects.Node` drives on an asyncio loop
(`groupcore.host`). A life of the node may end without it (the cluster has gone on without the
node): then all objects are opened again.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.endpoint import Turn
from groupcore.host import ObjectHost
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.service import Service
from groupcore.shared.body import Body
from groupcore.shared.documents.keeper import Keeper
from groupcore.shared.events import SharedEvent
from groupcore.shared.session import Session
from groupcore.shared.site import Site
from groupcore.sim.clock import SECOND, Clock
from groupcore.sim.documents.entering import LINGER_S
from groupcore.sim.documents.lifetime import Lifetime
from groupcore.sim.documents.scribe import Scribe
from groupcore.sim.documents.scribed import ScribedGroups
from groupcore.sim.node import Node
from groupcore.view import View

EPOCH_S = 1_700_000_000.0
Watch = Callable[["Program", str, Body[object]], None]
"""Called with each copy of an object that a node begins to have."""
Tell = Callable[["Program", SharedEvent], None]


class Program:
    """`node` runs it; `number` tells it from other programs, of which a node may have had some.

    `host` has its objects and sessions, `groups` their groups.
    """

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
        self.node = node
        self.number = number
        self.tasks = tasks
        self.failures: list[Exception] = []
        self._clock = clock
        self._watch = watch
        self._tell = tell
        self._is_waking = False
        self._ids = 0
        self.groups = ScribedGroups(
            scribe,
            tasks.wait,
            service.plane.options,
            self.wake_soon,
            self._receive,
            lambda group: self.host.copy_state(group),
        )
        self.groups.begin_life(service)
        self.host = ObjectHost(self.groups, tasks, self.now_s, self)
        self.keeper = Keeper(self, self.new_id, linger_s=LINGER_S)

    # --- lives ----------------------------------------------------------------------------------

    def live_again(self, service: Service, scribe: Scribe) -> None:
        """The next life of the node: all objects are opened anew, by other processes."""
        self.groups.scribe = scribe
        self.groups.begin_life(service)
        self.host.begin_again()

    def end(self) -> None:
        """The process is dead."""
        self.tasks.end()

    # --- for the service ------------------------------------------------------------------------

    @property
    def service(self) -> Service:
        """That of the present life."""
        return self.groups.service

    def hear(self, turn: Turn) -> None:
        """What the service says: the objects hear first, then who waits for it."""
        self.groups.hear(turn.service_events)

    def _receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            self.groups.scribe.hear(event)
            self.host.receive((event,))

    def wake_soon(self) -> None:
        """Something was asked of the service."""
        if not self._is_waking and not self.tasks.is_over:
            self._is_waking = True
            self._clock.after(0, self._wake)

    def _wake(self) -> None:
        self._is_waking = False
        if not self.tasks.is_over:
            self.node.plan()

    # --- for what runs in it --------------------------------------------------------------------

    @property
    def runtime(self) -> Lifetime:
        """Virtual time."""
        return self.tasks

    @property
    def node_id(self) -> str:
        """See `Station`, with which the gateway for browsers may stand here."""
        return self.node.name

    @property
    def is_durable(self) -> bool:
        """See `Station`."""
        return self.groups.options.durable

    @property
    def is_congested(self) -> bool:
        """See `Station`."""
        return self.groups.requests.congested

    @property
    def queued_bytes(self) -> int:
        """See `Station`: disks keep up."""
        return 0

    @property
    def view(self) -> View | None:
        """See `Station`."""
        return self.node.view

    @property
    def is_primary(self) -> bool:
        """See `Station`."""
        return self.node.primary

    def session(self, principal: str = "", *, attends: bool = False) -> Session:
        """Another process of this node; of a page it attends."""
        return self.host.session(principal, attends=attends)

    def now_s(self) -> float:
        """The node's clock: seconds since 1970."""
        return EPOCH_S + self._clock.now_ns / SECOND

    def new_id(self) -> str:
        """An id for a block that nobody else gives."""
        self._ids += 1
        return f"{self.node.name}{self.number}-{self._ids}"

    @property
    def is_quiet(self) -> bool:
        """Whether it waits for no answer of the service."""
        return self.groups.requests.is_quiet

    # --- told by its objects --------------------------------------------------------------------

    def begun(self, name: str, body: Body[object]) -> None:
        """There is a copy of an object here from now on."""
        self._watch(self, name, body)

    def tell(self, event: SharedEvent) -> None:
        """An object says something."""
        self._tell(self, event)

    def failed(self, site: Site, error: Exception) -> None:
        """A bug of ours."""
        del site
        self.failures.append(error)
