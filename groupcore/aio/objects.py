"""Shared objects for asyncio programs.

    async with Node("demo", node_id="a") as node:
        clicks = await node.open(Counter, "clicks")
        print(await clicks.add(1))

A node is one process of the sequencing service, and `session` makes further ones on the same copies
of the objects; each object is a group. When the cluster has gone
on without the node, all its objects are opened again by themselves: they are the same Python
objects, with the cluster's state.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

from groupcore.aio.group_node import GroupNode, NodeSettings, Over
from groupcore.aio.log_store import LogStorage
from groupcore.aio.loop_runtime import LoopRuntime
from groupcore.histogram import SHORT_S, Histogram
from groupcore.host import ObjectHost
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.sequencing.tracing import Recorder
from groupcore.shared.body import Body
from groupcore.shared.events import Diverged, MessageRejected, SharedEvent
from groupcore.shared.group import Authorize, authorize_nothing
from groupcore.shared.session import Session
from groupcore.shared.site import Site
from groupcore.view import View

log = logging.getLogger(__name__)

T = TypeVar("T")


def log_event(event: SharedEvent) -> None:
    """What a node does with what its objects say, unless it was given something else."""
    if isinstance(event, Diverged):
        log.error("replicas have parted: %s", event)
    elif isinstance(event, MessageRejected):
        log.warning("a message was no operation of this program: %s", event)


class Node:
    """One node, with the shared objects that it has open. Use it from one loop.

    `principal`: on whose behalf it acts, for objects with an access list; empty: nobody's.
    `on_event` is called with what objects say beside their changes (`Diverged`, `OperationFailed`,
    `MessageRejected`); it must not raise. `authorize` gives what objects that ask for it are shown
    with a message (`SharedObject.check_authorization`). `applied_s`: how long each turn's
    deliveries took to be applied to objects; `parted`: how often replicas were found to differ.
    Settings are those of `Channel`.
    """

    def __init__(
        self,
        cluster: str,
        *,
        node_id: str,
        principal: str = "",
        on_event: Callable[[SharedEvent], None] = log_event,
        options: ServiceOptions | None = None,
        data_dir: Path | str | LogStorage | None = None,
        recorder: Callable[[], Recorder] | None = None,
        authorize: Authorize = authorize_nothing,
        **settings: Unpack[NodeSettings],
    ) -> None:
        self.node_id = node_id
        self.runtime = LoopRuntime()
        self._on_event = on_event
        self.applied_s = Histogram(SHORT_S)
        self.parted = 0
        self._clock_s = 0.0
        self.groups = GroupNode(
            cluster,
            node_id=node_id,
            receiver=self._receive,
            copy_state=lambda group: self.host.copy_state(group),
            options=options,
            data_dir=data_dir,
            recorder=recorder,
            **settings,
        )
        self.host = ObjectHost(self.groups, self.runtime, self.now_s, self, authorize)
        self.own = self.host.early_session(principal)

    async def __aenter__(self) -> Self:
        """Join the cluster, or form it; errors are those of `Channel.connect`."""
        self._clock_s = time.time() - asyncio.get_running_loop().time()
        await self.groups.__aenter__()
        self.own.begin()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the cluster."""
        await self.close()

    async def saved(self) -> None:
        """Wait until what was sent here up to now survives the loss of all nodes (`data_dir`)."""
        await self.groups.saved()

    async def close(self) -> None:
        """Close all objects of all sessions and leave the cluster."""
        self.runtime.end()
        self.host.end()
        await self.groups.close()

    @property
    def process(self) -> Process:
        """The node's process; another one when the cluster has gone on without this node."""
        return self.own.process

    @property
    def principal(self) -> str:
        """On whose behalf the node itself acts."""
        return self.own.principal

    async def open(self, kind: type[T], name: str) -> T:
        """Open the object of this name, which is made if it is new; see `Session.open`."""
        return await self.own.open(kind, name)

    async def delete(self, name: str) -> bool:
        """Delete the object of this name, whatever it holds; False when there is none.

        Whoever has it open, at any node, is told so by DeletedError; the name is free, and what
        opens under it is a new object. RefusedError: `moving` while the object goes from one
        sequencer to another (ask again), `left` when the node's life ends before it is done.
        """
        return await self.host.delete(name)

    def session(self, principal: str = "", *, attends: bool = False) -> Session:
        """Another process of this node, for `async with`; ClosedError when the node is closed.

        `attends`: for many short sessions. The node is a member of their objects' groups in their
        place, so that they come and go without an ordered message; see `Session`.
        Raises ChannelClosedError before the node is connected.
        """
        return self.host.session(principal, attends=attends)

    # --- how it is ------------------------------------------------------------------------------

    @property
    def is_durable(self) -> bool:
        """Whether it has a log (`data_dir`)."""
        return self.groups.options.durable

    @property
    def is_congested(self) -> bool:
        """Whether too much of what this node sends has not been accepted; see `room`."""
        return self.groups.requests.congested

    @property
    def queued_bytes(self) -> int:
        """How much of its log is not on the disk yet."""
        storage = self.groups.storage
        return 0 if storage is None else storage.queued_bytes

    @property
    def view(self) -> View | None:
        """The view that it is in; None outside the cluster."""
        return self.groups.channel.view

    @property
    def is_primary(self) -> bool:
        """Whether it is in the primary view and reaches a quorum of it."""
        return self.groups.channel.primary

    @property
    def service(self) -> Service | None:
        """The sequencing service of its present life; None before it has joined the cluster."""
        return self.groups.service if self.groups.has_life else None

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
        began_s = time.perf_counter()
        start = 0
        for place, event in enumerate(events):
            if isinstance(event, Over):
                self.host.receive(events[start:place])
                self.host.begin_again()
                start = place + 1
        self.host.receive(events[start:])
        self.applied_s.observe(time.perf_counter() - began_s)

    # --- told by the objects --------------------------------------------------------------------

    def tell(self, event: SharedEvent) -> None:
        """See `Audience`."""
        self.parted += isinstance(event, Diverged)
        self._on_event(event)

    def failed(self, site: Site, error: Exception) -> None:
        """See `Audience`."""
        log.error("the object %s has failed and is closed", site.name, exc_info=error)

    def begun(self, name: str, body: Body[object]) -> None:
        """See `Audience`."""
