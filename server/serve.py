"""Running a node: its servers on one loop, signals, the end."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import suppress

from groupcore.aio import KeyFile
from groupcore.aio.allocator import keep_freed_memory
from groupcore.aio.collector import keep_collections_short
from groupcore.errors import KeyFileError
from groupcore.gateway.limits import TRY_AGAIN, retry_reason
from server.admin import make_admin
from server.app import make_app, make_pages
from server.console.desk import Console
from server.errors import BadMessageError, KeyProblem, ServerError
from server.folder import check_folder
from server.key_watch import watch_key
from server.listening import LAST_ANSWERS_S, listen, make_server, url_of
from server.management.serving import ManagementServing
from server.node import Node
from server.routes.management_gate import Judge
from server.settings import Settings

logger = logging.getLogger("server")


def key_file(settings: Settings) -> KeyFile | None:
    """The file of the cluster key; None on loopback without one. KeyProblem names the remedy."""
    if settings.key_file is None:
        return None
    try:
        found = KeyFile(settings.key_file)
        found.read()
    except KeyFileError as error:
        raise KeyProblem(f"--key-file: {error}") from None
    return found


class RunningNode:
    """A node with its servers. `start` serves at once; `/readyz` says when it is whole."""

    def __init__(self, settings: Settings, key: KeyFile | None) -> None:
        self.settings = settings
        self._sockets = [listen(settings.http, "--http")]
        try:
            self.url = settings.public_url or url_of(self._sockets[0], settings.bind)
            self.management = ManagementServing(settings)
        except ServerError:
            self._sockets[0].close()
            raise
        self.admin_url = self.management.url
        try:
            check_folder(settings.data)
            self.node = Node(settings, key, self.url)
        except ServerError:
            self._close_sockets()
            raise
        self.pages = make_pages(self.node)
        self.console = Console(self.node, self.pages, self.leave)
        self.node.on_apart = self._send_away
        self.node.on_state = self.pages.become
        self.leaving: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.judge = Judge(self.management.tokens, self.management.names)
        self._server = make_server(make_app(self.node, self.console))
        self._serving: asyncio.Task[None] | None = None
        self._joining: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._sending_away: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen, then join the cluster in the background."""
        self._serving = asyncio.create_task(self._server.serve(sockets=self._sockets))
        self.management.start(make_admin(self.node, self.console, self.leave, self.judge))
        self.console.start()
        self._joining = asyncio.create_task(self._join())
        self._joining.add_done_callback(self._on_joined)
        node = self.node
        watching = watch_key(node.objects.groups.counters, lambda: node.view is not None, node.fail)
        self._watching = asyncio.create_task(watching)

    def leave(self) -> None:
        """Ask the node to leave, as SIGTERM does."""
        if not self.leaving.done():
            self.leaving.set_result(None)

    def _send_away(self) -> None:
        """Pages that reach no other node come back, and read on here.

        Those that follow files ask for them meanwhile, and are told that what they get is stale.
        """
        with suppress(BadMessageError):  # it has none yet
            self.node.files.hub.dismiss(lambda badge: True, TRY_AGAIN, retry_reason())
        self._sending_away = asyncio.create_task(self.pages.send_away())

    async def until_over(self) -> None:
        """Wait until the node is asked to leave, or has failed."""
        await asyncio.wait({self.leaving, self.node.ended}, return_when=asyncio.FIRST_COMPLETED)

    async def _join(self) -> None:
        try:
            await self.node.start()
        except ServerError as error:
            self.node.fail(error)

    def _on_joined(self, joining: asyncio.Task[None]) -> None:
        if not joining.cancelled() and (error := joining.exception()) is not None:
            self.node.fail(ServerError(f"internal error: {error!r}"))

    async def stop(self) -> None:
        """Leave: sessions, cluster, log, servers."""
        self.node.drain()
        with suppress(TimeoutError):  # outside the primary view nothing is answered any more
            async with asyncio.timeout(LAST_ANSWERS_S):
                await self.pages.close()
        for task in (self._watching, self._joining, self._sending_away):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self.console.close()
        await self.node.close()
        self._server.end()
        await self.management.stop()
        if self._serving is not None:
            await self._serving
        self._close_sockets()

    def _close_sockets(self) -> None:
        self._sockets[0].close()
        self.management.close()


async def run(settings: Settings) -> None:
    """Serve until SIGTERM, SIGINT or a failure; ServerError says which."""
    keep_freed_memory()
    keep_collections_short()
    running = RunningNode(settings, key_file(settings))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, running.leave)
    logger.info("node %s serves %s", settings.node_id, running.url)
    logger.info("management on %s", running.admin_url)
    await running.start()
    try:
        await running.until_over()
    finally:
        await running.stop()
    if running.node.ended.done():
        running.node.ended.result()
