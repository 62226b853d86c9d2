"""Pages and programs that ask nodes all the time, whatever becomes of the nodes."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections import Counter
from contextlib import suppress
from typing import Any

import aiohttp
from websockets.exceptions import WebSocketException

from tests.end_to_end.page import BLOCK
from tests.server.support import LIMIT_S, Page


def free_port() -> int:
    """A TCP port that nobody has at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Asker:
    """Asks nodes for everything, all the time, and counts what it is answered."""

    def __init__(self, urls: list[str], doc: str, *, pause_s: float = 0.02) -> None:
        self.urls = urls
        self.doc = doc
        self.codes: Counter[tuple[str, bool]] = Counter()
        self.closes: Counter[int] = Counter()
        self.answers: Counter[tuple[int, str]] = Counter()
        self.stale = 0
        self.pause_s = pause_s

    async def pages(self, url: str) -> None:
        """Pages that come, open, call, and come again."""
        while True:
            page = Page(url, client=secrets.token_hex(8))
            try:
                async with asyncio.timeout(LIMIT_S), page:
                    for _ in range(3):
                        await self._use(page)
                        await asyncio.sleep(self.pause_s)
            except (OSError, TimeoutError, WebSocketException):
                if page.close_code is not None:
                    self.closes[page.close_code] += 1
            await asyncio.sleep(self.pause_s)

    async def _use(self, page: Page) -> None:
        name = f"doc/{self.doc}/{BLOCK}"
        found = await page.open("Block", name)
        self._note(found)
        if found["t"] == "error":
            return
        self._note(await page.call(name, "set", [["align", secrets.token_hex(2)]]))

    def _note(self, answer: dict[str, Any]) -> None:
        if answer["t"] == "error":
            self.codes[answer["code"], answer["temporary"]] += 1

    async def requests(self, url: str) -> None:
        """Requests over HTTP."""
        api = f"{url}/api/v1"
        limit = aiohttp.ClientTimeout(total=LIMIT_S)
        async with aiohttp.ClientSession(timeout=limit) as http:
            while True:
                for method, path, body in (
                    ("GET", "/documents", None),
                    ("GET", f"/documents/{self.doc}", None),
                    ("GET", "/files", None),
                    ("PATCH", f"/documents/{self.doc}", {"title": secrets.token_hex(4)}),
                    ("POST", "/documents", {"title": "another"}),
                ):
                    with suppress(aiohttp.ClientError, OSError, TimeoutError):
                        async with http.request(method, api + path, json=body) as answer:
                            said = await answer.json() if answer.status >= 400 else {}
                            self.answers[answer.status, said.get("code", "")] += 1
                            self.stale += answer.headers.get("Groupcore-Stale") == "true"
                await asyncio.sleep(self.pause_s)

    def count(self, status: int) -> int:
        """How many requests had this status so far."""
        return sum(count for (one, _), count in self.answers.items() if one == status)

    async def ask(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            for url in self.urls:
                group.create_task(self.pages(url))
                group.create_task(self.requests(url))
