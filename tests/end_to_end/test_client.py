"""The TypeScript client against Python replicas: pages edit at random, and all become equal.

The client runs in Node; the network between it and two nodes' gateways is the test's own: frames
are held back and connections break, with and without what was under way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from groupcore.aio import Node
from groupcore.frames import decode
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.limits import RULES
from groupcore.gateway.page import Page, greet
from groupcore.shared.types import List, Text
from tests.end_to_end.cluster import ROOT, eventually
from tests.groupcore.aio.test_objects import Cluster

pytestmark = [pytest.mark.process, pytest.mark.slow]

CLIENT = ROOT / "webui" / "dist" / "client" / "groupcore.js"
DRIVER = Path(__file__).with_name("client_driver.mjs")
KINDS = ("text", "text", "text", "insert", "append", "set", "delete", "move")
WORDS = ("a", "bc", "é", "😀", "\n")
EDITS = 150


class Wire:
    """A page's connection: frames to the page wait a little, and may be lost with it."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.number = number
        self.page: Page | None = None
        self.is_broken = False
        self.waiting: list[bytes] = []

    @property
    def congested(self) -> bool:
        return len(self.waiting) > 3

    def buffered(self) -> int:
        return sum(map(len, self.waiting))

    def write(self, frame: bytes) -> None:
        self.waiting.append(frame)
        if len(self.waiting) == 1:
            delay_s = self.world.draw.random() / 50
            asyncio.get_running_loop().call_later(delay_s, self._arrive)

    def _arrive(self) -> None:
        waiting, self.waiting = self.waiting, []
        for frame in waiting:
            if not self.is_broken:
                self.world.tell(self.number, "frame", frame.hex())

    def abort(self, code: int, reason: str) -> None:
        self.world.break_wire(self.number)


class World:
    """Pages in Node, gateways here."""

    def __init__(
        self, gateways: list[Gateway], node: asyncio.subprocess.Process, seed: int
    ) -> None:
        self.gateways = gateways
        self.draw = random.Random(seed)
        self.wires: dict[int, Wire] = {}
        self.opened: set[tuple[int, str]] = set()
        self.looks: dict[int, list[Any]] = {}
        self._node = node
        self._at = dict.fromkeys(range(3), 0)

    def tell(self, *words: object) -> None:
        assert self._node.stdin is not None
        self._node.stdin.write(json.dumps(words).encode() + b"\n")

    async def listen(self) -> None:
        assert self._node.stdout is not None
        while line := await self._node.stdout.readline():
            number, verb, *rest = json.loads(line)
            self.hear(number, verb, rest)

    def hear(self, number: int, verb: str, rest: list[Any]) -> None:
        match verb:
            case "connect":
                self._at[number] = 0 if "one" in rest[0] else 1
                self.wires[number] = Wire(self, number)
                asyncio.get_running_loop().call_later(0.005, self.tell, number, "open")
            case "frame":
                self.receive(self.wires[number], bytes.fromhex(rest[0]))
            case "closed":
                self.lose(number)
            case "opened":
                self.opened.add((number, rest[0]))
            case "looks":
                self.looks[number] = rest

    def receive(self, wire: Wire, frame: bytes) -> None:
        if wire.is_broken:
            return
        for message in decode(frame, RULES):
            if wire.page is None:
                wire.page = greet(self.gateways[self._at[wire.number]], message, "", wire)
            else:
                wire.page.receive(message)

    def lose(self, number: int) -> None:
        """The gateway's side of a connection is gone."""
        wire = self.wires[number]
        wire.is_broken = True
        if wire.page is not None:
            wire.page.disconnect(wire)

    def break_wire(self, number: int) -> None:
        """Both sides of a connection are gone, with what was under way."""
        if not self.wires[number].is_broken:
            self.lose(number)
            self.tell(number, "lose")

    async def look(self) -> list[list[Any]]:
        self.looks.clear()
        for number in range(3):
            self.tell(number, "look")

        async def all_have_looked() -> bool:
            return len(self.looks) == 3

        await eventually(all_have_looked, "the pages say what they show")
        return [self.looks[number] for number in range(3)]


@contextlib.asynccontextmanager
async def running_world(seed: int) -> AsyncIterator[World]:
    assert CLIENT.exists(), f"{CLIENT} is missing. Run: make setup"
    cluster = Cluster()
    gateways = [
        Gateway(node, [List[str], Text], linger_s=0.2) for node in await cluster.start("a", "b")
    ]
    pipe = asyncio.subprocess.PIPE
    command = ("node", str(DRIVER), CLIENT.as_uri())
    node = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=1 << 24)
    world = World(gateways, node, seed)
    listening = asyncio.create_task(world.listen())
    try:
        yield world
    finally:
        node.kill()
        await node.wait()
        await listening
        for gateway in gateways:
            await gateway.close()
        for one in cluster.nodes.values():
            await one.close()


@pytest.mark.parametrize("seed", range(4))
async def test_three_pages_and_the_replicas_become_equal(seed: int) -> None:
    async with running_world(seed) as world:
        draw = world.draw
        for number in range(3):
            world.tell(number, "begin")

        async def all_are_open() -> bool:
            return len(world.opened) == 6

        await eventually(all_are_open, "all pages have both objects")
        for _ in range(EDITS):
            number, count = draw.randrange(3), draw.choice((0, 0, 0, 1, 2))
            kind, word = draw.choice(KINDS), draw.choice(WORDS)
            world.tell(number, "edit", kind, draw.randrange(1000), count, word)
            if draw.random() < 0.04:
                world.break_wire(number)
            if draw.random() < 0.5:
                await asyncio.wait([listen_a_moment(draw)])
        found: list[list[Any]] = []

        async def all_are_equal() -> bool:
            nonlocal found
            found = await world.look()
            return all(one[0] and one[1:3] == found[0][1:3] for one in found)

        with contextlib.suppress(AssertionError):
            await eventually(all_are_equal, "all pages show the same")
        assert [one[0] for one in found] == [True] * 3, found
        assert [one[3:] for one in found] == [[None, []]] * 3
        assert found[0][1:3] == found[1][1:3] == found[2][1:3]
        for gateway in world.gateways:
            node = gateway.node
            assert isinstance(node, Node)
            text = await node.open(Text, "note")
            items = await node.open(List[str], "list")
            assert text.text == found[0][1]
            assert [list(item) for item in items.items()] == found[0][2]


def listen_a_moment(draw: random.Random) -> asyncio.Future[None]:
    """Done a little later."""
    loop = asyncio.get_running_loop()
    moment: asyncio.Future[None] = loop.create_future()
    loop.call_later(draw.random() / 50, moment.set_result, None)
    return moment
