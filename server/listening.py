"""Listening, and uvicorn's servers on the node's loop."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.applications import Starlette

from groupcore.gateway.limits import FRAME_BYTES_MAX
from groupcore.web.fanout import FanoutProtocol
from server.errors import AddressTakenProblem, ServerError, SettingsProblem
from server.patience import PatientProtocol
from server.settings import host_port

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


def make_server(
    app: Starlette,
    protocol: type[PatientProtocol] = PatientProtocol,
    tls: ssl.SSLContext | None = None,
) -> QuietServer:
    """A uvicorn server for an application, without a log of every request."""
    return QuietServer(
        uvicorn.Config(
            app,
            http=protocol,
            ws=FanoutProtocol,
            ws_max_size=FRAME_BYTES_MAX,
            ws_ping_interval=None,
            ws_per_message_deflate=False,
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            ssl_context_factory=None if tls is None else lambda config, default: tls,
            timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=LAST_ANSWERS_S,
        )
    )
