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
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from groupcore.aio.drop_log import DropLog
from groupcore.aio.errors import JoinRefusedError
from groupcore.aio.gate import Gate
from groupcore.aio.identity import NodeIdentity
from groupcore.aio.inbox import APPLICATION_EVENTS, Inbox, Message, Outlet
from groupcore.aio.key_file import KeyFile
from groupcore.aio.lineage import Lineage, MemoryLineage
from groupcore.aio.lives import Hosting, Lives
from groupcore.aio.node import Receiver
from groupcore.aio.settings import check_settings
from groupcore.aio.state_service import EVENTS as STATE_EVENTS
from groupcore.aio.state_service import StateService
from groupcore.aio.states import StateProvider
from groupcore.aio.transfer_keys import Secret
from groupcore.awake import AwakeClock
from groupcore.endpoint import Delivery
from groupcore.errors import (
    ChannelClosedError,
    GroupcoreError,
    IdInUseError,
    NotAMemberError,
)
from groupcore.events import (
    Event,
    Excluded,
    Leave,
    Left,
    Refused,
    Synced,
    ViewInstalled,
    WaiverGiven,
)
from groupcore.membership.awaiting import Awaiting
from groupcore.peers import SocketAddress
from groupcore.stacks import DEFAULT_STACK, StackOptions, plan_stack
from groupcore.transfer.events import GetApplicationState, GetState, GetStateOk
from groupcore.transfer.sources import StateSink
from groupcore.view import Address, View

log = logging.getLogger(__name__)

UNSENT_BYTES_MAX = 1 << 20
"""What one loop turn may send before the sender lets the loop turn, and hears of congestion."""


class Channel:
    """One member of one group on the running loop.

    Deliveries go to `receiver` (called once a turn with a list), or, without one, to the
    iterators. `view` is the last view that the application was told of, None outside; `primary`
    tells whether this member can take part in the order now. `on_failure` is told what has ended a
    channel that was connected. `identity` is what the node shows of itself; None: with a `key`
    that is all that members need, without one they have certificates of this user's development
    operator. Use one channel from one loop and one task at a time.
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
        key: bytes | KeyFile | None = None,
        ttl: int = 0,
        cluster_size: int = 1,
        application_state: bool = False,
        stack: str | Sequence[str] = DEFAULT_STACK,
        stack_options: StackOptions | None = None,
        lineage: Lineage | None = None,
        receiver: Receiver | None = None,
        datagram_bytes_max: int | None = None,
        leave_timeout_s: float = 2.0,
        state_provider: StateProvider | None = None,
        when_not_primary: str = "wait",
        hosting: Hosting | None = None,
        identity: NodeIdentity | None = None,
    ) -> None:
        """Check the settings; nothing is opened before `connect`.

        `cluster` and `key` are the same at all members. `node_id` is this node's own, at all
        times. `multicast` None: no multicast, copies go to the members and to `initial_hosts`
        (`host:port`), through which they are found; give `port` then. `key` None: loopback only.
        `cluster_size` is how many nodes the cluster has; its first view needs a majority of them.
        `application_state`: the application keeps state of its own and says with `synced` how far
        it is; until then this member has no vote on what was lost. `stack` names the layers, lowest
        first, as a string or a list; `stack_options` tunes them. `lineage` keeps what must outlive
        this process. `datagram_bytes_max` None: 60,000 on loopback, 1,400 elsewhere. `close` takes
        `leave_timeout_s` at most. `state_provider` copies the application's state. Ordered sends
        outside the primary view "wait" or "fail". `hosting`: who hosts processes (`GroupNode`).
        Raises SettingsError, KeyFileError, CompositionError: what is wrong, and the remedy.
        """
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
            identity=identity,
        )
        plan, record = plan_stack(stack, stack_options), lineage or MemoryLineage()
        self._lives = Lives(
            self._settings, plan, record, self._on_deliveries, self._fail, self._greet, hosting
        )
        self._gate = Gate(self._lives, when_not_primary)
        self._states = StateService(self._settings, self._lives.notify, state_provider, plan)
        self._receiver = receiver
        self._leave_timeout_s = leave_timeout_s
        self._inbox = Inbox(self._states.on_event)
        self._outlet = Outlet(node_id, self._inbox, receiver, self._fail)
        self._inbox.on_relief = self._lives.wake_soon
        self._lives.backlog_bytes = self._inbox.backlog_bytes
        self._first_view: asyncio.Future[View] | None = None
        self._left = asyncio.Event()
        self._closed = False
        self.on_failure: Callable[[GroupcoreError], None] = lambda error: None

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
        self._gate.open()
        try:
            await self._states.open()
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

        It waits too while this member is outside the primary view, or raises NotPrimaryError, see
        `when_not_primary`. Messages of one loop turn travel together. ChannelClosedError,
        MessageTooLargeError.
        """
        node = self._gate.sending
        if node is not None and len(payload) <= self._lives.message_bytes_max:
            node.send(None, payload)
            if node.unsent_bytes > UNSENT_BYTES_MAX:
                await asyncio.sleep(0)
            return
        await self._gate.passed()
        self.multicast_nowait(payload)

    async def multicast_all(self, payloads: Sequence[bytes]) -> None:
        """Send messages in this order, as `multicast` does, or none if one is too large."""
        await self._gate.passed()
        if payloads:
            node = self._gate.living(max(payloads, key=len))
            node.send_all(payloads)
            if node.unsent_bytes > UNSENT_BYTES_MAX:
                await asyncio.sleep(0)

    def multicast_nowait(self, payload: bytes) -> None:
        """Send a message to the group without waiting: the caller bounds how much it sends.

        NotPrimaryError while in no view; ChannelClosedError, MessageTooLargeError.
        """
        self._gate.living(payload).send(None, payload)

    async def unicast(self, destination: Address, payload: bytes) -> None:
        """Send a message to one member of the view, in the order of sending.

        It waits while too much is on the way, not for the primary view. NotAMemberError,
        NotPrimaryError (no view); ChannelClosedError, MessageTooLargeError.
        """
        await self._gate.uncongested()
        node = self._gate.living(payload)
        if self.view is None or destination not in self.view.members:
            raise NotAMemberError(f"{destination} is not in the view; send to one of its members")
        node.send(destination, payload)
        if node.unsent_bytes > UNSENT_BYTES_MAX:
            await asyncio.sleep(0)

    def synced(self, epoch: int, position: int) -> None:
        """Say that everything up to this place in the order is safely in the own storage."""
        self._lives.held = (epoch, position)
        self._lives.notify(Synced(epoch, position))

    # --- state transfer -------------------------------------------------------------------------

    @property
    def state_provider(self) -> StateProvider | None:
        """Who copies the application's state for others; may be changed at any time."""
        return self._states.provider

    @state_provider.setter
    def state_provider(self, provider: StateProvider | None) -> None:
        self._states.provider = provider

    @property
    def state_report(self) -> GetStateOk | None:
        """How the last `get_state` or `get_states` ended, and who was asked; None before."""
        return self._states.report

    async def get_state(
        self,
        provider: Address | None = None,
        timeout_s: float = 10.0,
        into: StateSink | None = None,
        medium: str = "auto",
    ) -> bool:
        """Take the state of the group, from `provider` or the oldest member that has one.

        True when it has come: the reader is given `SetState` at its place, and then what has been
        sent since; it need not read meanwhile. `into` takes the state instead of memory; it is
        complete when this returns. `medium`: "group" through the channel, "separate" over a
        connection of its own, "auto" by its size. False for a singleton, when nobody has a state,
        and when it takes too long: `state_report.outcome` tells them apart. TransferBusyError.
        """
        self._gate.check_open()
        providers = None if provider is None else (provider,)
        return await self._states.get(GetState(providers, timeout_s, sink=into, medium=medium))

    async def get_states(
        self,
        providers: Sequence[Address] | None = None,
        timeout_s: float = 10.0,
        quorum: bool = False,
        medium: str = "auto",
    ) -> bool:
        """Take the states of several members, of all without `providers`, into `SetState.states`.

        With `quorum` one state is taken, that of which most of them have the like; who differs
        stands in `state_report.dissenters`. True and False as with `get_state`.
        """
        self._gate.check_open()
        asked = None if providers is None else tuple(providers)
        wanted = GetState(asked, timeout_s, many=True, quorum=quorum, medium=medium)
        return await self._states.get(wanted)

    async def push_state(
        self, members: Sequence[Address], timeout_s: float = 10.0
    ) -> tuple[Address, ...]:
        """Give the own state to these members, as of one place in the order; who has taken it.

        Each of them is given `SetState`, asked for or not. TransferBusyError.
        """
        self._gate.check_open()
        return await self._states.push(tuple(members), timeout_s)

    # --- reading --------------------------------------------------------------------------------

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

    def wake_soon(self) -> None:
        """Let a turn happen soon: the node's service has been asked for something."""
        self._lives.wake_soon()

    @property
    def node_id(self) -> str:
        """This node's own id."""
        return self._settings.node_id

    @property
    def drop_log(self) -> DropLog:
        """What says which bad input came from whom; its `listener` may be set."""
        return self._lives.drop_log

    @property
    def identity(self) -> NodeIdentity | None:
        """What the node shows of itself; None: it has the cluster key alone."""
        return self._settings.identity

    def end(self, error: GroupcoreError) -> None:
        """The channel must not go on, for this reason; `on_failure` is told."""
        self._fail(error)

    @property
    def secret(self) -> Secret:
        """What connections of the cluster's nodes are sealed with (`groupcore.aio.transfer`)."""
        return Secret(self._settings.cluster, self._settings.keys, self._settings.credentials)

    @property
    def view(self) -> View | None:
        """The last view that the application was told of; None outside."""
        return self._gate.view

    @property
    def primary(self) -> bool:
        """Whether this member is in the primary view and reaches a quorum of it."""
        return self._gate.primary

    @property
    def silent_s(self) -> float:
        """For how long no quorum of the view was heard; inf in none. Its own sleep is left out."""
        return self._lives.silent_s()

    @property
    def awake(self) -> AwakeClock:
        """The clock by which this channel's lives go, and for how long the process has slept."""
        return self._lives.awake

    @property
    def awaiting(self) -> Awaiting | None:
        """What this member waits for outside the primary view; None inside."""
        return self._lives.awaiting()

    def waive(self, lineage: int, number: int, names: Sequence[str]) -> None:
        """Have the cluster go on without these nodes, which what follows this view would need.

        For an operator who knows that they never come back. It holds for 3 s: repeat it until there
        is a view. What only they have is lost; should one come back with its disk, that is put
        aside. NotAMemberError where one of them is there, and its disk counts.
        """
        awaiting = self.awaiting
        if awaiting is not None and awaiting.view is not None:
            there = sorted(set(names) & {*awaiting.here, *awaiting.others})
            if there:
                raise NotAMemberError(f"{', '.join(there)}: there, and not to be gone on without")
        self._lives.notify(WaiverGiven(lineage, number, tuple(sorted(names))))

    def counters(self) -> dict[str, int]:
        """Counters of every layer, the transport and the sockets, by name."""
        return {**self._lives.counters(), **self._states.counters()}

    def _greet(self) -> Event:
        return self._states.serving()

    def _fail(self, error: GroupcoreError) -> None:
        """The channel cannot go on: whoever waits for it is told why."""
        self._gate.close(error)
        self._states.end()
        if self._lives.node is not None:
            self._lives.node.halt()
        if self._first_view is not None and not self._first_view.done():
            self._first_view.set_exception(error)
        else:
            log.error("the channel of %s has ended: %s", self._settings.node_id, error)
            self.on_failure(error)
        self._inbox.close(error)

    async def _shut_down(self) -> None:
        self._closed = True
        self._gate.close()
        self._states.end()
        await self._lives.stop()
        self._inbox.close()

    def _on_deliveries(self, deliveries: list[Delivery | Event]) -> None:
        passed: list[Delivery | Event] = []
        for item in deliveries:
            if isinstance(item, Delivery):
                passed.append(item)
            elif isinstance(item, APPLICATION_EVENTS):
                self._on_event(item)
                passed.append(item)
            elif isinstance(item, GetApplicationState):
                if self._receiver is None:
                    passed.append(item)  # copied when the reader has come to it
                    continue
                self._outlet.hand_over(passed)  # it is given all that came before, and then asked
                passed = []
                self._states.on_event(item)
            elif isinstance(item, STATE_EVENTS):
                self._outlet.hand_over(passed)  # before the caller is told
                passed = []
                self._states.on_event(item)
        self._outlet.hand_over(passed)

    def _on_event(self, event: Event) -> None:
        match event:
            case ViewInstalled(view):
                self._lives.watch(view)
                if self._first_view is not None and not self._first_view.done():
                    self._first_view.set_result(view)
            case Left():
                self._left.set()
            case Excluded(reason):
                self._lives.begin_anew(reason)
            case Refused(code="gone_on_without", detail=detail) if self._lives.can_begin_empty:
                self._lives.begin_empty(detail)
                event = Excluded(detail)
            case Refused(code, detail):
                wrong = IdInUseError(detail) if code == "id_in_use" else None
                self._fail(wrong or JoinRefusedError(code, detail))
                return
        self._gate.on_event(event)
