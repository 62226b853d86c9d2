"""Running a node: sockets, two uvicorn servers on one loop, signals, the end."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from groupcore.aio import Channel, JoinRefusedError, read_key_file
from groupcore.aio.allocator import keep_freed_memory
from groupcore.aio.collector import keep_collections_short
from groupcore.errors import GroupcoreError, IdInUseError, KeyFileError, SettingsError
from groupcore.stacks import StackOptions
from server.admin import make_admin
from server.app import make_app
from server.errors import (
    AddressTakenProblem,
    IdInUseProblem,
    KeyProblem,
    ServerError,
    SettingsProblem,
    refusal,
)
from server.fanout import FanoutWebSocketProtocol
from server.journal import Journal
from server.key_watch import watch_key
from server.node import MakeChannel, Node
from server.ports import GroupChannel, Receiver
from server.session_registry import SessionRegistry
from server.settings import Settings, host_port

logger = logging.getLogger("server")

LAST_ANSWERS_S = 3
"""How long requests that are under way may take when the node leaves."""

BACKLOG = 2048


class QuietServer(uvicorn.Server):
    """uvicorn's server without its signal handlers: the node decides when both end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


def listen(address: str, flag: str) -> socket.socket:
    """A listening socket; AddressTakenProblem, or SettingsProblem when it is not this machine's."""
    host, port = host_port(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
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


def make_server(app: Starlette, settings: Settings) -> QuietServer:
    """A uvicorn server for an application, without a log of every request."""
    return QuietServer(
        uvicorn.Config(
            app,
            ws=FanoutWebSocketProtocol,
            ws_max_size=settings.frame_kib * 1024,
            ws_ping_interval=None,
            ws_per_message_deflate=False,
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=LAST_ANSWERS_S,
        )
    )


def read_key(settings: Settings) -> bytes | None:
    """The cluster key; None on loopback without one. KeyProblem names the remedy."""
    if settings.key_file is None:
        return None
    try:
        return read_key_file(settings.key_file)
    except KeyFileError as error:
        raise KeyProblem(f"--key-file: {error}") from None


def channel_maker(settings: Settings, key: bytes | None) -> MakeChannel:
    """Makes the node's channel over UDP."""

    def make(receiver: Receiver, journal: Journal) -> GroupChannel:
        try:
            return Channel(
                settings.cluster,
                node_id=settings.node_id,
                bind=settings.bind,
                port=settings.node_port,
                multicast=settings.multicast,
                initial_hosts=settings.initial_hosts,
                key=key,
                ttl=settings.ttl,
                cluster_size=settings.cluster_size,
                application_state=True,
                stack_options=StackOptions(k=settings.k),
                lineage=journal,
                receiver=receiver,
            )
        except KeyFileError as error:
            raise KeyProblem(f"--key-file: {error}") from None
        except SettingsError as error:
            raise SettingsProblem(f"--bind, --multicast or --initial-hosts: {error}") from None

    return make


class RunningNode:
    """A node with its two servers. `start` serves at once; `/readyz` says when it is whole."""

    def __init__(self, settings: Settings, make_channel: MakeChannel, key: bytes | None) -> None:
        self.settings = settings
        self._sockets = [listen(settings.http, "--http")]
        try:
            self._sockets.append(listen(settings.admin, "--admin"))
            self.journal = Journal(settings.data, settings.cluster, settings.node_id)
        except ServerError:
            self._close_sockets()
            raise
        self.url = settings.public_url or url_of(self._sockets[0], settings.bind)
        self.admin_url = url_of(self._sockets[1], settings.bind)
        # Where nodes run without a key, on loopback, transfers are sealed under the cluster's name.
        transfer_key = key or hashlib.blake2b(settings.cluster.encode(), digest_size=32).digest()
        self.node = Node(
            settings,
            self.journal,
            make_channel,
            cluster_key=transfer_key,
            public_url=self.url,
            admin_url=self.admin_url,
        )
        self.sessions = SessionRegistry(self.node)
        self._servers = [
            make_server(make_app(self.node, self.sessions), settings),
            make_server(make_admin(self.node, self.sessions), settings),
        ]
        self._serving: list[asyncio.Task[None]] = []
        self._joining: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen, then join the group in the background."""
        for server, listener in zip(self._servers, self._sockets, strict=True):
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            self._serving.append(serving)
        self._joining = asyncio.create_task(self._join())
        self._joining.add_done_callback(self._on_joined)
        watching = watch_key(
            self.node.channel.counters, lambda: self.node.view is not None, self.node.fail
        )
        self._watching = asyncio.create_task(watching)

    async def _join(self) -> None:
        try:
            await self.node.start()
        except ServerError as error:
            self.node.fail(error)
        except IdInUseError as error:
            self.node.fail(IdInUseProblem(f"--node-id: {error}"))
        except JoinRefusedError as error:
            self.node.fail(refusal(error.code, str(error)))
        except SettingsError as error:
            self.node.fail(SettingsProblem(str(error)))
        except (GroupcoreError, OSError) as error:
            self.node.fail(ServerError(f"cannot join the group: {error}"))

    def _on_joined(self, joining: asyncio.Task[None]) -> None:
        if not joining.cancelled() and (error := joining.exception()) is not None:
            self.node.fail(ServerError(f"internal error: {error!r}"))

    async def stop(self) -> None:
        """Leave: sessions, group, journal, servers."""
        self.sessions.close_all()
        for task in (self._watching, self._joining):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self.node.close()
        for server in self._servers:
            server.should_exit = True
        await asyncio.gather(*self._serving)
        self._close_sockets()

    def _close_sockets(self) -> None:
        for listener in self._sockets:
            listener.close()


async def run(settings: Settings) -> None:
    """Serve until SIGTERM, SIGINT or a failure; ServerError says which."""
    keep_freed_memory()
    keep_collections_short()
    key = read_key(settings)
    running = RunningNode(settings, channel_maker(settings, key), key)
    asked = asyncio.get_running_loop().create_future()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _ask, asked)
    logger.info("node %s serves %s", settings.node_id, running.url)
    logger.info("management on %s", running.admin_url)
    await running.start()
    try:
        await asyncio.wait({asked, running.node.ended}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await running.stop()
    if running.node.ended.done():
        running.node.ended.result()


def _ask(asked: asyncio.Future[None]) -> None:
    if not asked.done():
        asked.set_result(None)
