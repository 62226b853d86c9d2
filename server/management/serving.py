"""Serving the management address: where it listens, and what commands find there.

Idea. A node listens at `--admin` from its making on, so that an address that is taken ends it at
once. What it leaves for commands, it leaves when it starts.
"""

from __future__ import annotations

import asyncio

from starlette.applications import Starlette

from server.errors import ServerError
from server.listening import QuietServer, listen, make_server, url_of
from server.management.own_token import OwnToken
from server.management.peer import ManagementProtocol
from server.management.tokens import ManagementTokens
from server.settings import Settings


class ManagementServing:
    """Of one node. It listens at once; ServerError says what it cannot."""

    def __init__(self, settings: Settings) -> None:
        self._listener = listen(settings.admin, "--admin")
        try:
            self.tokens = ManagementTokens(settings.data)
        except ServerError:
            self._listener.close()
            raise
        self.app: Starlette | None = None
        self.url = url_of(self._listener, settings.bind)
        self._own = OwnToken(settings.data, self.url.partition("://")[2])
        self._servers: list[QuietServer] = []
        self._serving: list[asyncio.Task[None]] = []

    def start(self, app: Starlette) -> None:
        """Serve it, and tell this user's commands how to ask."""
        self.app = app
        self.tokens.own = self._own.begin()
        server = make_server(app, ManagementProtocol)
        self._servers.append(server)
        serving = asyncio.create_task(server.serve(sockets=[self._listener]))
        self._serving.append(serving)

    async def stop(self) -> None:
        """Answer what is under way, and end."""
        for server in self._servers:
            server.end()
        await asyncio.gather(*self._serving)

    def close(self) -> None:
        """Nobody finds it any more."""
        self._own.end()
        self._listener.close()
