"""Sessions: many processes on one node, over one copy of each object.

    async with node.session(principal="ann") as session:
        clicks = await session.open(Counter, "clicks")

A session of a page *attends*: one process of its node is a member of the objects' groups, for all
of them, so that it comes and goes without an ordered message (`groupcore.shared.standing`).

A session is a process of its own: it has an id of its own, what it sends depends on what it has
been given, locks and leases are its, and it is given what happens in its objects in an order that
is right for it. What a node has of an object it has once: an operation is done once a node, and
to open what another session has open moves no state.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeVar, cast

from groupcore.errors import ChannelClosedError, GroupcoreError
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.changes import Change
from groupcore.shared.errors import ClosedError, DeclarationError
from groupcore.shared.messages import PRINCIPAL_MAX
from groupcore.shared.opening import check_name, order_of
from groupcore.shared.runtime import Runtime
from groupcore.shared.session_port import SessionPort
from groupcore.shared.site import Site
from groupcore.shared.streams import WAITING_MAX, Stream

T = TypeVar("T")

CLOSING_MAX = 200
"""So many objects of a session are closed at a time."""


class Groups(Protocol):
    """The service of a node. Each raises ChannelClosedError while the node is in no cluster."""

    @property
    def options(self) -> ServiceOptions:
        """How it is set."""

    def open_process(self) -> Process:
        """A new process of this node."""

    def close_process(self, process: Process) -> None:
        """The process leaves all its groups."""

    async def join(self, process: Process, group: GroupId) -> int:
        """JOIN-GROUP: the number from which on it is a member. GroupRefusedError."""

    async def attend(self, process: Process, group: GroupId) -> int:
        """Be given the group as its node's member is, without a number. GroupRefusedError."""

    def leave(self, process: Process, group: GroupId) -> None:
        """LEAVE-GROUP, or attend no more."""

    def send(self, process: Process, group: GroupId, payloads: Sequence[bytes]) -> int:
        """DO-MULTICAST: the process's own number of the last message. GroupRefusedError."""

    def send_volatile(self, process: Process, group: GroupId, payload: bytes) -> None:
        """A message that only counts until the next one; may be lost."""

    async def saved(self) -> None:
        """Wait until everything that was sent here up to now survives the loss of all nodes."""


class Home(Protocol):
    """What sessions need of their node."""

    @property
    def groups(self) -> Groups:
        """The service there."""

    @property
    def runtime(self) -> Runtime:
        """What runs coroutines there."""

    @property
    def member(self) -> Process:
        """The node's process that is in the groups, for the sessions that attend.

        Another one in each life of the node. ChannelClosedError while there is none.
        """

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        """The group of this name at the node."""

    async def find_group(self, site: Site) -> None:
        """See that the group exists; GroupRefusedError, ChannelClosedError."""

    def now_s(self) -> float:
        """The node's clock."""

    def authorize(self, name: str, text: bytes) -> bytes:
        """The node's authorization of operations on the object of this name; empty: none."""

    def forget(self, session: Session) -> None:
        """The session has ended."""


@dataclass(frozen=True, slots=True)
class SessionChange:
    """`change` has happened to the object that the session has open as `name`."""

    name: str
    change: Change


class Session:
    """One process of a node, with the objects that it has open.

    `principal`: on whose behalf it acts, for objects with an access list; empty: nobody's.
    `attends`: it is no member of its objects' groups, where these allow that
    (`SharedObject.sessions_join`); its node is.
    """

    def __init__(self, home: Home, principal: str = "", *, attends: bool = False) -> None:
        if len(principal) > PRINCIPAL_MAX:
            raise ValueError(f"a principal's name has {PRINCIPAL_MAX} characters at most")
        self.principal = principal
        self.home = home
        self.attends = attends
        self._process: Process | None = None
        self._ports: dict[str, SessionPort] = {}
        self._streams: list[Stream[SessionChange]] = []
        self._ended = False

    def begin(self) -> None:
        """The node is in the cluster (again): be a process of it. For the node."""
        self._process = self.home.groups.open_process()

    async def __aenter__(self) -> Self:
        """It is one from when it was made."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close all objects."""
        await self.close()

    async def close(self) -> None:
        """Close all objects; what is under way is still done, and then the process is over."""
        if self._ended:
            return
        self._ended = True
        ports = list(self._ports.values())
        try:
            for start in range(0, len(ports), CLOSING_MAX):
                await self._close_all(ports[start : start + CLOSING_MAX])
        finally:
            self.end(ClosedError("the session is closed"))
            with suppress(ChannelClosedError):
                self.home.groups.close_process(self.process)

    async def _close_all(self, ports: list[SessionPort]) -> None:
        """All are closed, whatever becomes of one of them; the first error is raised."""
        failed: GroupcoreError | None = None
        for closing in [self.home.runtime.spawn(port.close()) for port in ports]:
            try:
                await closing
            except GroupcoreError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def end(self, error: Exception) -> None:
        """It is over at once: whoever waits is told why."""
        self._ended = True
        for port in list(self._ports.values()):
            port.user.end(error)
        for stream in self._streams:
            stream.end()
        self._streams = []
        self.home.forget(self)

    @property
    def process(self) -> Process:
        """The session's process; another one when the cluster has gone on without its node."""
        if self._process is None:
            raise ChannelClosedError("the node is not connected; use `async with`")
        return self._process

    @property
    def ended(self) -> bool:
        """Whether it is closed."""
        return self._ended

    async def open(self, kind: type[T], name: str) -> T:
        """Open the object of this name, which is made if it is new.

        In one session there is one object of a name: opened again, it is the same one. Raises
        DeclarationError when `kind` cannot be opened, or is open at this node under that name as
        another, SchemaMismatchError when the cluster runs another version of the class,
        ForbiddenError when the principal may not read it, RefusedError: `bad_name` for what is no
        text of 1 to 64 characters.
        """
        check_name(name)
        former = self._ports.get(name)
        if former is not None and former.is_closing:
            await former.user.closed
        return cast("T", await self.port(kind, name).opened())

    async def let_go(self, name: str) -> None:
        """Close the object of this name, if it is open in this session."""
        port = self._ports.get(name)
        if port is not None:
            await port.close()

    def port(self, kind: type[object], name: str) -> SessionPort:
        """This session in the object's group; opened by who awaits `opened`."""
        if self._ended:
            raise ClosedError("the session is closed; begin a new one")
        check_name(name)
        order = order_of(kind)
        port = self._ports.get(name)
        if port is None:
            port = self._ports[name] = SessionPort(self, self.home.site(name, kind, order))
            if self._streams:
                port.follow(self._push)
        elif port.site.kind != kind:
            raise DeclarationError(f"{name} is open as {port.site.kind}; take another name")
        return port

    def changes(self, waiting_max: int = WAITING_MAX) -> Stream[SessionChange]:
        """What happens to all objects that the session has open, from now on, for `async for`.

        In one order, in which nothing comes before what it may depend on.
        """
        stream: Stream[SessionChange] = Stream(self.home.runtime.wait, waiting_max)
        self._streams = [one for one in self._streams if not one.ended] + [stream]
        for port in self._ports.values():
            port.follow(self._push)
        return stream

    def _push(self, name: str, change: Change) -> None:
        for stream in self._streams:
            stream.push(SessionChange(name, change))

    def interrupt(self) -> None:
        """The node lives again: go on as another process. For the node."""
        if self._ended:
            self.end(ClosedError("the session is closed"))
            return
        self.begin()
        for port in list(self._ports.values()):
            self.home.runtime.spawn(port.open_again(self.process))

    def detach(self, port: SessionPort) -> None:
        """An object of the session is closed."""
        if self._ports.get(port.site.name) is port:
            del self._ports[port.site.name]
