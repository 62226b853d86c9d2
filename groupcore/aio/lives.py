"""The lives of a channel, one after the other, on one pair of sockets.

A channel that the group went on without makes a new life by itself, under a new incarnation; the
sockets and the lineage stay.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from math import inf
from random import SystemRandom
from typing import Protocol

from groupcore.aio.connections import Connections
from groupcore.aio.drop_log import DropLog
from groupcore.aio.errors import StorageError
from groupcore.aio.life import (
    fitted,
    fitted_service,
    make_endpoint,
    message_bytes_max,
    transport_options,
)
from groupcore.aio.lineage import Lineage
from groupcore.aio.log_store import LogStorage
from groupcore.aio.node import Node, Receiver, nothing
from groupcore.aio.process_clock import ProcessClock
from groupcore.aio.settings import ChannelSettings, resolve_hosts
from groupcore.aio.turns import in_turns
from groupcore.aio.udp import UdpSockets
from groupcore.endpoint import Endpoint
from groupcore.errors import ChannelClosedError, GroupcoreError
from groupcore.events import Connect, ConnectionClosed, Event
from groupcore.layers.failure_detection import FailureDetection
from groupcore.layers.membership import Membership
from groupcore.membership.awaiting import Awaiting
from groupcore.peers import SocketAddress
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.stacks import StackPlan
from groupcore.view import Address, View

log = logging.getLogger(__name__)

REJOIN_INTERVAL_S = 0.5
"""Pause before the second rejoin; it doubles from then on."""
STARVED_INTERVAL_S = 10.0
"""The same for a process that was starved in its last life (`process_clock`)."""
REJOIN_MAX_S = 160.0
"""Longest pause."""
LEVELS_MAX = 10
GOOD_S = 60.0
"""A life that lasts so long is worth one exclusion less."""


class Hosting(Protocol):
    """Who hosts processes of the sequencing service on this node."""

    options: ServiceOptions
    storage: LogStorage | None

    def begin(self, service: Service) -> None:
        """A life begins, with a service of its own."""

    def on_events(self, events: list[ServiceEvent]) -> None:
        """What a turn of the service has to say; it must not raise."""


class RejoinPace:
    """When a channel that was excluded may come back: the first time at once, then ever later.

    The pause doubles with each exclusion, and one doubling is forgotten for each `GOOD_S` that the
    life before has lasted. It is longer for a process that was given no core, or was busy: each
    time that it comes and goes costs all others two views, and it will be late again.
    """

    def __init__(self) -> None:
        self.exclusions = 0
        self.pause_s = 0.0
        self._level = 0
        self._begun_at = 0.0

    def delay_s(self, now: float, starved: bool = False) -> float:
        """Seconds from now until the next life may begin; it is taken to begin then.

        `starved`: the process was, in the life that ends now.
        """
        good = int((now - self._begun_at) / GOOD_S)
        self._level = max(0, self._level - good)
        first = STARVED_INTERVAL_S if starved else REJOIN_INTERVAL_S
        self.pause_s = min(first * 2 ** (self._level - 1), REJOIN_MAX_S) if self._level else 0.0
        self._level = min(self._level + 1, LEVELS_MAX)
        self.exclusions += 1
        self._begun_at = now + self.pause_s
        return self.pause_s


class Lives:
    """The present life of a channel as a node, and how the next one begins.

    `deliver` is given what each turn of a life delivers; `fail` is told why no life can go on.
    `greet` makes what every life's stack is told first. `held` is the place up to which the
    application's storage holds the order, `backlog_bytes` how much of what was delivered it has
    not consumed.
    """

    def __init__(
        self,
        settings: ChannelSettings,
        plan: StackPlan,
        lineage: Lineage,
        deliver: Receiver,
        fail: Callable[[GroupcoreError], None],
        greet: Callable[[], Event],
        hosting: Hosting | None = None,
    ) -> None:
        self.node: Node | None = None
        self.held = (0, 0)
        self.backlog_bytes: Callable[[], int] = nothing
        self.message_bytes_max = 0
        self._settings = settings
        self._plan = plan
        self._lineage = lineage
        self._deliver = deliver
        self._fail = fail
        self._greet = greet
        self._hosting = hosting
        self._sockets: UdpSockets | None = None
        self._connections = Connections(self._on_connection_closed)
        self._hosts: tuple[SocketAddress, ...] = ()
        self._pace = RejoinPace()
        self.awake = ProcessClock()
        self.drop_log = DropLog(settings.node_id)
        self._rejoining: asyncio.Task[None] | None = None
        self._starved_before = 0
        self._storage = None if hosting is None else hosting.storage

    @property
    def sockets(self) -> UdpSockets:
        """The sockets; ChannelClosedError before `open`."""
        if self._sockets is None:
            raise ChannelClosedError("the channel is not connected")
        return self._sockets

    async def open(self) -> None:
        """Open the sockets and begin the first life; PortInUseError, SettingsError."""
        settings = self._settings
        self._hosts = await resolve_hosts(settings.initial_hosts)
        self._sockets = UdpSockets(settings.bind, settings.port, settings.group, settings.ttl)
        await self._connections.listen(self._sockets.address)
        if self._storage is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._storage.open)
            self._storage.start(self._on_trouble)
        await self._begin()

    def notify(self, event: Event) -> bool:
        """Tell the present life's stack; False when there is no life now."""
        if self.node is None:
            return False
        self.node.notify(event)
        return True

    def watch(self, view: View) -> None:
        """Watch over members of this view, to learn at once when the process of one ends."""
        if self.node is not None:
            endpoint = self.node.endpoint
            self._connections.watch(view, endpoint.address, endpoint.transport.peers())

    def _on_connection_closed(self, member: Address) -> None:
        if self.node is not None:
            self.node.notify(ConnectionClosed(member))

    def wake_soon(self) -> None:
        """The application has consumed much of what it had: flow control may go on."""
        if self.node is not None:
            self.node.wake_soon()

    def begin_anew(self, reason: str) -> None:
        """This life is over: nothing of it is sent any more, and a new one begins."""
        assert self.node is not None
        node, self.node = self.node, None
        name = node.endpoint.address.name
        log.warning("%s is excluded from the group (%s), and joins it again", name, reason)
        node.halt()
        self._rejoining = asyncio.get_running_loop().create_task(self._rejoin(node))

    @property
    def can_begin_empty(self) -> bool:
        """Whether there is a log that can be put aside."""
        return self._storage is not None

    def begin_empty(self, reason: str) -> None:
        """The chain of this node has been ended: its log is put aside, and it begins anew."""
        assert self.node is not None
        node, self.node = self.node, None
        name = node.endpoint.address.name
        log.error("%s begins as an empty node: %s", name, reason)
        node.halt()
        self._rejoining = asyncio.get_running_loop().create_task(self._begin_empty(node))

    async def _begin_empty(self, left: Node) -> None:
        assert self._storage is not None
        try:
            await left.stop()
            aside = await self._storage.begin_empty()
            log.error("what was on this node's disk is in %s now", aside)
            self.held = (0, 0)
            await self._begin()
        except GroupcoreError as error:
            self._fail(error)

    def awaiting(self) -> Awaiting | None:
        """What this node waits for; None in a primary view, and between two lives."""
        if self.node is None:
            return None
        # By the loop's clock all that was heard is too old once the process has slept.
        now = self.awake.seconds(asyncio.get_running_loop().time())
        layers = self.node.endpoint.stack.layers
        return next((one.awaiting(now) for one in layers if isinstance(one, Membership)), None)

    def silent_s(self) -> float:
        """For how long no quorum of the view was heard; inf in none. Its own sleep is left out."""
        if self.node is None:
            return inf
        now = self.awake.seconds(asyncio.get_running_loop().time())
        layers = self.node.endpoint.stack.layers
        return next((one.silent_s(now) for one in layers if isinstance(one, FailureDetection)), 0.0)

    async def stop(self) -> None:
        """End the life that there is, and close the sockets."""
        if self._rejoining is not None:
            self._rejoining.cancel()
            await asyncio.wait([self._rejoining])
        await self._connections.close()
        if self.node is not None:
            await self.node.stop()
        if self._sockets is not None:
            self._sockets.close()
        if self._storage is not None:
            await self._storage.close()

    def _on_trouble(self, kind: str, detail: str) -> None:
        """The disk: while it is full nothing is saved here; what else is wrong ends the node."""
        assert self._storage is not None
        folder = self._storage.folder
        if kind == "failed":
            self._fail(StorageError(f"the log in {folder} cannot be written: {detail}"))
        elif kind == "full":
            log.error("there is no room for the log in %s: nothing is saved here", folder)
        else:
            log.warning("there is room for the log in %s again", folder)

    def counters(self) -> dict[str, int]:
        """Counters of every layer, the transport and the sockets, by name."""
        result = {} if self.node is None else self.node.endpoint.counters()
        if self._sockets is not None:
            for name, number in sorted(self._sockets.counters.items()):
                result[f"udp.{name}"] = number
        result["rejoins.exclusions"] = self._pace.exclusions
        result["rejoins.pause_ms"] = round(1000 * self._pace.pause_s)
        awake = self.awake
        result["awake.sleeps"] = awake.sleeps
        result["awake.slept_ms"] = round(1000 * awake.slept_s)
        result["awake.longest_ms"] = round(1000 * awake.longest_s)
        return result

    async def _begin(self) -> None:
        """A new incarnation, with the record of the last one."""
        loop = asyncio.get_running_loop()
        incarnation, record = await loop.run_in_executor(None, self._lineage.begin, time.time_ns())
        parts: list[bytes] = []
        if self._storage is not None:
            parts = await loop.run_in_executor(None, self._storage.read)
        service = await self._service(Address(self._settings.node_id, incarnation), parts)
        endpoint = self._endpoint(incarnation, record, service)
        self.sockets.ignore_boot(endpoint.transport.boot)
        hosting = self._hosting
        self.node = Node(
            endpoint,
            self.sockets,
            self._lineage,
            self._deliver,
            self.backlog_bytes,
            None if hosting is None else hosting.on_events,
            self._storage,
            self.awake,
            self.drop_log,
        )
        self.node.start(Connect(*self.held))
        self.node.notify(self._greet())

    async def _service(self, address: Address, log: list[bytes]) -> Service | None:
        """The life's data plane, with what is in the log; sessions go on while it is taken over."""
        hosting = self._hosting
        if hosting is None:
            return None
        options = fitted_service(hosting.options, self._settings, self.sockets.receive_buffer_bytes)
        shelf = None if self._storage is None else self._storage.new_shelf()
        service = Service(address, options, SystemRandom(), shelf=shelf)
        await in_turns(service.restore(log))
        if options.durable:
            self.held = service.held
        hosting.begin(service)
        return service

    def _endpoint(
        self, incarnation: int, record: bytes | None, service: Service | None
    ) -> Endpoint:
        settings = self._settings
        buffer_bytes = self.sockets.receive_buffer_bytes
        plan = fitted(self._plan, settings, buffer_bytes, self._lineage.durable)
        self.message_bytes_max = message_bytes_max(plan.options)
        transport = transport_options(settings, self._hosts)
        return make_endpoint(settings, transport, plan, incarnation, record, service)

    async def _rejoin(self, excluded: Node) -> None:
        try:
            await excluded.stop()
            starved = self.awake.starved > self._starved_before
            self._starved_before = self.awake.starved
            pause_s = self._pace.delay_s(asyncio.get_running_loop().time(), starved)
            if pause_s:
                log.warning("%s comes back in %.1f s", excluded.endpoint.address.name, pause_s)
            await asyncio.sleep(pause_s)
            await self._begin()
        except GroupcoreError as error:
            self._fail(error)
