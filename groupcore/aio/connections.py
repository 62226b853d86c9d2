"""Connections that watch over other members: one that closes says that a process has ended.

The kernel closes the connections of a process that is killed at once, long before its silence
tells. Nothing is sent on them: who reads a byte hangs up. A closed one is a sign only; failure
detection asks the member itself (JGroups FD_SOCK and VERIFY_SUSPECT).

A node listens on TCP under the address of its unicast socket, so nothing has to be announced.
Each member connects to the few that come after it in the view; who loses one reports it to the
others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from groupcore.peers import SocketAddress
from groupcore.view import Address, View

log = logging.getLogger(__name__)

WATCHED = 3
"""How many members each member watches."""
WATCHERS_MAX = 256
"""Most connections that are accepted at a time."""


class Connections:
    """The connections of one node; `on_closed` is called with the member whose one has closed."""

    def __init__(self, on_closed: Callable[[Address], None]) -> None:
        self._on_closed = on_closed
        self._server: asyncio.Server | None = None
        self._watchers: set[asyncio.BaseTransport] = set()
        self._watching: dict[Address, asyncio.Task[None]] = {}

    async def listen(self, address: SocketAddress) -> None:
        """Let others watch this node; when the port is taken, its silence has to tell them."""
        host, port = address
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _Watcher(self._watchers), host, port)
        except OSError as error:
            log.info("nobody can connect to port %d (%s): a crash is found later", port, error)

    def watch(self, view: View, me: Address, peers: Mapping[Address, SocketAddress]) -> None:
        """Watch the members that come after this one in the view, and nobody else any more."""
        rank = view.rank(me)
        after = (*view.members[rank + 1 :], *view.members[:rank])[:WATCHED]
        for member in [member for member in self._watching if member not in after]:
            self._watching.pop(member).cancel()
        for member in after:
            if member in peers and member not in self._watching:
                task = asyncio.get_running_loop().create_task(self._watch(member, peers[member]))
                self._watching[member] = task

    async def close(self) -> None:
        """Watch nobody, and let nobody watch."""
        watching, self._watching = list(self._watching.values()), {}
        for task in watching:
            task.cancel()
        if watching:
            await asyncio.wait(watching)
        for transport in list(self._watchers):
            transport.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _watch(self, member: Address, address: SocketAddress) -> None:
        """Connect and wait for the end; who cannot be connected to is not watched."""
        loop = asyncio.get_running_loop()
        closed: asyncio.Future[None] = loop.create_future()
        try:
            transport, _ = await loop.create_connection(lambda: _Watched(closed), *address)
        except OSError:
            self._watching.pop(member, None)
            return
        try:
            await closed
        finally:
            transport.close()
        self._watching.pop(member, None)
        self._on_closed(member)


class _Watcher(asyncio.Protocol):
    """The accepting end: it only has to be there."""

    def __init__(self, all_: set[asyncio.BaseTransport]) -> None:
        self._all = all_
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if len(self._all) >= WATCHERS_MAX:
            transport.close()
            return
        self._transport = transport
        self._all.add(transport)

    def data_received(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._all.discard(self._transport)


class _Watched(asyncio.Protocol):
    """The connecting end: tells when the other has gone."""

    def __init__(self, closed: asyncio.Future[None]) -> None:
        self._closed = closed

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)
