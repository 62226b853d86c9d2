"""A page without a browser: it says messages to a gateway, and keeps what it hears."""

from __future__ import annotations

import asyncio
from typing import Any

from msgpack import unpackb

from groupcore.gateway.gateway import Gateway
from groupcore.gateway.page import Page, greet
from tests.groupcore.aio.cluster import LIMIT_S

Heard = dict[str, Any]


class Tab:
    """The writer of a page's connection, and the page's side of it."""

    def __init__(self, client: str = "c" * 16) -> None:
        self.client = client
        self.heard: list[Heard] = []
        self.frames: list[bytes] = []
        self.closed: int | None = None
        self.is_slow = False
        self.page: Page | None = None
        self._event = asyncio.Event()

    @property
    def congested(self) -> bool:
        return self.is_slow

    def buffered(self) -> int:
        return 0

    def write(self, frame: bytes) -> None:
        assert not self.closed
        self.frames.append(frame)
        self.heard += unpackb(frame)
        self._event.set()

    def abort(self, code: int, reason: str) -> None:
        self.closed = self.closed or code
        self._event.set()

    async def connect(self, gateway: Gateway, principal: str = "") -> Heard:
        hello = {"t": "hello", "v": 1, "client": self.client}
        self.page = greet(gateway, hello, principal, self)  # type: ignore[arg-type]
        return await self.hears("welcome")

    def lose(self) -> None:
        """The connection breaks."""
        assert self.page is not None
        self.page.disconnect(self)

    def say(self, kind: str, **fields: object) -> None:
        assert self.page is not None
        self.page.receive({"t": kind, **fields})  # type: ignore[dict-item]

    async def hears(self, kind: str, **fields: object) -> Heard:
        """The next message of this kind with these fields, taken out with all before it."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                for place, one in enumerate(self.heard):
                    if one["t"] == kind and all(one.get(k) == v for k, v in fields.items()):
                        self.heard = self.heard[place + 1 :]
                        return one
                self._event.clear()
                await self._event.wait()

    async def open(self, kind: str, name: str, **known: object) -> Heard:
        self.say("open", name=name, type=kind, **known)
        return await self.hears("snapshot", name=name)

    async def call(self, name: str, number: int, *calls: list[object], answered: int = 0) -> Heard:
        self.say("call", name=name, n=number, answered=answered, calls=list(calls))
        return await self.hears("result", name=name, n=number)
