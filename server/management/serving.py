"""Serving the management address: where it listens, and what commands find there.

Idea. A node listens at `--admin` from its making on, so that an address that is taken ends it at
once. What it leaves for commands, it leaves when it starts: the Unix socket, and the token.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl

from starlette.applications import Starlette

from server.errors import ServerError
from server.listening import QuietServer, listen, make_server, url_of
from server.management.listening import NOWHERE, names_in, tls_of
from server.management.local import LocalSocket
from server.management.own_token import OwnToken
from server.management.peer import ManagementProtocol
from server.management.tokens import ManagementTokens
from server.settings import Settings

logger = logging.getLogger("server")


class ManagementServing:
    """Of one node. It listens at once; ServerError says what it cannot.

    `names`: of the host, beside its addresses; `url`: of `--admin`, or else of the folder that
    says where the socket is.
    """

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data
        self._tls = tls_of(settings)
        self.names = names_in(settings.admin_cert)
        self.app: Starlette | None = None
        self.url = f"unix:{settings.data.resolve()}"
        self._listener: socket.socket | None = None
        self._local: LocalSocket | None = None
        address = ""
        if settings.admin != NOWHERE:
            self._listener = listen(settings.admin, "--admin")
            self.url = url_of(self._listener, settings.bind)
            address = self.url.partition("://")[2]
            if self._tls is not None:
                self.url = f"https://{address}"
        try:
            self.tokens = ManagementTokens(settings.data)
        except ServerError:
            self.close_listener()
            raise
        self._own = OwnToken(settings.data, address)
        self._servers: list[QuietServer] = []
        self._serving: list[asyncio.Task[None]] = []

    def start(self, app: Starlette) -> None:
        """Serve it, and tell this user's commands how to ask."""
        self.app = app
        self.tokens.own = self._own.begin()
        if self._listener is not None:
            self._serve(app, self._listener, self._tls)
        if self._own.is_held:
            try:
                self._local = LocalSocket(self._folder)
            except OSError as error:
                logger.warning("no Unix socket for management: %s", error)
            else:
                self._serve(app, self._local.listener)

    def _serve(
        self, app: Starlette, listener: socket.socket, tls: ssl.SSLContext | None = None
    ) -> None:
        server = make_server(app, ManagementProtocol, tls)
        self._servers.append(server)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        self._serving.append(serving)

    async def stop(self) -> None:
        """Answer what is under way, and end."""
        for server in self._servers:
            server.end()
        await asyncio.gather(*self._serving)

    def close(self) -> None:
        """Nobody finds it any more."""
        if self._local is not None:
            self._local.close()
        self._own.end()
        self.close_listener()

    def close_listener(self) -> None:
        """Leave the address of `--admin` to others."""
        if self._listener is not None:
            self._listener.close()
