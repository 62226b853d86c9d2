"""Running a node: sockets, two uvicorn servers on one loop, signals, the end."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.applications import Starlette

from groupcore.aio import KeyFile
from groupcore.aio.allocator import keep_freed_memory
from groupcore.aio.collector import keep_collections_short
from groupcore.errors import KeyFileError
from groupcore.web.fanout import FanoutProtocol
from groupcore.web.limits import FRAME_BYTES_MAX, TRY_AGAIN, retry_reason
from server.admin import make_admin
from server.app import make_app, make_pages
from server.console.desk import Console
from server.errors import (
    AddressTakenProblem,
    BadMessageError,
    KeyProblem,
    ServerError,
    SettingsProblem,
)
from server.folder import check_folder
from server.key_watch import watch_key
from server.node import Node
from server.patience import PatientProtocol
from server.settings import Settings, host_port

logger = logging.getLogger("server")

LAST_ANSWERS_S = 3
"""How long requests that are under way may take when the node leaves."""

IDLE_S = 75
"""How long a connection may be idle: longer than clients and proxies keep one (aiohttp 15 s, nginx
60 s), so that it is they who close it. Else what they send in that moment is answered by a reset,
and of a POST nobody can tell whether it has been done."""

BACKLOG = 2048


DATE_S = 1.0
"""How often the date that answers carry is set."""


class QuietServer(uvicorn.Server):
    """uvicorn's server without its signal handlers: the node decides when both end.

    It is told so, where uvicorn's own looks for it ten times a second.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._end = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield

    async def main_loop(self) -> None:
        """Set the date, until it is over."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), DATE_S)

    def end(self) -> None:
        """Take no more connections, answer what is under way, and end."""
        self.should_exit = True
        self._end.set()


def listen(address: str, flag: str) -> socket.socket:
    """A listening socket; AddressTakenProblem, or SettingsProblem when it is not this machine's."""
    host, port = host_port(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Of a socket that does not say that it is TCP's, asyncio leaves Nagle's algorithm on: an
    # answer's body, and a second frame, then wait until the other side acknowledges, up to 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        remedy = "end the program that has it, or choose another" if taken else "choose another"
        problem: type[ServerError] = AddressTakenProblem if taken else SettingsProblem
        raise problem(
            f"{flag} {address} cannot be used: {error.strerror}; {remedy} address"
        ) from None
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket, instead_of_any: str) -> str:
    """How others reach a listening socket; `instead_of_any` where it listens on all addresses."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = instead_of_any
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(app: Starlette) -> QuietServer:
    """A uvicorn server for an application, without a log of every request."""
    return QuietServer(
        uvicorn.Config(
            app,
            http=PatientProtocol,
            ws=FanoutProtocol,
            ws_max_size=FRAME_BYTES_MAX,
            ws_ping_interval=None,
            ws_per_message_deflate=False,
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=LAST_ANSWERS_S,
        )
    )


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
    """A node with its two servers. `start` serves at once; `/readyz` says when it is whole."""

    def __init__(self, settings: Settings, key: KeyFile | None) -> None:
        self.settings = settings
        self._sockets = [listen(settings.http, "--http")]
        try:
            self._sockets.append(listen(settings.admin, "--admin"))
            self.url = settings.public_url or url_of(self._sockets[0], settings.bind)
            self.admin_url = url_of(self._sockets[1], settings.bind)
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
        self._servers = [
            make_server(make_app(self.node, self.console)),
            make_server(make_admin(self.node, self.console, self.leave)),
        ]
        self._serving: list[asyncio.Task[None]] = []
        self._joining: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._sending_away: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen, then join the cluster in the background."""
        for server, listener in zip(self._servers, self._sockets, strict=True):
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            self._serving.append(serving)
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
        for server in self._servers:
            server.end()
        await asyncio.gather(*self._serving)
        self._close_sockets()

    def _close_sockets(self) -> None:
        for listener in self._sockets:
            listener.close()


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
