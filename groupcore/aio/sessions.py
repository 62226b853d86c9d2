"""Sessions: many processes on one node, over one copy of each object.

    async with node.session(principal="ann") as session:
        clicks = await session.open(Counter, "clicks")

A session is a process of its own: it has an id of its own, what it sends depends on what it has
been given, locks and leases are its, and it is given what happens in its objects in an order that
is right for it. What a node has of an object it has once: an operation is done once a node, and
to open what another session has open moves no state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeVar, cast

from groupcore.aio.group_node import GroupNode
from groupcore.aio.waiting import wait
from groupcore.errors import ChannelClosedError, GroupRefusedError
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.shared.changes import Change
from groupcore.shared.errors import ClosedError, DeclarationError, ForbiddenError, RefusedError
from groupcore.shared.group import GroupUser
from groupcore.shared.messages import PRINCIPAL_MAX
from groupcore.shared.opening import order_of
from groupcore.shared.pending import Wait
from groupcore.shared.replica import Replica
from groupcore.shared.site import Site
from groupcore.shared.streams import WAITING_MAX, Stream

T = TypeVar("T")

OPENING_S = 2.0
"""How long who closes an object waits for its opening; behind that the process is a member yet."""
REJOIN_S = 0.02
"""Pause before a process that has just left a group asks again to join it."""
CLOSING_MAX = 200
"""So many objects of a session are closed at a time."""
REOPEN_S = 0.5
"""Pause before a node that is outside the cluster again tries to open its objects again."""


class Sites(Protocol):
    """What a session needs of its node."""

    groups: GroupNode

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        """The group of this name at the node."""

    async def find_group(self, site: Site) -> None:
        """See that the group exists; GroupRefusedError."""

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine beside everything else."""

    def now_s(self) -> float:
        """The node's clock."""

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
    """

    def __init__(self, node: Sites, principal: str = "") -> None:
        if len(principal) > PRINCIPAL_MAX:
            raise ValueError(f"a principal's name has {PRINCIPAL_MAX} characters at most")
        self.principal = principal
        self.node = node
        self._process: Process | None = None
        self._ports: dict[str, _Port] = {}
        self._streams: list[Stream[SessionChange]] = []
        self._ended = False

    def begin(self) -> None:
        """The node is in the cluster (again): be a process of it. For the node."""
        self._process = self.node.groups.open_process()

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
                closing = [port.close() for port in ports[start : start + CLOSING_MAX]]
                for outcome in await asyncio.gather(*closing, return_exceptions=True):
                    if isinstance(outcome, BaseException):
                        raise outcome
        finally:
            self.end(ClosedError("the session is closed"))
            with suppress(ChannelClosedError):
                self.node.groups.close_process(self.process)

    def end(self, error: Exception) -> None:
        """It is over at once: whoever waits is told why."""
        self._ended = True
        for port in list(self._ports.values()):
            port.user.end(error)
        for stream in self._streams:
            stream.end()
        self._streams = []
        self.node.forget(self)

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
        ForbiddenError when the principal may not read it, RefusedError.
        """
        former = self._ports.get(name)
        if former is not None and former.is_closing:
            await former.user.closed
        return cast("T", await self.port(kind, name).opened())

    async def let_go(self, name: str) -> None:
        """Close the object of this name, if it is open in this session."""
        port = self._ports.get(name)
        if port is not None:
            await port.close()

    def port(self, kind: type[object], name: str) -> _Port:
        """This session in the object's group; opened by who awaits `opened`."""
        if self._ended:
            raise ClosedError("the session is closed; begin a new one")
        order = order_of(kind)
        port = self._ports.get(name)
        if port is None:
            port = self._ports[name] = _Port(self, self.node.site(name, kind, order))
            if self._streams:
                port.follow(self._push)
        elif port.site.kind != kind:
            raise DeclarationError(f"{name} is open as {port.site.kind}; take another name")
        return port

    def changes(self, waiting_max: int = WAITING_MAX) -> Stream[SessionChange]:
        """What happens to all objects that the session has open, from now on, for `async for`.

        In one order, in which nothing comes before what it may depend on.
        """
        stream: Stream[SessionChange] = Stream(wait, waiting_max)
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
            self.node.start(port.open_again(self.process))

    def detach(self, port: _Port) -> None:
        """An object of the session is closed."""
        if self._ports.get(port.site.name) is port:
            del self._ports[port.site.name]


def _look_at(opening: asyncio.Task[object]) -> None:
    """Who has asked may have given up: then nobody hears why it has failed."""
    if not opening.cancelled():
        opening.exception()


class _Port:
    """A session in one group: the `GroupPort` of this shell."""

    __slots__ = (
        "_alarm",
        "_is_open",
        "_joined_as",
        "_object",
        "_opening",
        "_session",
        "is_closing",
        "site",
        "user",
    )
    wait: Wait = staticmethod(wait)

    def __init__(self, session: Session, site: Site) -> None:
        self.site = site
        self._session = session
        self._alarm: asyncio.TimerHandle | None = None
        self._opening: asyncio.Task[object] | None = None
        self._is_open = False
        self._object: object = None
        self._joined_as: Process | None = None
        self.is_closing = False
        self.user: GroupUser = site.attach(self)
        self.user.closed.when_done(self._on_closed)

    async def opened(self) -> object:
        """The object, once it can be used; whoever waits for it waits for one opening."""
        if self._is_open:
            return self._object
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_task(self._open())
            self._opening.add_done_callback(_look_at)
        return await asyncio.shield(self._opening)

    async def _open(self) -> object:
        try:
            await self._session.node.find_group(self.site)
            self._object = await self.user.open()
            self._is_open = True
            self._opening = None  # a task is large, and there are many ports
            return self._object
        except ForbiddenError:
            raise  # it leaves, and is closed when it has left
        except GroupRefusedError as error:
            refused = RefusedError(error.code, str(error))
            self.user.end(refused)
            raise refused from None
        except BaseException:
            self.user.end(ClosedError(f"{self.site.name} could not be opened"))
            raise

    async def open_again(self, process: Process) -> None:
        """The node lives again, the session as `process`: find the group and begin anew."""
        while not self.user.closed.done and process == self._session.process:
            try:
                await self._session.node.find_group(self.site)
            except (GroupRefusedError, ChannelClosedError):
                await asyncio.sleep(REOPEN_S)
                continue
            if self.is_closing:
                self.user.end(ClosedError("the session is closed"))  # in this life it never was in
            elif not self.user.closed.done:
                self.user.restart()
            return

    async def close(self) -> None:
        """Close the object; when it was never opened, at once, and one that is, behind that."""
        self.is_closing = True
        opening = self._opening
        if opening is not None and not opening.done():
            # Its JOIN is under way: only who is in can leave.
            await asyncio.wait([opening], timeout=OPENING_S)
        has_failed = opening is not None and opening.done() and not opening.cancelled()
        if self._is_open or has_failed:
            await self.user.close()
        else:
            self.user.end(ClosedError("the session is closed"))

    def follow(self, tell: Callable[[str, Change], None]) -> None:
        """Tell of every change, too."""
        if isinstance(self.user, Replica):
            self.user.watchers.tap = lambda change: tell(self.site.name, change)

    def _on_closed(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._session.detach(self)
        self.site.detach(self)

    # --- what the user asks for -----------------------------------------------------------------

    @property
    def group(self) -> GroupId:
        """The group's number."""
        return self.site.group

    @property
    def process(self) -> Process:
        """The session's process."""
        return self._session.process

    @property
    def principal(self) -> str:
        """On whose behalf the session acts."""
        return self._session.principal

    @property
    def _groups(self) -> GroupNode:
        return self._session.node.groups

    def now_s(self) -> float:
        """The node's clock."""
        return self._session.node.now_s()

    def wake_at(self, at_s: float) -> None:
        """Have the user called at this time."""
        if self._alarm is not None:
            self._alarm.cancel()
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_at(loop.time() + at_s - self.now_s(), self.user.on_time)

    def join(self) -> None:
        """Ask to be a member."""
        if self._joined_as == self.process:
            return  # its opening and the node's next life have met
        self._joined_as = self.process
        self._session.node.start(self._join(self.process))

    async def _join(self, process: Process) -> None:
        try:
            while self._joined_as == process and not self.user.closed.done:
                try:
                    await self._groups.join(process, self.group)
                    if self._joined_as != process:  # it was closed meanwhile, and nobody was in
                        self._groups.leave(process, self.group)
                    return
                except GroupRefusedError as error:
                    if error.code != "already_a_member":
                        raise
                # It has left, and the record does not show it yet.
                await asyncio.sleep(REJOIN_S)
        except (GroupRefusedError, ChannelClosedError) as error:
            if process == self._session.process:
                code = error.code if isinstance(error, GroupRefusedError) else "left"
                self.user.end(RefusedError(code, str(error)))

    def leave(self) -> None:
        """Ask to be no member any more."""
        self._joined_as = None
        try:
            self._groups.leave(self.process, self.group)
        except ChannelClosedError:
            self.user.end(ClosedError("the node is outside the cluster"))

    def send(self, payload: bytes) -> int:
        """Multicast; RefusedError when it cannot be sent."""
        groups = self._groups
        most = groups.options.message_bytes_max
        if len(payload) > most:
            raise RefusedError("too_large", f"a message has {most} bytes at most; split it")
        try:
            if self.site.order is Order.VOLATILE:
                groups.send_volatile(self.process, self.group, payload)
                return 0
            number = groups.send(self.process, self.group, [payload])
        except ChannelClosedError as error:
            raise ClosedError(str(error)) from None
        if not number:
            raise RefusedError("unknown_group", f"there is no group {self.group} any more")
        return number

    def give_state(self, token: int, state: bytes) -> None:
        """Never asked: `Site.copy_state` answers for the whole node."""
