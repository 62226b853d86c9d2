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
from groupcore.errors import GroupRefusedError
from groupcore.histogram import SHORT_S, Histogram
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.tracing import Recorder
from groupcore.shared.errors import ClosedError, DeclarationError, RefusedError
from groupcore.shared.events import Diverged, MessageRejected, SharedEvent
from groupcore.shared.session import Session
from groupcore.shared.site import Site

log = logging.getLogger(__name__)

T = TypeVar("T")


def log_event(event: SharedEvent) -> None:
    """What a node does with what its objects say, unless it was given something else."""
    if isinstance(event, Diverged):
        log.error("replicas have parted: %s", event)
    elif isinstance(event, MessageRejected):
        log.warning("a message was no operation of this program: %s", event)


def log_failure(site: Site, error: Exception) -> None:
    """A bug of ours has ended an object at this node."""
    log.error("the object %s has failed and is closed", site.name, exc_info=error)


class Node:
    """One node, with the shared objects that it has open. Use it from one loop.

    `principal`: on whose behalf it acts, for objects with an access list; empty: nobody's.
    `on_event` is called with what objects say beside their changes (`Diverged`, `OperationFailed`,
    `MessageRejected`); it must not raise. `applied_s`: how long each turn's deliveries took to be
    applied to objects; `parted`: how often replicas were found to differ. Settings are those of
    `Channel`.
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
        **settings: Unpack[NodeSettings],
    ) -> None:
        self.node_id = node_id
        self.runtime = LoopRuntime()
        self._on_event = on_event
        self.applied_s = Histogram(SHORT_S)
        self.parted = 0
        self.own = Session(self, principal)
        self._sessions: dict[Session, None] = {self.own: None}
        self._by_name: dict[str, Site] = {}
        self._by_group: dict[GroupId, Site] = {}
        self._ended = False
        self._clock_s = 0.0
        self._member: Process | None = None
        self.groups = GroupNode(
            cluster,
            node_id=node_id,
            receiver=self._receive,
            copy_state=self._copy_state,
            options=options,
            data_dir=data_dir,
            recorder=recorder,
            **settings,
        )

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
        self._ended = True
        self.runtime.end()
        for session in list(self._sessions):
            session.end(ClosedError("the node is closed"))
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
        group = self.groups.names.get(name)
        if group is None:
            return False
        try:
            await self.groups.delete(group)
        except GroupRefusedError as error:
            if error.code == "unknown_group":
                return False
            raise RefusedError(error.code, str(error)) from None
        return True

    def session(self, principal: str = "", *, attends: bool = False) -> Session:
        """Another process of this node, for `async with`; ClosedError when the node is closed.

        `attends`: for many short sessions. The node is a member of their objects' groups in their
        place, so that they come and go without an ordered message; see `Session`.
        Raises ChannelClosedError before the node is connected.
        """
        if self._ended:
            raise ClosedError("the node is closed")
        session = Session(self, principal, attends=attends)
        session.begin()
        self._sessions[session] = None
        return session

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
        for event in events:
            if isinstance(event, Over):
                self._begin_again()
                continue
            site = self._by_group.get(getattr(event, "group", 0))
            if site is not None:
                site.feed(event)
        self.applied_s.observe(time.perf_counter() - began_s)

    def _hear(self, event: SharedEvent) -> None:
        self.parted += isinstance(event, Diverged)
        self._on_event(event)

    def _copy_state(self, group: GroupId) -> bytes | None:
        site = self._by_group.get(group)
        return None if site is None else site.copy_state()

    def _begin_again(self) -> None:
        """Another life of the node: other processes, and all objects are opened anew."""
        if self._ended:
            return
        self._by_group.clear()
        self._member = None
        for site in list(self._by_name.values()):
            site.interrupt()
        for session in list(self._sessions):
            session.interrupt()

    # --- for the sessions -----------------------------------------------------------------------

    @property
    def member(self) -> Process:
        """The process that is in groups for the sessions that attend; see `Home`."""
        if self._member is None:
            self._member = self.groups.open_process()
        return self._member

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        """The group of this name at this node, for its sessions."""
        site = self._by_name.get(name)
        if site is None:
            site = self._by_name[name] = Site(
                name, kind, order, self._hear, self._drop, log_failure
            )
        elif site.kind != kind:
            raise DeclarationError(f"{name} is open here as {site.kind}; take another name")
        return site

    async def find_group(self, site: Site) -> None:
        """See that the group exists, and have its events told to the site; GroupRefusedError."""
        if self._by_group.get(site.group) is site:
            return
        site.group = await self.groups.create(site.name, site.order)
        if self._by_name.get(site.name) is site:  # else it was dropped meanwhile
            self._by_group[site.group] = site

    def forget(self, session: Session) -> None:
        """The session has ended."""
        self._sessions.pop(session, None)

    def _drop(self, site: Site) -> None:
        """Nobody has the object open any more."""
        if self._by_name.get(site.name) is site:
            del self._by_name[site.name]
        if self._by_group.get(site.group) is site:
            del self._by_group[site.group]
