"""What runs on a simulated node as long as its process does: its objects, sessions and documents.

On virtual time what `groupcore.aio.objects.Node` is on an asyncio loop. A life of the node may end
without it (the cluster has gone on without the node): then all objects are opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from groupcore.endpoint import Turn
from groupcore.errors import GroupRefusedError
from groupcore.sequencing.events import (
    Created,
    Departed,
    Joined,
    Refused,
    Saved,
    ServiceEvent,
    StateWanted,
)
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.shared.body import Body
from groupcore.shared.documents.keeper import Keeper
from groupcore.shared.errors import OutcomeUnknownError
from groupcore.shared.events import SharedEvent
from groupcore.shared.group import GroupUser
from groupcore.shared.pending import Pending
from groupcore.shared.session import Session
from groupcore.shared.site import Site, SitePort
from groupcore.shared.tasks import wait
from groupcore.shared.unsaved import Unsaved
from groupcore.sim.clock import SECOND, Clock
from groupcore.sim.documents.entering import LINGER_S
from groupcore.sim.documents.lifetime import Lifetime
from groupcore.sim.documents.scribe import Scribe
from groupcore.sim.node import Node

EPOCH_S = 1_700_000_000.0
Place = tuple[Process, GroupId]
Watch = Callable[["Program", str, Body[object]], None]
"""Called with each copy of an object that a node begins to have."""
Tell = Callable[["Program", SharedEvent], None]


class Program:
    """`node` runs it; `number` tells it from other programs, of which a node may have had some."""

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
        self.scribe = scribe
        self.number = number
        self.service = service
        self.tasks = tasks
        self.by_group: dict[GroupId, Site] = {}
        self.by_name: dict[str, Site] = {}
        self.failures: list[Exception] = []
        self._clock = clock
        self._watch = watch
        self._tell = tell
        self._sessions: dict[Session, None] = {}
        self._creating: dict[int, Pending[GroupId]] = {}
        self._joining: dict[Place, tuple[int, Pending[int]]] = {}
        self._unsaved = Unsaved(wait)
        self._is_waking = False
        self._member: Process | None = None
        self._ids = 0
        self.keeper = Keeper(self, self.new_id, linger_s=LINGER_S)

    # --- lives ----------------------------------------------------------------------------------

    def live_again(self, service: Service, scribe: Scribe) -> None:
        """The next life of the node: all objects are opened anew, by other processes."""
        self.service, self.scribe = service, scribe
        error = GroupRefusedError("left", "the cluster has gone on without this node; join again")
        creating, self._creating = self._creating, {}
        joining, self._joining = self._joining, {}
        for asked in creating.values():
            asked.fail(error)
        for _, asking in joining.values():
            asking.fail(error)
        self._unsaved.end(OutcomeUnknownError("the cluster has gone on without this node"))
        self.by_group.clear()
        self._member = None
        for site in list(self.by_name.values()):
            site.interrupt()
        for session in list(self._sessions):
            session.interrupt()

    def end(self) -> None:
        """The process is dead."""
        self.tasks.end()

    # --- from the service -----------------------------------------------------------------------

    def hear(self, turn: Turn) -> None:
        """What the service says: the objects hear first, then who waits for it."""
        told: list[ServiceEvent] = []
        for event in turn.service_events:
            self.scribe.hear(event)
            if isinstance(event, StateWanted):
                self._settle_all(told)
                told = []
                site = self.by_group.get(event.group)
                state = None if site is None else site.copy_state()
                self.service.give_state(event.token, state)
                self.wake_soon()
                continue
            site = self.by_group.get(getattr(event, "group", 0))
            if site is not None:
                site.feed(event)
            told.append(event)
        self._settle_all(told)

    def _settle_all(self, told: list[ServiceEvent]) -> None:
        for event in told:
            self._settle(event)

    def _settle(self, event: ServiceEvent) -> None:
        match event:
            case Created(request, group, _, _):
                creating = self._creating.pop(request, None)
                if creating is not None:
                    creating.resolve(group)
            case Joined(group, seqno, process):
                _, joining = self._joining.pop((process, group), (0, None))
                if joining is not None:
                    joining.resolve(seqno)
            case Departed(group, _, process, _, past=False):
                _, joining = self._joining.pop((process, group), (0, None))
                if joining is not None:
                    joining.fail(GroupRefusedError("left", "it has left"))
            case Refused(request, code, detail):
                self._refuse(request, GroupRefusedError(code, detail))
            case Saved(group, message):
                self._unsaved.saved(group, message)

    def _refuse(self, request: int, error: GroupRefusedError) -> None:
        creating = self._creating.pop(request, None)
        if creating is not None:
            creating.fail(error)
        for place, (asked, joining) in list(self._joining.items()):
            if asked == request:
                del self._joining[place]
                joining.fail(error)

    # --- for sessions: their home and its groups ------------------------------------------------

    @property
    def groups(self) -> Program:
        """See `Home`."""
        return self

    @property
    def runtime(self) -> Lifetime:
        """See `Home`."""
        return self.tasks

    @property
    def options(self) -> ServiceOptions:
        """See `Groups`."""
        return self.service.plane.options

    @property
    def member(self) -> Process:
        """See `Home`."""
        if self._member is None:
            self._member = self.service.open_process()
        return self._member

    def session(self, *, attends: bool = False) -> Session:
        """Another process of this node; of a page it attends."""
        session = Session(self, attends=attends)
        session.begin()
        self._sessions[session] = None
        return session

    def forget(self, session: Session) -> None:
        """See `Home`."""
        self._sessions.pop(session, None)

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        """See `Home`."""
        site = self.by_name.get(name)
        if site is None:
            site = self.by_name[name] = _WatchedSite(self, name, kind, order)
        return site

    async def find_group(self, site: Site) -> None:
        """See `Home`."""
        if self.by_group.get(site.group) is site:
            return
        request = self.service.create(site.name, site.order, 0.0)
        pending: Pending[GroupId] = Pending(wait)
        self._creating[request] = pending
        self.wake_soon()
        site.group = await pending
        if self.by_name.get(site.name) is site:  # else it was dropped meanwhile
            self.by_group[site.group] = site

    def open_process(self) -> Process:
        """See `Groups`."""
        return self.service.open_process()

    def close_process(self, process: Process) -> None:
        """See `Groups`."""
        self.service.close_process(process, 0.0)
        self.scribe.closes(process)
        self.wake_soon()

    async def join(self, process: Process, group: GroupId) -> int:
        """See `Groups`."""
        return await self._enter("join", process, group)

    async def attend(self, process: Process, group: GroupId) -> int:
        """See `Groups`."""
        return await self._enter("attend", process, group)

    async def _enter(self, how: Literal["join", "attend"], process: Process, group: GroupId) -> int:
        if (process, group) in self._joining:
            raise GroupRefusedError("already_a_member", f"{process} joins group {group}")
        pending: Pending[int] = Pending(wait)
        ask = self.service.join if how == "join" else self.service.attend
        request = ask(process, group, 0.0)
        self.scribe.asks(request, how, process, group)
        self._joining[process, group] = request, pending
        self.wake_soon()
        return await pending

    def leave(self, process: Process, group: GroupId) -> None:
        """See `Groups`."""
        request = self.service.leave(process, group, 0.0)
        self.scribe.asks(request, "leave", process, group)
        self.wake_soon()

    def send(self, process: Process, group: GroupId, payloads: Sequence[bytes]) -> int:
        """See `Groups`."""
        number = self.service.send(process, group, payloads, 0.0)
        if number:
            self.scribe.sends(process, group, number - len(payloads) + 1, payloads)
            self._unsaved.sent(process, group, number)
        self.wake_soon()
        return number

    def send_volatile(self, process: Process, group: GroupId, payload: bytes) -> None:
        """See `Groups`."""
        self.service.send_volatile(process, group, payload, 0.0)
        self.wake_soon()

    async def saved(self) -> None:
        """Wait until what was sent here up to now survives the loss of all nodes."""
        await self._unsaved.none_left()

    def wake_soon(self) -> None:
        """Something was asked of the service."""
        if not self._is_waking and not self.tasks.is_over:
            self._is_waking = True
            self._clock.after(0, self._wake)

    def _wake(self) -> None:
        self._is_waking = False
        if not self.tasks.is_over:
            self.node.plan()

    def now_s(self) -> float:
        """See `Home`."""
        return EPOCH_S + self._clock.now_ns / SECOND

    def new_id(self) -> str:
        """An id for a block that nobody else gives."""
        self._ids += 1
        return f"{self.node.name}{self.number}-{self._ids}"

    def drop(self, site: Site) -> None:
        """Nobody has the object open any more."""
        if self.by_name.get(site.name) is site:
            del self.by_name[site.name]
        if self.by_group.get(site.group) is site:
            del self.by_group[site.group]

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

    @property
    def is_quiet(self) -> bool:
        """Whether it waits for no answer of the service."""
        return not self._creating and not self._joining


class _WatchedSite(Site):
    """A site of which each copy of the object is told."""

    def __init__(self, program: Program, name: str, kind: type[object], order: Order) -> None:
        super().__init__(name, kind, order, program.tell, program.drop, program.failed)
        self._program = program

    def attach(self, port: SitePort) -> GroupUser:
        """See `Site`."""
        is_new = self.body is None
        user = super().attach(port)
        if is_new and self.body is not None:
            self._program.begun(self.name, self.body)
        return user
