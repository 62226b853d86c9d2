"""Shared objects for asyncio programs.

    async with Node("demo", node_id="a") as node:
        clicks = await node.open(Counter, "clicks")
        print(await clicks.add(1))

A node is one process of the sequencing service; each object is a group. When the cluster has gone
on without the node, all its objects are opened again by themselves: they are the same Python
objects, with the cluster's state.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Self, TypeVar, Unpack, cast

from groupcore.aio.group_node import GroupNode, NodeSettings, Over
from groupcore.errors import ChannelClosedError, GroupRefusedError
from groupcore.sequencing.events import ServiceEvent, StateWanted
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.errors import ClosedError, DeclarationError, ForbiddenError, RefusedError
from groupcore.shared.events import Diverged, MessageRejected, SharedEvent
from groupcore.shared.group import GroupUser
from groupcore.shared.opening import order_of, user_of
from groupcore.shared.pending import Signal, Wait

log = logging.getLogger(__name__)

T = TypeVar("T")

REOPEN_S = 0.5
"""Pause before a node that is outside the cluster again tries to open its objects again."""


def log_event(event: SharedEvent) -> None:
    """What a node does with what its objects say, unless it was given something else."""
    if isinstance(event, Diverged):
        log.error("replicas have parted: %s", event)
    elif isinstance(event, MessageRejected):
        log.warning("a message was no operation of this program: %s", event)


def wait(signal: Signal) -> Generator[object, None, None]:
    """Wait for a signal on the running loop."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not future.done():
            future.set_result(None)

    signal.when_done(wake)
    yield from future


class Node:
    """One node, with the shared objects that it has open. Use it from one loop.

    `principal`: on whose behalf it acts, for objects with an access list; empty: nobody's.
    `on_event` is called with what objects say beside their changes (`Diverged`, `OperationFailed`,
    `MessageRejected`); it must not raise. Settings are those of `Channel`.
    """

    def __init__(
        self,
        cluster: str,
        *,
        node_id: str,
        principal: str = "",
        on_event: Callable[[SharedEvent], None] = log_event,
        options: ServiceOptions | None = None,
        **settings: Unpack[NodeSettings],
    ) -> None:
        self.principal = principal
        self._on_event = on_event
        self._process: Process | None = None
        self._by_name: dict[str, _Port] = {}
        self._by_group: dict[GroupId, _Port] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = False
        self._clock_s = 0.0
        self.groups = GroupNode(
            cluster,
            node_id=node_id,
            receiver=self._receive,
            copy_state=self._copy_state,
            options=options,
            **settings,
        )

    async def __aenter__(self) -> Self:
        """Join the cluster, or form it; errors are those of `Channel.connect`."""
        self._clock_s = time.time() - asyncio.get_running_loop().time()
        await self.groups.__aenter__()
        self._process = self.groups.open_process()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the cluster."""
        await self.close()

    async def close(self) -> None:
        """Close all objects and leave the cluster."""
        self._ended = True
        for task in self._tasks:
            task.cancel()
        for port in list(self._by_name.values()):
            port.user.end(ClosedError("the node is closed"))
        await self.groups.close()

    @property
    def process(self) -> Process:
        """The node's process; another one when the cluster has gone on without this node."""
        if self._process is None:
            raise ChannelClosedError("the node is not connected; use `async with`")
        return self._process

    async def open(self, kind: type[T], name: str) -> T:
        """Open the object of this name, which is made if it is new.

        At one node there is one object of a name: opened again, it is the same one. Raises
        DeclarationError when `kind` cannot be opened, or is open under that name as another,
        SchemaMismatchError when the cluster runs another version of the class, RefusedError.
        """
        order = order_of(kind)
        port = self._by_name.get(name)
        if port is None:
            port = self._by_name[name] = _Port(self, name, kind, order)
        elif port.kind != kind:
            raise DeclarationError(f"{name} is open as {port.kind}; take another name")
        return cast("T", await port.opened())

    async def room(self) -> None:
        """Wait while too much of what this node sends has not been accepted.

        Who awaits results need not; who calls operations in a loop without awaiting them should.
        """
        await self.groups.room()

    def now_s(self) -> float:
        """Seconds since 1970 when the node was connected, and steady since then."""
        return self._clock_s + asyncio.get_running_loop().time()

    # --- from the service -----------------------------------------------------------------------

    def _receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Over):
                self._begin_again()
                continue
            port = self._by_group.get(getattr(event, "group", 0))
            if port is not None:
                port.feed(event)

    def _copy_state(self, group: GroupId) -> bytes | None:
        port = self._by_group.get(group)
        return None if port is None else port.copy_state()

    def _begin_again(self) -> None:
        """Another life of the node: another process, and all objects are opened anew."""
        if self._ended:
            return
        self._process = self.groups.open_process()
        self._by_group.clear()
        for port in list(self._by_name.values()):
            port.user.interrupt()
            self.start(port.open_again(self._process))

    # --- for the ports --------------------------------------------------------------------------

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine beside everything else, until the node is closed."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def attach(self, group: GroupId, port: _Port) -> None:
        """This port wants the group's events."""
        self._by_group[group] = port

    def detach(self, port: _Port) -> None:
        """The port's object is closed."""
        self._by_name = {name: one for name, one in self._by_name.items() if one is not port}
        self._by_group = {group: one for group, one in self._by_group.items() if one is not port}

    def tell(self, event: SharedEvent) -> None:
        """An object says something."""
        self._on_event(event)


class _Port:
    """A node's process in one group: the `GroupPort` of this shell."""

    wait: Wait = staticmethod(wait)

    def __init__(self, node: Node, name: str, kind: type[object], order: Order) -> None:
        self.kind = kind
        self.group: GroupId = 0
        self._node = node
        self._name = name
        self._order = order
        self._state: bytes | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._opening: asyncio.Task[object] | None = None
        self.user: GroupUser = user_of(kind, self)
        self.user.closed.when_done(self._on_closed)

    async def opened(self) -> object:
        """The object, once it can be used; whoever waits for it waits for one opening."""
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> object:
        try:
            await self._find_group()
            return await self.user.open()
        except ForbiddenError:
            raise  # it leaves, and is closed when it has left
        except GroupRefusedError as error:
            refused = RefusedError(error.code, str(error))
            self.user.end(refused)
            raise refused from None
        except BaseException:
            self.user.end(ClosedError(f"{self._name} could not be opened"))
            raise

    async def _find_group(self) -> None:
        self.group = await self._node.groups.create(self._name, self._order)
        self._node.attach(self.group, self)

    async def open_again(self, process: Process) -> None:
        """The node lives again, as `process`: find the group and begin anew."""
        if self._opening is None or not self._opening.done():
            return  # the first opening fails, and says so
        while not self.user.closed.done and process == self._node.process:
            try:
                await self._find_group()
            except (GroupRefusedError, ChannelClosedError):
                await asyncio.sleep(REOPEN_S)
                continue
            self.user.restart()
            return

    def _on_closed(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._node.detach(self)

    # --- what the user asks for -----------------------------------------------------------------

    @property
    def process(self) -> Process:
        """The node's process."""
        return self._node.process

    @property
    def principal(self) -> str:
        """On whose behalf the node acts."""
        return self._node.principal

    def now_s(self) -> float:
        """The node's clock."""
        return self._node.now_s()

    def wake_at(self, at_s: float) -> None:
        """Have the user called at this time."""
        if self._alarm is not None:
            self._alarm.cancel()
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_at(loop.time() + at_s - self.now_s(), self.user.on_time)

    def join(self) -> None:
        """Ask to be a member."""
        self._node.start(self._join(self.process))

    async def _join(self, process: Process) -> None:
        try:
            await self._node.groups.join(process, self.group)
        except (GroupRefusedError, ChannelClosedError) as error:
            if process == self._node.process:
                code = error.code if isinstance(error, GroupRefusedError) else "left"
                self.user.end(RefusedError(code, str(error)))

    def leave(self) -> None:
        """Ask to be no member any more."""
        try:
            self._node.groups.leave(self.process, self.group)
        except ChannelClosedError:
            self.user.end(ClosedError("the node is outside the cluster"))

    def send(self, payload: bytes) -> int:
        """Multicast; RefusedError when it cannot be sent."""
        groups = self._node.groups
        most = groups.options.message_bytes_max
        if len(payload) > most:
            raise RefusedError("too_large", f"a message has {most} bytes at most; split it")
        try:
            if self._order is Order.VOLATILE:
                groups.send_volatile(self.process, self.group, payload)
                return 0
            number = groups.send(self.process, self.group, [payload])
        except ChannelClosedError as error:
            raise ClosedError(str(error)) from None
        if not number:
            raise RefusedError("unknown_group", f"there is no group {self.group} any more")
        return number

    def give_state(self, token: int, state: bytes) -> None:
        """The answer to `copy_state`'s question."""
        self._state = state

    # --- what the node tells --------------------------------------------------------------------

    def copy_state(self) -> bytes | None:
        """The object's state as of the last event; None when it has ended here."""
        self._state = None
        self.user.feed(StateWanted(0, self.group))
        return self._state

    def feed(self, event: ServiceEvent) -> None:
        """Hand an event to the user; a bug of ours ends that object only."""
        try:
            said = self.user.feed(event)
        except Exception:
            log.exception("the object %s has failed and is closed", self._name)
            self.user.end(ClosedError(f"{self._name} has failed"))
            return
        for one in said:
            self._node.tell(one)
