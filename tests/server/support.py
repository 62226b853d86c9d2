"""What the server's tests share: nodes on port 0 over a group in memory, and a small client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp
import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from server.serve import RunningNode
from server.settings import read_settings
from tests.server.memory_group import MemoryChannel, MemoryGroup

KEY = bytes(range(32))
WAIT_S = 10.0

Fields = dict[str, Any]


def text_change(block: str, at: int, text: str) -> list[Any]:
    """A change that inserts text at a place."""
    return ["text", block, [at, text] if at else [text]]


class Cluster:
    """Nodes of one group in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.group = MemoryGroup()
        self.nodes: dict[str, RunningNode] = {}

    async def start(self, name: str, **flags: str | int) -> RunningNode:
        """Start a node and wait until it is ready."""
        running = await self.begin(name, **flags)
        await until(lambda: running.node.ready)
        return running

    async def begin(self, name: str, **flags: str | int) -> RunningNode:
        """Start a node."""
        given = {
            "node_id": name,
            "http": "127.0.0.1:0",
            "admin": "127.0.0.1:0",
            "data": str(self.folder / name),
            **flags,
        }
        arguments = [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]
        running = RunningNode(read_settings(arguments, {}), self.group.maker(name), KEY)
        self.nodes[name] = running
        await running.start()
        return running

    async def stop(self, name: str) -> None:
        """Stop a node gracefully."""
        await self.nodes.pop(name).stop()

    def channel(self, name: str) -> MemoryChannel:
        """A node's channel."""
        return cast(MemoryChannel, self.nodes[name].node.channel)

    async def close(self) -> None:
        """Stop all."""
        for name in list(self.nodes):
            await self.stop(name)


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until this holds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + WAIT_S
    while not condition():
        assert loop.time() < deadline, "what the test waits for does not come"
        turn = asyncio.Event()
        loop.call_later(0.002, turn.set)
        await turn.wait()


class Browser:
    """A client that speaks the protocol by hand."""

    def __init__(self, connection: ClientConnection, client: str) -> None:
        self.connection = connection
        self.client = client
        self.waiting: list[Fields] = []

    async def send(self, *messages: Fields) -> None:
        """One frame."""
        await self.connection.send(msgpack.packb(list(messages)))

    async def take(self, kind: str, **fields: object) -> Fields:
        """The next message of this kind with these fields; others before it stay."""
        async with asyncio.timeout(WAIT_S):
            while True:
                for index, message in enumerate(self.waiting):
                    if message["t"] == kind and fields.items() <= message.items():
                        return self.waiting.pop(index)
                self.waiting += msgpack.unpackb(await self.connection.recv())

    async def open(self, doc: str, **position: int) -> Fields:
        """Open a document; its snapshot or `opened`."""
        await self.send({"t": "open", "doc": doc, **position})
        return await self.take("opened" if position else "snapshot", doc=doc)

    async def submit(self, doc: str, op: int, base: tuple[int, int], changes: list[Any]) -> None:
        """Submit a transaction."""
        fields = {"op": op, "epoch": base[0], "base": base[1], "changes": changes}
        await self.send({"t": "submit", "doc": doc, **fields})

    async def close_code(self) -> int:
        """The code with which the server closes the connection."""
        async with asyncio.timeout(WAIT_S):
            await self.connection.wait_closed()
        assert self.connection.close_code is not None
        return self.connection.close_code


@asynccontextmanager
async def connected(running: RunningNode) -> AsyncIterator[ClientConnection]:
    """A raw connection."""
    url = running.url.replace("http", "ws") + "/ws"
    protocols = [Subprotocol("groupcore.v1.msgpack")]
    async with connect(url, subprotocols=protocols, compression=None) as connection:
        yield connection


@asynccontextmanager
async def browser(running: RunningNode, client: str = "c1", name: str = "Ann") -> AsyncIterator[
    Browser
]:  # fmt: skip
    """A session after its handshake."""
    async with connected(running) as connection:
        made = Browser(connection, client)
        await made.send({"t": "hello", "v": 1, "client": client, "name": name})
        await made.take("welcome")
        yield made


async def create(running: RunningNode, title: str = "Plan", text: str = "hello") -> str:
    """A new document with one paragraph, block `b1`; its id."""
    async with aiohttp.ClientSession() as session:
        body = {"title": title, "markdown": text}
        async with session.post(f"{running.url}/api/v1/documents", json=body) as answer:
            assert answer.status == 201, await answer.text()
            return str((await answer.json())["id"])


async def get(url: str) -> tuple[int, Any]:
    """Status and body of a GET, JSON where it is."""
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        if "json" in answer.headers.get("content-type", ""):
            return answer.status, await answer.json()
        return answer.status, await answer.text()
