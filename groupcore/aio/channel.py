"""The channel: a member of a group, for asyncio programs.

    async with Channel("demo", node_id="a") as channel:
        await channel.multicast(b"hello")
        async for message in channel:
            print(message.origin, message.payload)

Every member of the group gets every multicast, its own included, in one and the same order. A
channel that the group went on without makes a new life by itself: the reader sees `Excluded`, then
a fresh `ViewInstalled`, and takes the state that it has missed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from groupcore.aio.errors import JoinRefusedError, ReaderTooSlowError
from groupcore.aio.inbox import APPLICATION_EVENTS, Inbox, Message
from groupcore.aio.lineage import Lineage, MemoryLineage
from groupcore.aio.lives import Lives
from groupcore.aio.node import Node, Receiver
from groupcore.aio.settings import check_settings
from groupcore.endpoint import Delivery
from groupcore.errors import (
    ChannelClosedError,
    GroupcoreError,
    IdInUseError,
    MessageTooLargeError,
    NotAMemberError,
    NotPrimaryError,
)
from groupcore.events import (
    Congested,
    Event,
    Excluded,
    Leave,
    Left,
    PrimaryLost,
    PrimaryRegained,
    Refused,
    Synced,
    ViewInstalled,
)
from groupcore.peers import SocketAddress
from groupcore.stacks import DEFAULT_STACK, StackOptions, plan_stack
from groupcore.view import Address, View

log = logging.getLogger(__name__)

UNSENT_BYTES_MAX = 1 << 20
"""What one loop turn may send before the sender lets the loop turn, and hears of congestion."""


class Channel:
    """One member of one group on the running loop.

    Deliveries go to `receiver` (called once a turn with a list), or, without one, to the
    iterators. `view` is the present view, None outside; `primary` tells whether this member can
    take part in the order now. Use one channel from one loop and one task at a time.
    """

    def __init__(
        self,
        cluster: str,
        *,
        node_id: str,
        bind: str = "127.0.0.1",
        port: int = 0,
        multicast: str | None = "228.8.8.8:45588",
        initial_hosts: Sequence[str] = (),
        key: bytes | None = None,
        ttl: int = 0,
        cluster_size: int = 1,
        application_state: bool = False,
        stack: str | Sequence[str] = DEFAULT_STACK,
        stack_options: StackOptions | None = None,
        lineage: Lineage | None = None,
        receiver: Receiver | None = None,
        datagram_bytes_max: int | None = None,
        leave_timeout_s: float = 2.0,
    ) -> None:
        """Check the settings; nothing is opened before `connect`.

        `cluster` and `key` are the same at all members. `node_id` is this node's own, at all
        times. `multicast` None: no multicast, copies go to the members and to `initial_hosts`
        (`host:port`), through which they are found; give `port` then. `key` None: loopback only.
        `cluster_size` is how many nodes the cluster has; its first view needs a majority of them.
        `application_state`: the application keeps state of its own and says with `synced` how far
        it is; until then this member has no vote on what was lost. `stack` names the layers, lowest
        first, as a string or a list; `stack_options` tunes them. `lineage` keeps what must outlive
        this process. `datagram_bytes_max` None: 60,000 on loopback, 1,400 elsewhere.
        `leave_timeout_s` bounds `close`.

        SettingsError, KeyFileError and CompositionError name what is wrong and the remedy.
        """
        self.view: View | None = None
        self._settings = check_settings(
            cluster,
            node_id=node_id,
            bind=bind,
            port=port,
            multicast=multicast,
            initial_hosts=initial_hosts,
            key=key,
            ttl=ttl,
            cluster_size=cluster_size,
            application_state=application_state,
            datagram_bytes_max=datagram_bytes_max,
        )
        self._lives = Lives(
            self._settings,
            plan_stack(stack, stack_options),
            lineage or MemoryLineage(),
            self._on_deliveries,
            self._fail,
        )
        self._receiver = receiver
        self._leave_timeout_s = leave_timeout_s
        self._inbox = Inbox()
        self._inbox.on_relief = self._lives.wake_soon
        self._lives.backlog_bytes = self._inbox.backlog_bytes
        self._first_view: asyncio.Future[View] | None = None
        self._left = asyncio.Event()
        self._may_send = asyncio.Event()
        self._uncongested = asyncio.Event()
        self._sending: Node | None = None
        self._congested = False
        self._primary = False
        self._closed = False
        self._error: GroupcoreError | None = None

    async def connect(self, epoch: int = 0, position: int = 0) -> View:
        """Join the group, or form it; returns the first view, however long that takes.

        `epoch` and `position` say up to where the application's own storage holds the order.
        Raises PortInUseError, LineageError, IdInUseError, JoinRefusedError; then, and when it is
        cancelled, the channel is closed. Connect a channel once.
        """
        if self._first_view is not None or self._closed:
            raise ChannelClosedError("this channel was connected before; make a new one")
        self._lives.held = (epoch, position)
        self._first_view = asyncio.get_running_loop().create_future()
        try:
            await self._lives.open()
            return await self._first_view
        except BaseException:
            await self._shut_down()
            raise

    async def close(self) -> None:
        """Leave the group gracefully, within `leave_timeout_s`, and close the sockets."""
        node = self._lives.node
        if not self._closed and node is not None and self.view is not None:
            node.notify(Leave())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), self._leave_timeout_s)
        await self._shut_down()

    async def __aenter__(self) -> Self:
        """Connect with nothing in storage."""
        await self.connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()

    async def multicast(self, payload: bytes) -> None:
        """Send a message to the group in the total order; waits while the group is congested.

        It waits too while this member is outside the primary view. Messages of one loop turn
        travel together. ChannelClosedError, MessageTooLargeError.
        """
        node = self._sending
        if node is not None and len(payload) <= self._lives.message_bytes_max:
            node.send(None, payload)
            if node.unsent_bytes > UNSENT_BYTES_MAX:
                await asyncio.sleep(0)
            return
        await self._until_may_send()
        self.multicast_nowait(payload)

    async def multicast_all(self, payloads: Sequence[bytes]) -> None:
        """Send messages in this order, as `multicast` does, or none if one is too large."""
        await self._until_may_send()
        if payloads:
            node = self._living(max(payloads, key=len))
            node.send_all(payloads)
            if node.unsent_bytes > UNSENT_BYTES_MAX:
                await asyncio.sleep(0)

    async def _until_may_send(self) -> None:
        while not self._may_send.is_set():
            self._check_open()
            await self._may_send.wait()

    def multicast_nowait(self, payload: bytes) -> None:
        """Send a message to the group without waiting: the caller bounds how much it sends.

        NotPrimaryError while in no view; ChannelClosedError, MessageTooLargeError.
        """
        self._living(payload).send(None, payload)

    async def unicast(self, destination: Address, payload: bytes) -> None:
        """Send a message to one member of the view, in the order of sending.

        It waits while too much is on the way, not for the primary view. NotAMemberError,
        NotPrimaryError (no view); ChannelClosedError, MessageTooLargeError.
        """
        while self._congested:
            self._check_open()
            await self._uncongested.wait()
        node = self._living(payload)
        if self.view is None or destination not in self.view.members:
            raise NotAMemberError(f"{destination} is not in the view; send to one of its members")
        node.send(destination, payload)
        if node.unsent_bytes > UNSENT_BYTES_MAX:
            await asyncio.sleep(0)

    def synced(self, epoch: int, position: int) -> None:
        """Say that everything up to this place in the order is safely in the own storage."""
        self._lives.held = (epoch, position)
        if self._lives.node is not None:
            self._lives.node.notify(Synced(epoch, position))

    async def __aiter__(self) -> AsyncIterator[Message]:
        """The messages, in order; ends when the channel is closed. Read by one task only."""
        async for item in self.events():
            if isinstance(item, Message):
                yield item

    async def events(self) -> AsyncIterator[Message | Event]:
        """Messages and events (views, `Excluded`, `Saved`) in one order, instead of iterating."""
        assert self._receiver is None, "the deliveries of this channel go to its receiver"
        async for item in self._inbox.read():
            yield item

    @property
    def address(self) -> Address:
        """This member's present life; ChannelClosedError before `connect` and while rejoining."""
        if self._lives.node is None:
            raise ChannelClosedError("the channel has no life now; connect it first")
        return self._lives.node.endpoint.address

    @property
    def socket_address(self) -> SocketAddress:
        """Host and port of the unicast socket; ChannelClosedError before `connect`."""
        return self._lives.sockets.address

    @property
    def primary(self) -> bool:
        """Whether this member is in the primary view and reaches a quorum of it."""
        return self._primary

    def counters(self) -> dict[str, int]:
        """Counters of every layer, the transport and the sockets, by name."""
        return self._lives.counters()

    def _fail(self, error: GroupcoreError) -> None:
        """The channel cannot go on: whoever waits for it is told why."""
        self._error = self._error or error
        self.view = None
        self._primary = False
        self._sending = None
        if self._lives.node is not None:
            self._lives.node.halt()
        if self._first_view is not None and not self._first_view.done():
            self._first_view.set_exception(error)
        else:
            log.error("the channel of %s has ended: %s", self._settings.node_id, error)
        self._inbox.close(error)
        self._release_senders()

    async def _shut_down(self) -> None:
        self._closed = True
        self.view = None
        self._primary = False
        self._sending = None
        await self._lives.stop()
        self._inbox.close()
        self._release_senders()

    def _release_senders(self) -> None:
        """It is over: whoever waits to send finds out why."""
        self._may_send.set()
        self._uncongested.set()

    def _check_open(self) -> None:
        if self._error is not None:
            raise ChannelClosedError(f"the channel has ended: {self._error}")
        if self._closed or self._first_view is None:
            raise ChannelClosedError("the channel is not connected; connect it before sending")

    def _living(self, payload: bytes) -> Node:
        """The node that can send this message now."""
        self._check_open()
        bytes_max = self._lives.message_bytes_max
        if len(payload) > bytes_max:
            raise MessageTooLargeError(
                f"a message of {len(payload)} bytes is above {bytes_max}; split it"
            )
        node = self._lives.node
        if node is None or self.view is None:
            raise NotPrimaryError("this member is in no view now; send when it has one again")
        return node

    def _on_deliveries(self, deliveries: list[Delivery | Event]) -> None:
        passed: list[Delivery | Event] = []
        for item in deliveries:
            if isinstance(item, APPLICATION_EVENTS):
                self._on_event(item)
                passed.append(item)
            elif isinstance(item, Delivery):
                passed.append(item)
        if not passed:
            return
        if self._receiver is None:
            try:
                self._inbox.put(passed)
            except ReaderTooSlowError as error:
                self._fail(error)
            return
        try:
            self._receiver(passed)
        except Exception:
            log.exception("the receiver of %s failed", self._settings.node_id)

    def _on_event(self, event: Event) -> None:
        match event:
            case ViewInstalled(view):
                self.view = view
                self._primary = True
                self._congested = False if event.fresh else self._congested
                self._lives.watch(view)
                if self._first_view is not None and not self._first_view.done():
                    self._first_view.set_result(view)
            case PrimaryLost():
                self._primary = False
            case PrimaryRegained():
                self._primary = True
            case Congested(on):
                self._congested = on
            case Left():
                self._left.set()
            case Excluded():
                self.view = None
                self._primary = self._congested = False
                self._lives.begin_anew()
            case Refused(code, detail):
                wrong = IdInUseError(detail) if code == "id_in_use" else None
                self._fail(wrong or JoinRefusedError(code, detail))
                return
        if self._congested:
            self._uncongested.clear()
        else:
            self._uncongested.set()
        if self._primary and self.view is not None and not self._congested:
            self._may_send.set()
            self._sending = self._lives.node
        else:
            self._may_send.clear()
            self._sending = None
