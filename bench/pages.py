"""A page without a browser, for benchmarks: it types into a text, and sees what others do."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.gateways import NAME, SUBPROTOCOL

LIMIT_S = 20.0
TOKEN = "abcdef"

Heard = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is typed into, and the name of the protocol there."""

    name: str = NAME
    type: str = "Text"
    subprotocol: str = SUBPROTOCOL


TEXT = Subject()


def hello() -> Heard:
    """A page's first message."""
    return {"t": "hello", "v": 1, "client": secrets.token_hex(16)}


def opening(subject: Subject) -> Heard:
    """The page opens a text."""
    return {"t": "open", "name": subject.name, "type": subject.type}


class Page:
    """A page that has texts open. `edits`: of each the version that it has seen."""

    def __init__(self, url: str, subject: Subject = TEXT) -> None:
        self.subject = subject
        self.edits: dict[str, int] = {}
        self.answered: dict[str, int] = {}
        self.sent: dict[str, int] = {}
        self.on_edit: Callable[[str, int], None] = lambda name, edits: None
        self.on_answer: Callable[[str, int], None] = lambda name, number: None
        self._url = url
        self._refusal: Heard | None = None
        self._changed = asyncio.Event()
        self._connection: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Connect."""
        self._connection = await connect(
            self._url, subprotocols=[Subprotocol(self.subject.subprotocol)], compression=None
        )
        await self.say(hello())
        self._task = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        assert self._task is not None
        assert self._connection is not None
        self._task.cancel()
        await self._connection.close()

    async def say(self, *messages: Heard) -> None:
        """One frame with these messages."""
        assert self._connection is not None
        await self._connection.send(msgpack.packb(list(messages)))

    async def open(self, *names: str) -> None:
        """Open texts, and wait until they are here; without names the subject's."""
        names = names or (self.subject.name,)
        for at in range(0, len(names), 60):
            some = names[at : at + 60]
            await self.say(*(opening(replace(self.subject, name=name)) for name in some))
        await self.until(lambda: all(name in self.edits for name in names))

    async def close(self, *names: str) -> None:
        """Close texts."""
        for name in names:
            self.edits.pop(name, None)
        for at in range(0, len(names), 60):
            await self.say(*({"t": "close", "name": name} for name in names[at : at + 60]))

    async def type(self) -> int:
        """Type a token at the start of the subject; the call's number."""
        name = self.subject.name
        number = self.sent[name] = self.sent.get(name, 0) + 1
        answered = self.answered.get(name, 0)
        call = ["edit", [self.edits[name], [TOKEN]]]
        await self.say(
            {"t": "call", "name": name, "n": number, "answered": answered, "calls": [call]}
        )
        return number

    async def all_answered(self) -> None:
        """Wait until all that was typed is answered."""
        name = self.subject.name
        await self.until(lambda: self.answered.get(name, 0) == self.sent.get(name, 0))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for it; TimeoutError after LIMIT_S, AssertionError once the node has refused."""
        async with asyncio.timeout(LIMIT_S):
            while not condition():
                assert self._refusal is None, self._refusal
                self._changed.clear()
                await self._changed.wait()

    async def _listen(self) -> None:
        assert self._connection is not None
        async for frame in self._connection:
            for message in msgpack.unpackb(frame, strict_map_key=False):
                if message["t"] == "ping":
                    await self.say({"t": "pong"})
                self._hear(message)
            self._changed.set()

    def _hear(self, message: Heard) -> None:
        match message["t"]:
            case "snapshot":
                self.edits[message["name"]] = message["state"]["version"]
            case "changes":
                name = message["name"]
                for item in message["items"]:
                    for detail in item[3]:  # of a text: version, delta; of a block: a word before
                        edits = detail[-2]
                        self.edits[name] = edits
                        self.on_edit(name, edits)
            case "result":
                self.answered[message["name"]] = message["n"]
                self.on_answer(message["name"], message["n"])
            case "error":
                self._refusal = message


async def type_steadily(page: Page, count: int, per_s: float) -> list[float]:
    """Type at a steady rate; when each keystroke fell, on the clock of all processes."""
    fell = []
    begin = time.monotonic()
    for number in range(count):
        due = begin + number / per_s
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        # What a slow answer holds up counts from when it was typed.
        await page.all_answered()
        await page.type()
        fell.append(due)
    await page.all_answered()
    return fell
