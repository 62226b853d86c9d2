"""A page by hand that follows the list of files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.server.support import LIMIT_S

Fields = dict[str, Any]


class Follower:
    """Connects to `/feed` of a node, with a ticket where there are accounts."""

    def __init__(self, url: str, ticket: str = "") -> None:
        self._url = url.replace("http", "ws", 1) + "/feed"
        self._ticket = ticket
        self._connection: ClientConnection | None = None

    async def __aenter__(self) -> Self:
        self._connection = await connect(self._url, compression=None)
        await self._connection.send(json.dumps({"ticket": self._ticket}))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.connection.close()

    @property
    def connection(self) -> ClientConnection:
        assert self._connection is not None, "a follower is used in `async with`"
        return self._connection

    async def hear(self, fits: Callable[[Fields], bool]) -> Fields:
        """The next message that fits."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                message: Fields = json.loads(await self.connection.recv())
                if fits(message):
                    return message

    async def begun(self) -> None:
        """From now on it is told."""
        await self.hear(lambda one: one["t"] == "begin")

    async def close_code(self) -> int | None:
        """With which code the node closes the connection."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    await self.connection.recv()
        except ConnectionClosed:
            return self.connection.close_code
