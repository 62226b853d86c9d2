"""A tab by protocol: the confirmed document, one submit at a time, reconnecting by itself.

The model takes updates strictly: a gap, or an update that comes twice, is an AssertionError. What
is typed are tokens of one width, each unique, put at borders between tokens, so that the final
text says what was lost and what came twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, Self

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from groupcore.objects import DEFAULT_LIMITS, parse_transaction
from groupcore.objects.content import Content
from tests.end_to_end.cluster import LIMIT_S

TOKEN_WIDTH = 6
CONNECT_S = 3.0

Fields = dict[str, Any]


class Page:
    """What a tab knows of one document."""

    def __init__(self, doc: str) -> None:
        self.doc = doc
        self.content: Content | None = None
        self.position = (0, -1)
        self.saved = (0, 0)
        self.seen: Counter[tuple[str, int]] = Counter()
        self.answers: dict[int, list[Any]] = {}
        self.snapshots = 0

    def take_snapshot(self, message: Fields) -> None:
        """Replace everything."""
        self.content = Content(message["title"], DEFAULT_LIMITS)
        after = None
        for block, attributes, text in message["blocks"]:
            self.content.outline.insert(block, after, attributes, text)
            after = block
        self.position = (message["epoch"], message["version"])
        self.saved = (message["epoch"], message["saved"])
        self.snapshots += 1

    def take_update(self, message: Fields, mine: bool) -> bool:
        """Apply the next transaction; False for the answer to a submit that was sent again."""
        assert self.content is not None, "an update before the snapshot"
        epoch, version = message["epoch"], message["version"]
        if mine and (epoch, version) <= self.position:
            assert self.answers.get(version, message["changes"]) == message["changes"]
            return False
        self.answers[version] = message["changes"]
        assert version == self.position[1] + 1, f"{self.position} is followed by {version}"
        assert epoch >= self.position[0], "the epoch went back"
        self.content.apply(parse_transaction(message["changes"]))
        self.position = (epoch, version)
        self.seen[message["client"], message["op"]] += 1
        return True

    @property
    def first_block(self) -> str:
        """Id of the block that is typed into."""
        assert self.content is not None, "the document is not open yet"
        first = self.content.outline.first
        assert first is not None, "the document has no block"
        return first.id

    @property
    def text(self) -> str:
        """The text of the first block."""
        return "" if self.content is None else self.content.outline.get(self.first_block).text


class Tab:
    """A client that types. Use it in `async with`; `urls` are the nodes, tried in turn."""

    def __init__(self, client: str, doc: str, urls: Callable[[], list[str]], seed: int = 1) -> None:
        assert len(client) == 1, "a token has room for one letter"
        self.client = client
        self.page = Page(doc)
        self.chance = Random(seed)
        self.typed: list[str] = []
        self.op = 0
        self.unanswered: Fields | None = None
        self.progress: list[float] = []
        self.connections = 0
        self.on_update: Callable[[], None] = lambda: None
        self.retry_s = 0.05
        self.others: list[Fields] = []
        self._urls = urls
        self._connection: ClientConnection | None = None
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._typing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Connect, and wait for the document."""
        self._task = asyncio.create_task(self._run())
        await self.until(lambda: self.page.content is not None, "the document is open")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        for task in (self._typing, self._task):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        if self._connection is not None:
            await self._connection.close()

    # --- typing ---------------------------------------------------------------------------------

    def start_typing(self, interval_s: float = 0.02) -> None:
        """Type tokens until `stop_typing`, each after the former one was answered."""
        self._typing = asyncio.create_task(self._type(interval_s))

    async def interrupt(self) -> None:
        """Stop typing, with or without an answer to the last submit."""
        assert self._typing is not None, "this tab does not type"
        self._typing.cancel()
        await asyncio.wait([self._typing])
        if not self._typing.cancelled():
            self._typing.result()
        self._typing = None

    async def stop_typing(self) -> None:
        """Stop, and wait for the last answer."""
        await self.interrupt()
        await self.until(lambda: self.unanswered is None, "the last submit is answered")

    async def _type(self, interval_s: float) -> None:
        while True:
            await self.type_token()
            await self.until(lambda: self.unanswered is None, "a submit is answered")
            await asyncio.sleep(interval_s)

    async def type_token(self) -> None:
        """Submit the next token at a border between two others."""
        assert self.unanswered is None, "one unanswered submit at a time"
        page = self.page
        self.op += 1
        token = f"{self.client}{self.op:04d}."
        at = TOKEN_WIDTH * self.chance.randint(0, len(page.text) // TOKEN_WIDTH)
        self.typed.append(token)
        self.unanswered = {
            "t": "submit",
            "doc": page.doc,
            "op": self.op,
            "epoch": page.position[0],
            "base": page.position[1],
            "changes": [["text", page.first_block, [at, token] if at else [token]]],
        }
        await self._submit()

    async def _submit(self) -> None:
        if self.unanswered is not None and self._connection is not None:
            await self._send(self._connection, self.unanswered)

    async def _send(self, connection: ClientConnection, *messages: Fields) -> None:
        try:
            await connection.send(msgpack.packb(list(messages)))
        except WebSocketException:
            return  # the reader sees it too, and connects again

    # --- the connection -------------------------------------------------------------------------

    async def drop(self) -> None:
        """Lose the connection without a word, and stay away until `come_back`."""
        assert self._task is not None, "this tab is not open"
        assert self._connection is not None, "this tab is not connected"
        connection, self._connection = self._connection, None
        connection.transport.abort()
        self._task.cancel()
        await asyncio.wait([self._task])
        await connection.wait_closed()

    def come_back(self) -> None:
        """Connect again, to the first node of the list that answers."""
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        attempt = 0
        while True:
            urls = self._urls()
            if urls:
                await self._connect(urls[attempt % len(urls)].replace("http", "ws", 1) + "/ws")
            attempt += 1
            await asyncio.sleep(self.retry_s)

    async def _connect(self, url: str) -> None:
        """One connection, until it ends."""
        try:
            async with connect(
                url,
                subprotocols=[Subprotocol("groupcore.v1.msgpack")],
                compression=None,
                open_timeout=CONNECT_S,
            ) as connection:
                await self._session(connection)
        except (WebSocketException, OSError, TimeoutError):
            pass
        self._connection = None

    async def _session(self, connection: ClientConnection) -> None:
        page = self.page
        opening: Fields = {"t": "open", "doc": page.doc}
        if page.content is not None:
            opening.update(epoch=page.position[0], version=page.position[1])
        hello = {"t": "hello", "v": 1, "client": self.client, "name": self.client}
        again = [] if self.unanswered is None else [self.unanswered]
        await self._send(connection, hello, opening, *again)
        self.connections += 1
        self._connection = connection
        async for frame in connection:
            for message in msgpack.unpackb(frame):
                await self._take(connection, message)
            self._changed.set()

    async def _take(self, connection: ClientConnection, message: Fields) -> None:
        page = self.page
        if message["t"] not in ("update", "saved"):
            self.others.append(message)
        match message["t"]:
            case "ping":
                await self._send(connection, {"t": "pong"})
            case "snapshot":
                page.take_snapshot(message)
                if message["applied"] >= self.op:
                    self.unanswered = None
            case "opened":
                assert (message["epoch"], message["version"]) == page.position
            case "update":
                if page.take_update(message, message["client"] == self.client):
                    self.progress.append(asyncio.get_running_loop().time())
                    self.on_update()
                if (message["client"], message["op"]) == (self.client, self.op):
                    self.unanswered = None
            case "saved":
                page.saved = max(page.saved, (message["epoch"], message["version"]))
            case "reject":
                await self._on_reject(message)
            case "error":
                assert message["temporary"], f"refused: {message}"

    async def _on_reject(self, message: Fields) -> None:
        if message["code"] == "op_out_of_order":
            # What this tab was answered before was lost with the whole cluster, unsaved.
            self.unanswered = None
            return
        assert message["temporary"], f"refused: {message}"
        await asyncio.sleep(self.retry_s)
        await self._submit()

    # --- waiting --------------------------------------------------------------------------------

    async def until(
        self, condition: Callable[[], bool], what: str, limit_s: float = LIMIT_S
    ) -> None:
        """Wait until what this tab has taken makes this hold."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit_s
        while not condition():
            for task in (self._task, self._typing):
                if task is not None and task.done() and not task.cancelled():
                    task.result()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._changed.wait()
            except TimeoutError:
                raise AssertionError(f"within {limit_s:g} s: {what}; {self.state()}") from None
            self._changed.clear()

    def state(self) -> str:
        """What this tab is waiting for, for a failure's message."""
        place = f"at {self.page.position}, saved {self.page.saved}"
        newest = [(one["t"], one.get("code")) for one in self.others[-5:]]
        return f"{self.client} {place}, unanswered {self.unanswered}, last heard {newest}"

    async def typed_more(self, count: int) -> None:
        """Wait until this many further tokens of this tab are in the order."""
        wanted = self.op + count
        await self.until(lambda: self.op >= wanted, f"{count} more tokens")

    async def all_saved(self) -> None:
        """Wait until everything that this tab shows is saved."""
        page = self.page
        await self.until(lambda: page.saved[1] >= page.position[1], "everything is saved")

    def longest_gap_s(self) -> float:
        """The longest time between two updates, in seconds."""
        pairs = zip(self.progress, self.progress[1:], strict=False)
        return max((later - earlier for earlier, later in pairs), default=0.0)


def tokens(text: str) -> list[str]:
    """A text as its tokens."""
    return [text[at : at + TOKEN_WIDTH] for at in range(0, len(text), TOKEN_WIDTH)]
