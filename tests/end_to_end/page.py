"""A tab by protocol: one block, one call at a time, reconnecting by itself.

The model takes changes strictly: a gap, or a token that comes twice, is an AssertionError. What is
typed are tokens of one width, each unique, put at borders between tokens, so that the final text
says what was lost and what came twice.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Self

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin, Subprotocol

from tests.end_to_end.cluster import LIMIT_S, ended

TOKEN_WIDTH = 6
CONNECT_S = 3.0
BLOCK = "b1"
"""Id of the block that is typed into: the first of a new document."""

Fields = dict[str, Any]


class Page:
    """What a tab knows of its block."""

    def __init__(self) -> None:
        self.is_open = False
        self.text = ""
        self.edits = 0
        self.birth = ""
        self.version = 0
        self.saved = 0
        self.snapshots = 0
        self.seen: Counter[str] = Counter()

    def take_snapshot(self, message: Fields) -> None:
        """Replace everything."""
        state = message["state"]
        assert state["status"] == "open", state
        self.text = "".join(one if isinstance(one, str) else one[0] for one in state["content"])
        self.edits = state["version"]
        self.birth, self.version = message["birth"], message["version"]
        self.snapshots += 1
        self.is_open = True

    def take_changes(self, message: Fields) -> bool:
        """Do what was done; whether the text is another one."""
        before = self.edits
        for position, _, _, details in message["items"]:
            if position > self.version:
                for detail in details:
                    self._take(detail)
        self.version = max(self.version, message["version"])
        return self.edits > before

    def _take(self, detail: list[Any]) -> None:
        kind, *rest = detail
        if kind != "edited":
            return
        version, delta = rest
        assert version == self.edits + 1, f"edit {self.edits} is followed by {version}"
        self.edits = version
        text, at = "", 0
        for item in delta:
            if isinstance(item, str):
                text += item
                self.seen[item] += 1
            else:
                assert item > 0, "nobody deletes here"
                text += self.text[at : at + item]
                at += item
        self.text = text + self.text[at:]


class Tab:
    """A client that types. Use it in `async with`; `urls` are the nodes, tried in turn.

    `ticket` gives one for the node of an address, where people sign in. `from_page`: it says that
    it is a page of its node, as clients on other machines have to.
    """

    from_page = False

    def __init__(
        self,
        client: str,
        doc: str,
        urls: Callable[[], list[str]],
        seed: int = 1,
        ticket: Callable[[str], Awaitable[str]] | None = None,
    ) -> None:
        assert len(client) == 1, "a token has room for one letter"
        self.client = client
        self.page = Page()
        self.chance = Random(seed)
        self.typed: list[str] = []
        self.op = 0
        self.unanswered: Fields | None = None
        self._is_of_lost_text = False
        self.progress: list[float] = []
        self.connections = 0
        self.retry_s = 0.05
        self.others: list[Fields] = []
        self._name = f"doc/{doc}/{BLOCK}"
        self._id = f"{client}-{secrets.token_hex(8)}"
        self._urls = urls
        self._ticket = ticket
        self._connection: ClientConnection | None = None
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._typing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Connect, and wait for the document."""
        self._task = asyncio.create_task(self._run())
        await self.until(lambda: self.page.is_open, "the document is open")
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
        """Stop typing, with or without an answer to the last call."""
        assert self._typing is not None, "this tab does not type"
        await ended(self._typing)
        self._typing = None

    async def stop_typing(self) -> None:
        """Stop, and wait for the last answer."""
        await self.interrupt()
        await self.until(lambda: self.unanswered is None, "the last call is answered")

    async def _type(self, interval_s: float) -> None:
        while True:
            await self.type_token()
            await self.until(lambda: self.unanswered is None, "a call is answered")
            await asyncio.sleep(interval_s)

    async def type_token(self) -> None:
        """Call for the next token at a border between two others."""
        assert self.unanswered is None, "one unanswered call at a time"
        page = self.page
        self.op += 1
        token = f"{self.client}{self.op:04d}."
        at = TOKEN_WIDTH * self.chance.randint(0, len(page.text) // TOKEN_WIDTH)
        self.typed.append(token)
        self.unanswered = {
            "t": "call",
            "name": self._name,
            "n": self.op,
            "answered": self.op - 1,
            "calls": [["edit", [page.edits, [at, token] if at else [token]]]],
        }
        await self._call()

    async def _call(self) -> None:
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
                await self._connect(urls[attempt % len(urls)])
            attempt += 1
            await asyncio.sleep(self.retry_s)

    async def _connect(self, url: str) -> None:
        """One connection, until it ends."""
        try:
            hello: Fields = {"t": "hello", "v": 1, "client": self._id}
            if self._ticket is not None:
                hello["ticket"] = await self._ticket(url)
            async with connect(
                url.replace("http", "ws", 1) + "/ws",
                subprotocols=[Subprotocol("groupcore.v1.msgpack")],
                origin=Origin(url) if self.from_page else None,
                compression=None,
                open_timeout=CONNECT_S,
            ) as connection:
                await self._session(connection, hello)
        except (WebSocketException, OSError, TimeoutError):
            pass
        self._connection = None

    async def _session(self, connection: ClientConnection, hello: Fields) -> None:
        await self._send(connection, hello, self._opening())
        self.connections += 1
        async for frame in connection:
            for message in msgpack.unpackb(frame):
                await self._take(connection, message)
            self._changed.set()

    def _opening(self) -> Fields:
        page = self.page
        opening: Fields = {"t": "open", "name": self._name, "type": "Block"}
        if page.birth:
            opening.update(birth=page.birth, version=page.version)
        return opening

    async def _take(self, connection: ClientConnection, message: Fields) -> None:
        page = self.page
        if message["t"] not in ("changes", "saved"):
            self.others.append(message)
        match message["t"]:
            case "ping":
                await self._send(connection, {"t": "pong"})
            case "snapshot" | "opened":
                if message["t"] == "snapshot":
                    page.take_snapshot(message)
                # An edit of a text that went with the power of all nodes: looked at now, as what
                # others type may take that text's numbers before the answer comes.
                self._is_of_lost_text = self._base() > page.edits
                if any(number == self.op for number, _, _ in message["done"]):
                    self.unanswered = None
                self._connection = connection
                await self._call()
            case "changes":
                if page.take_changes(message):
                    self.progress.append(asyncio.get_running_loop().time())
            case "saved":
                page.saved = max(page.saved, message["n"])
            case "result":
                if message["n"] == self.op:
                    self.unanswered = None
            case "error":
                await self._on_error(connection, message)

    def _base(self) -> int:
        """The version that the call without an answer is an edit of; 0 without one."""
        unanswered = self.unanswered
        return 0 if unanswered is None else int(unanswered["calls"][0][1][0])

    async def _on_error(self, connection: ClientConnection, message: Fields) -> None:
        """Only what is worth another try may be refused."""
        is_lost = message["code"] == "bad_change" and self._is_of_lost_text
        if message["code"] == "result_lost" or is_lost:
            self.unanswered = None
            return
        assert message["temporary"], f"refused: {message}"
        await asyncio.sleep(self.retry_s)
        if "n" in message:
            await self._call()
        else:
            await self._send(connection, self._opening())

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
        page = self.page
        place = f"at {page.birth} {page.version}, edit {page.edits}, saved {page.saved}"
        newest = [(one["t"], one.get("code")) for one in self.others[-5:]]
        return f"{self.client} {place}, unanswered {self.unanswered}, last heard {newest}"

    async def typed_more(self, count: int) -> None:
        """Wait until this many further tokens of this tab are in the order."""
        wanted = self.op + count
        await self.until(lambda: self.op >= wanted, f"{count} more tokens")

    async def all_saved(self) -> None:
        """Type once more, and wait until everything is saved: a reconnect may hide what was."""
        await self.type_token()
        await self.until(lambda: self.page.saved >= self.op, "everything is saved")

    def longest_gap_s(self) -> float:
        """The longest time between two changes, in seconds."""
        pairs = zip(self.progress, self.progress[1:], strict=False)
        return max((later - earlier for earlier, later in pairs), default=0.0)


def tokens(text: str) -> list[str]:
    """A text as its tokens."""
    return [text[at : at + TOKEN_WIDTH] for at in range(0, len(text), TOKEN_WIDTH)]
