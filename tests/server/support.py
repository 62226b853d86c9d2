"""Real nodes in the test's own process, on loopback, and pages that speak to them by hand."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from unittest.mock import patch

import aiohttp
import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from groupcore.membership.state import MembershipOptions
from groupcore.stacks import StackOptions
from server.app import PROTOCOL
from server.serve import RunningNode, key_file
from server.settings import read_settings
from tests.management import credentials

LIMIT_S = 20.0
HASTY = partial(StackOptions, membership=MembershipOptions(seek_s=0.05))
Fields = dict[str, Any]
Found = TypeVar("Found")


def free_udp_port() -> int:
    """A UDP port that nobody has at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])


async def eventually(
    condition: Callable[[], Awaitable[bool] | bool], what: str, interval_s: float = 0.01
) -> None:
    """Ask again and again until this holds; AssertionError says what did not come."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + LIMIT_S
    while True:
        found = condition()
        if found if isinstance(found, bool) else await found:
            return
        assert loop.time() < deadline, f"within {LIMIT_S:g} s: {what}"
        await asyncio.sleep(interval_s)


async def within(limit_s: float, work: Awaitable[Found], what: str) -> Found:
    """What comes of it within so many seconds in which this process has had a core.

    It looks every 10 ms and counts how often: a machine that runs something else for a while looks
    once after it, and what has had no chance to happen is not said to be late.
    """
    pending = asyncio.ensure_future(work)
    try:
        for _ in range(round(limit_s / 0.01)):
            if (await asyncio.wait({pending}, timeout=0.01))[0]:
                return pending.result()
        raise AssertionError(f"within {limit_s:g} s: {what}")
    finally:
        pending.cancel()


class Cluster:
    """Nodes of one cluster of `size`, in one process."""

    def __init__(self, folder: Path, size: int = 1) -> None:
        self.folder = folder
        self.size = size
        self.nodes: dict[str, RunningNode] = {}
        self.flags: dict[str, str | int] = {}
        self.multicast = f"228.8.8.8:{free_udp_port()}"

    async def start(self, name: str, **flags: str | int) -> RunningNode:
        """Start a node, and wait until sessions may be sent there."""
        await self.begin(name, **flags)
        return await self.until_ready(name)

    async def until_ready(self, name: str) -> RunningNode:
        """Wait until sessions may be sent to a node that was begun."""
        node = self.nodes[name]
        await eventually(lambda: node.node.ready, f"{name} is ready")
        return node

    async def begin(self, name: str, **flags: str | int) -> RunningNode:
        """Start a node."""
        given = {
            "node_id": name,
            "data": str(self.folder / name),
            "multicast": self.multicast,
            "cluster_size": self.size,
            "http": "127.0.0.1:0",
            "admin": "127.0.0.1:0",
            "accounts": "off",
            **self.flags,
            **flags,
        }
        arguments = [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]
        settings = read_settings(arguments, {})
        # Who begins alone need not listen for others as long as a node does.
        begins_alone = self.size == 1 and not self.nodes
        with patch("server.making.StackOptions", HASTY if begins_alone else StackOptions):
            node = self.nodes[name] = RunningNode(settings, key_file(settings))
        await node.start()
        return node

    async def start_all(self, *names: str) -> list[RunningNode]:
        """Start nodes together, and wait until all are in one view, and know each other."""
        nodes = [await self.begin(name) for name in names]
        for node in nodes:
            await eventually(
                lambda node=node: node.node.ready and len(node.node.urls()) == len(names),  # type: ignore[misc]
                "all are ready",
            )
        return nodes

    async def stop(self, name: str) -> None:
        """Have a node leave."""
        await self.nodes.pop(name).stop()

    async def close(self) -> None:
        """Have all nodes leave."""
        for name in list(self.nodes):
            await self.stop(name)


async def get(url: str) -> tuple[int, Any]:
    """Status and body of a GET, JSON where it is."""
    headers = credentials(url)
    async with aiohttp.ClientSession(headers=headers) as session, session.get(url) as answer:
        is_json = "json" in answer.headers.get("content-type", "")
        return answer.status, await (answer.json() if is_json else answer.text())


async def post(url: str, body: object = None) -> tuple[int, Any]:
    """Status and body of a POST of JSON."""
    headers = credentials(url)
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(url, json=body) as answer,
    ):
        return answer.status, await answer.json() if answer.status != 204 else None


async def create(node: RunningNode, title: str = "Plan", markdown: str = "first") -> str:
    """A new document through a node; its id."""
    body = {"title": title, "markdown": markdown}
    status, made = await post(f"{node.url}/api/v1/documents", body)
    assert status == 201, made
    return str(made["id"])


class Page:
    """A page by hand: it opens objects, calls, and hears everything that it is sent."""

    def __init__(
        self, url: str, client: str = "", origin: str | None = None, ticket: str = ""
    ) -> None:
        self.heard: list[Fields] = []
        self.welcome: Fields = {}
        self.close_reason = ""
        self._url = url.replace("http", "ws", 1) + "/ws"
        self._client = client or secrets.token_hex(8)
        self._hello = {"ticket": ticket} if ticket else {}
        self._origin = None if origin is None else Origin(origin)
        self._numbers: dict[str, int] = {}
        self._connection: ClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Connect and say hello."""
        self._connection = await connect(
            self._url, subprotocols=[Subprotocol(PROTOCOL)], compression=None, origin=self._origin
        )
        self._reading = asyncio.create_task(self._read(self._connection))
        await self.send({"t": "hello", "v": 1, "client": self._client, **self._hello})
        self.welcome = await self.hear("welcome")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Go."""
        assert self._connection is not None, "a page is used in `async with`"
        assert self._reading is not None, "a page is used in `async with`"
        self._reading.cancel()
        await self._connection.close()

    @property
    def close_code(self) -> int | None:
        """With which code the node has closed the connection."""
        return None if self._connection is None else self._connection.close_code

    async def closed(self) -> None:
        """Wait until the node has closed the connection."""
        assert self._connection is not None, "a page is used in `async with`"
        await self._connection.wait_closed()

    async def refusal(self) -> int | None:
        """With which code the node closes the connection on our hello."""
        async with connect(
            self._url, subprotocols=[Subprotocol(PROTOCOL)], compression=None, origin=self._origin
        ) as connection:
            hello = {"t": "hello", "v": 1, "client": self._client, **self._hello}
            await connection.send(msgpack.packb([hello]))
            async with asyncio.timeout(LIMIT_S):
                await connection.wait_closed()
            self.close_reason = connection.close_reason or ""
            return connection.close_code

    async def _read(self, connection: ClientConnection) -> None:
        try:
            async for frame in connection:
                assert isinstance(frame, bytes), "frames are binary"
                self.heard += msgpack.unpackb(frame)
                self._news.set()
        except ConnectionClosed:
            return  # who waits for something more is told so
        finally:
            asyncio.get_running_loop().call_soon(self._news.set)

    async def send(self, *messages: Fields) -> None:
        """One frame."""
        assert self._connection is not None, "a page is used in `async with`"
        await self._connection.send(msgpack.packb(list(messages)))

    async def hear(self, kind: str, **fields: object) -> Fields:
        """The next message of this kind with these fields, which is taken out of `heard`."""
        return await self._next(lambda one: one["t"] == kind and fields.items() <= one.items())

    async def _next(self, fits: Callable[[Fields], bool]) -> Fields:
        """ConnectionError when the connection is closed before it comes."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                for message in self.heard:
                    if fits(message):
                        self.heard.remove(message)
                        return message
                if self._reading is None or self._reading.done():
                    raise ConnectionError(f"closed with {self.close_code}")
                self._news.clear()
                await self._news.wait()

    async def open(self, kind: str, name: str, **about: object) -> Fields:
        """The `snapshot`, `opened` or `error` that answers."""
        await self.send({"t": "open", "type": kind, "name": name, **about})
        kinds = ("snapshot", "opened", "error")
        return await self._next(lambda one: one["t"] in kinds and one.get("name") == name)

    async def call(self, name: str, operation: str, *arguments: object) -> Fields:
        """The `result` or `error` that answers."""
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        call = {"t": "call", "name": name, "n": number, "answered": number - 1}
        await self.send({**call, "calls": [[operation, list(arguments)]]})
        return await self._next(
            lambda one: (
                one["t"] in ("result", "error")
                and (one.get("name"), one.get("n")) == (name, number)
            )
        )
