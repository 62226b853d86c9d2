"""A node that cannot keep up, and asks its pages to slow down; and one that does not ask.

Pages of the built client (in Node.js) type at a steady rate, each into a text of its own. The node
needs a fixed time for each call, so it can take fewer calls a second than there are keys: that is
the load. `asked` is the node as it is; in `unasked` it asks for no pause
(`groupcore.gateway.brake`).

`keys_per_call` says how much pages compose. `queue_ms` is how long a frame has waited between page
and node, `frames_a_turn` how many had come when the loop turned: the node's queue. `saved_ms` is
the time from a page's last key until all its keys are confirmed, `pause_ms` the longest pause that
was asked for.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.hosting import together
from bench.measuring import load_average, quantile
from bench.processes import Cluster
from groupcore.aio import Node
from groupcore.frames import decode
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.limits import RULES
from groupcore.gateway.page import Page, greet
from groupcore.shared.types import Text

CLIENT = Path(__file__).parent.parent / "webui" / "dist" / "client" / "groupcore.js"
DRIVER = Path(__file__).with_name("slowing_pages.mjs")
LIMIT_S = 120.0
READ_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is: the node takes `1000 / call_ms` calls a second."""

    pages: int = 60
    keys: int = 150
    keys_per_s: float = 10.0
    call_ms: float = 4.0


@dataclass(slots=True)
class Seen:
    """What was measured of one round."""

    calls: int = 0
    queue_ms: list[float] = field(default_factory=list)
    queued: list[int] = field(default_factory=list)
    saved_ms: list[float] = field(default_factory=list)
    pause_ms: int = 0


class Wire:
    """A page's connection: what the node sends goes to the driver's input."""

    congested = False

    def __init__(self, tell: Callable[..., None], number: int) -> None:
        self._tell, self._number = tell, number
        self.page: Page | None = None

    def buffered(self) -> int:
        """Nothing waits."""
        return 0

    def write(self, frame: bytes) -> None:
        """To the page."""
        self._tell(self._number, "frame", frame.hex())

    def abort(self, code: int, reason: str) -> None:
        """The node leaves at the end."""


class Load:
    """The pages, and what the node takes of them: one call after the other, each for a while."""

    def __init__(
        self, gateway: Gateway, driver: asyncio.subprocess.Process, size: Size, seen: Seen
    ) -> None:
        self._gateway, self._driver, self._size, self._seen = gateway, driver, size, seen
        self._wires: dict[int, Wire] = {}
        self._events: dict[str, int] = {"opened": 0, "typed": 0, "saved": 0}
        self._came = asyncio.Event()
        self._queue: asyncio.Queue[tuple[int, bytes, float]] = asyncio.Queue()

    def tell(self, *words: object) -> None:
        """A line to the driver."""
        assert self._driver.stdin is not None
        self._driver.stdin.write(json.dumps(words).encode() + b"\n")

    async def until(self, what: str) -> None:
        """All pages have said this."""
        async with asyncio.timeout(LIMIT_S):
            while self._events[what] < self._size.pages:
                self._came.clear()
                await self._came.wait()

    async def listen(self) -> None:
        """Read what the pages say; their frames wait in a queue, as in a socket's buffer."""
        assert self._driver.stdout is not None
        while line := await self._driver.stdout.readline():
            number, verb, *rest = json.loads(line)
            match verb:
                case "connect":
                    self._wires[number] = Wire(self.tell, number)
                    self.tell(number, "open")
                case "frame":
                    self._queue.put_nowait((number, bytes.fromhex(rest[0]), rest[1]))
                case _:
                    self._events[verb] += 1
                    self._came.set()
                    if verb == "saved":
                        self._seen.saved_ms.append(rest[0])

    async def take(self) -> None:
        """The node's work: in one turn of the loop all frames that have come, as of sockets."""
        while True:
            first = await self._queue.get()
            frames = [first, *(self._queue.get_nowait() for _ in range(self._queue.qsize()))]
            for number, frame, sent_ms in frames:
                self._take(number, decode(frame, RULES), sent_ms)
            self._seen.queued.append(len(frames))
            self._seen.pause_ms = max(self._seen.pause_ms, self._gateway.brake.pause_ms)
            await asyncio.sleep(0)

    def _take(self, number: int, messages: Sequence[dict[str, Any]], sent_ms: float) -> None:
        """One frame: `call_ms` for each call in it."""
        calls = sum(message["t"] == "call" for message in messages)
        if calls:
            self._seen.calls += calls
            self._seen.queue_ms.append(1e3 * time.time() - sent_ms)
            time.sleep(calls * self._size.call_ms / 1e3)
        wire = self._wires[number]
        for message in messages:
            if wire.page is None:
                wire.page = greet(self._gateway, message, "", wire)
            else:
                wire.page.receive(message)


@asynccontextmanager
async def loaded(size: Size, seen: Seen) -> AsyncIterator[tuple[Gateway, Load]]:
    """A node with these pages, whose texts are open."""
    cluster = Cluster(1)
    pipe = asyncio.subprocess.PIPE
    with tempfile.TemporaryDirectory(prefix="groupcore-bench-") as folder:
        node = Node(
            "bench",
            node_id="n0",
            multicast=cluster.multicast,
            key=cluster.key,
            cluster_size=1,
            data_dir=Path(folder),
        )
        async with node:
            await together(node.groups, 1)
            gateway = Gateway(node, [Text])
            driver = await asyncio.create_subprocess_exec(
                *("node", str(DRIVER), CLIENT.as_uri()), stdin=pipe, stdout=pipe, limit=READ_BYTES
            )
            load = Load(gateway, driver, size, seen)
            work = [asyncio.create_task(load.listen()), asyncio.create_task(load.take())]
            try:
                for number in range(size.pages):
                    load.tell(number, "begin")
                await load.until("opened")
                yield gateway, load
            finally:
                for task in work:
                    task.cancel()
                await asyncio.wait(work)
                await gateway.close()
                driver.kill()
                await driver.wait()


async def round_of(size: Size, *, is_asked: bool) -> dict[str, object]:
    """All pages type; the figures."""
    seen = Seen()
    async with loaded(size, seen) as (gateway, load):
        if not is_asked:
            gateway.brake.look = lambda late_s, now_s: None  # type: ignore[method-assign]
        seen.calls, seen.queue_ms, seen.queued = 0, [], []
        for number in range(size.pages):
            load.tell(number, "type", size.keys_per_s, size.keys)
        await load.until("saved")
        keys = size.pages * size.keys
        node = gateway.node
        assert isinstance(node, Node)
        for number in range(size.pages):
            text = await node.open(Text, f"note{number}")
            assert text.text == "x" * size.keys, "each key is there once"
    return {
        "keys": keys,
        "calls": seen.calls,
        "keys_per_call": round(keys / seen.calls, 2),
        "queue_ms_p50": round(quantile(seen.queue_ms, 0.5), 1),
        "queue_ms_p99": round(quantile(seen.queue_ms, 0.99), 1),
        "frames_a_turn_p50": quantile(seen.queued, 0.5),
        "frames_a_turn_most": max(seen.queued),
        "saved_ms_p50": round(quantile(seen.saved_ms, 0.5), 1),
        "saved_ms_most": round(max(seen.saved_ms), 1),
        "pause_ms": seen.pause_ms,
    }


def run(quick: bool) -> dict[str, object]:
    """60 pages with 10 keys a second each, at a node that takes 250 calls a second."""
    size = Size(pages=30, keys=20, call_ms=10.0) if quick else Size()
    asked = asyncio.run(round_of(size, is_asked=True))
    unasked = asyncio.run(round_of(size, is_asked=False))
    return {"asked": asked, "unasked": unasked, "load_average": load_average()}
