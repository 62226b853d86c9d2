"""Many people without browsers, in one process: each a session of its own that reads and types.

A bot has open what a page has: the outline, who is here, and the blocks in and near its view. It
takes everything that the node sends; it unpacks only answers to its own calls, so that many bots
take little CPU beside the nodes. It types in bursts as a person does, a letter a call, at the place
where it stopped, and goes to another block between two bursts. It shows its caret when it has gone
somewhere and once a second, as a page: in between others see it by the letters.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from random import Random
from typing import Any, cast
from urllib.parse import urlsplit

import msgpack

from bench.pages import hello

PROTOCOL = "groupcore.v1.msgpack"
ANSWERS = (b"\xa6result", b"\xa5error", b"\xa8snapshot", b"\xa4ping", b"\xa6people")
"""Frames that hold one of these, as msgpack has it, are unpacked."""
OPENED_AT_ONCE = 60
LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """What the bots do: `keys_per_s` in bursts of `burst_s` with pauses of `pause_s` between.

    `blocks` are the ids in their order, `view` so many of them are open around the caret.
    """

    urls: Sequence[str]
    doc: str
    blocks: Sequence[str]
    bots: int
    keys_per_s: float
    burst_s: float
    pause_s: float
    view: int
    seed: int = 1


def masked(payload: bytes) -> bytes:
    """A client's binary frame (RFC 6455, section 5.2), masked with zeros."""
    size = len(payload)
    if size < 126:
        return struct.pack("!BB", 0x82, 0x80 | size) + bytes(4) + payload
    return struct.pack("!BBH", 0x82, 0x80 | 126, size) + bytes(4) + payload


def frames_in(buffer: bytearray) -> Iterator[bytes]:
    """The whole frames at the start of the buffer, which are taken out of it."""
    at = 0
    while len(buffer) - at >= 2:
        size, head = buffer[at + 1], 2
        if size == 126:
            head = 4
        elif size == 127:
            head = 10
        if len(buffer) - at < head:
            break
        if head > 2:
            size = int.from_bytes(buffer[at + 2 : at + head], "big")
        if len(buffer) - at < head + size:
            break
        yield bytes(buffer[at + head : at + head + size])
        at += head + size
    del buffer[:at]


class Bot(asyncio.Protocol):
    """One person's session."""

    def __init__(self, crowd: Crowd, number: int) -> None:
        self.crowd = crowd
        self.name = f"Bot {number}"
        self.chance = Random(crowd.seed * 1_000 + number)
        self.place = self.chance.randrange(len(crowd.blocks))
        self.versions: dict[str, int] = {}
        self.lengths: dict[str, int] = {}
        self.sent: dict[str, int] = {}
        self.fell: dict[tuple[str, int], float] = {}
        self.answered_ms: list[float] = []
        self.carets = True
        self.keys = 0
        self.shown = 0
        self.read_bytes = 0
        self.refused: list[str] = []
        self.ended = False
        self._buffer = bytearray()
        self._is_upgraded = self.has_outline = False
        self._transport: asyncio.Transport | None = None
        self._heard = asyncio.Event()

    # --- the connection -------------------------------------------------------------------------

    async def connect(self, url: str) -> None:
        """Open the session, the outline, and who is here."""
        parts = urlsplit(url)
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, parts.hostname or "", parts.port or 80)
        assert self._transport is not None
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self._transport.write(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n".encode()
        )
        await self.until(lambda: self._is_upgraded)
        doc = self.crowd.doc
        self.say(
            hello(),
            {"t": "open", "name": f"doc/{doc}", "type": "DocumentOutline"},
            {"t": "open", "name": f"doc/{doc}/here", "type": "Presence"},
        )
        await self.until(lambda: self.has_outline)

    def close(self) -> None:
        """End the session."""
        assert self._transport is not None
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is there."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is of no such class

    def connection_lost(self, exc: Exception | None) -> None:
        """The session is over."""
        self.ended = True
        self._heard.set()

    def say(self, *messages: dict[str, Any]) -> None:
        """One frame with these messages."""
        assert self._transport is not None
        self._transport.write(masked(msgpack.packb(list(messages))))

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        self.read_bytes += len(data)
        self._buffer += data
        if not self._is_upgraded:
            head, found, rest = bytes(self._buffer).partition(b"\r\n\r\n")
            if not found:
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self._is_upgraded = True
            self._buffer = bytearray(rest)
        for frame in frames_in(self._buffer):
            if any(kind in frame for kind in ANSWERS):
                for message in msgpack.unpackb(frame, strict_map_key=False):
                    self._hear(message)
        self._heard.set()

    def _hear(self, message: dict[str, Any]) -> None:
        match message["t"]:
            case "ping":
                self.say({"t": "pong"})
            case "snapshot" if message["name"].count("/") == 2:
                block, state = message["name"].rpartition("/")[2], message["state"]
                self.versions[block] = state["version"]
                texts = [one if isinstance(one, str) else one[0] for one in state["content"]]
                self.lengths[block] = sum(map(len, texts))
            case "snapshot":
                self.has_outline = True
            case "result":
                block = message["name"].rpartition("/")[2]
                self.versions[block] = message["results"][0]["version"]
                began = self.fell.pop((block, message["n"]), None)
                if began is not None:
                    self.answered_ms.append(1e3 * (time.monotonic() - began))
            case "error":
                self.refused.append(f"{message['code']}: {message['message']}")

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for it; AssertionError when the session ends or refuses something."""
        async with asyncio.timeout(LIMIT_S):
            while not condition():
                assert not self.ended, f"{self.name}'s session has ended"
                assert not self.refused, self.refused[0]
                self._heard.clear()
                await self._heard.wait()

    # --- what it does ---------------------------------------------------------------------------

    @property
    def block(self) -> str:
        """The id of the block where it is."""
        return self.crowd.blocks[self.place]

    async def look(self) -> None:
        """Open the blocks in and near the view, and close the others."""
        crowd = self.crowd
        first = max(0, min(self.place - crowd.view // 2, len(crowd.blocks) - crowd.view))
        wanted = crowd.blocks[first : first + crowd.view]
        near = set(wanted)
        for block in [block for block in self.versions if block not in near]:
            del self.versions[block]
            self.say({"t": "close", "name": f"doc/{crowd.doc}/{block}"})
        missing = [block for block in wanted if block not in self.versions]
        for at in range(0, len(missing), OPENED_AT_ONCE):
            names = [f"doc/{crowd.doc}/{one}" for one in missing[at : at + OPENED_AT_ONCE]]
            self.say(*({"t": "open", "name": name, "type": "Block"} for name in names))
        await self.until(lambda: all(block in self.versions for block in wanted))

    def type_letter(self) -> None:
        """A key falls: a letter behind the last one here."""
        block, now = self.block, time.monotonic()
        caret = self.lengths[block]
        number = self.sent.get(block, 0) + 1
        self.sent[block] = number
        self.fell[block, number] = now
        delta: list[object] = [caret, "x"] if caret else ["x"]
        name = f"doc/{self.crowd.doc}/{block}"
        call = ["edit", [self.versions[block], delta]]
        self.say({"t": "call", "name": name, "n": number, "answered": number - 1, "calls": [call]})
        self.lengths[block] = caret + 1
        self.keys += 1

    def show(self) -> None:
        """Show the caret to the others."""
        caret = self.lengths[self.block]
        value = [self.name, self.block, caret, caret, self.block, False, 0]
        self.say({"t": "present", "name": f"doc/{self.crowd.doc}/here", "value": value})
        self.shown += 1

    async def live(self) -> None:
        """Type in bursts, and go to another block between two."""
        crowd, chance = self.crowd, self.chance
        await asyncio.sleep(chance.uniform(0, crowd.burst_s + crowd.pause_s))
        while True:
            begin, number = time.monotonic(), 0
            while number < crowd.burst_s * crowd.keys_per_s:
                due = begin + number / crowd.keys_per_s * chance.uniform(0.9, 1.1)
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                # As a page does: one call of a block is under way, the next gathers behind it.
                await self.until(lambda: not self.fell)
                if self.carets and number and number % crowd.keys_per_s == 0:
                    self.show()
                self.type_letter()
                number += 1
            await self.until(lambda: not self.fell)
            if self.carets:
                self.show()
            await asyncio.sleep(chance.uniform(0.5, 1.5) * crowd.pause_s)
            step = chance.randint(-10, 10)
            self.place = min(len(crowd.blocks) - 1, max(0, self.place + step))
            await self.look()
            if self.carets:
                self.show()


async def crowd_of(crowd: Crowd, pipe: Connection) -> None:
    """All bots of a crowd: they come, `live` with carets or `write` without, and are counted."""
    bots = [Bot(crowd, number) for number in range(crowd.bots)]
    for number, bot in enumerate(bots):
        await bot.connect(crowd.urls[number % len(crowd.urls)])
        await bot.look()
        bot.show()
    pipe.send(len(bots))
    loop = asyncio.get_running_loop()
    lives: list[asyncio.Task[None]] = []
    while (what := await loop.run_in_executor(None, pipe.recv)) != "end":
        if what in ("live", "write"):
            for bot in bots:
                bot.carets = what == "live"
            lives = lives or [asyncio.create_task(bot.live()) for bot in bots]
        for life in lives:
            if life.done():
                life.result()
        answered = [ms for bot in bots for ms in bot.answered_ms]
        for bot in bots:
            bot.answered_ms.clear()
        totals = {
            "bots": len(bots),
            "keys": sum(bot.keys for bot in bots),
            "shown": sum(bot.shown for bot in bots),
            "read_bytes": sum(bot.read_bytes for bot in bots),
            "ended": sum(bot.ended for bot in bots),
            "refused": sum(len(bot.refused) for bot in bots),
        }
        pipe.send((totals, answered))


def run_crowd(crowd: Crowd, pipe: Connection) -> None:
    """The process's main function."""
    import uvloop

    uvloop.run(crowd_of(crowd, pipe))
