"""A keystroke, from the client that types to the page model of another client on another node."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from multiprocessing.connection import Connection

from bench.measuring import load_average, quantile
from bench.nodes import helper, nodes
from tests.end_to_end.page import Tab

EDITS_PER_S = 20
WARM_UP = 20


class Clock:
    """Notes when an update is in the page model."""

    def __init__(self) -> None:
        self.seen: dict[int, float] = {}

    def note(self, tab: Tab) -> None:
        """Everything up to the tab's version is shown by now."""
        self.seen.setdefault(tab.page.position[1], time.monotonic())


async def write(url: str, doc: str, edits: int, pipe: Connection) -> None:
    """Type at a steady rate; answer when each keystroke fell, by operation number."""
    async with Tab("w", doc, lambda: [url]) as tab:
        pipe.send("open")
        await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
        fell = {}
        begin = time.monotonic()
        for number in range(WARM_UP + edits):
            due = begin + number / EDITS_PER_S
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            # What a slow answer holds up counts from when it was typed.
            await tab.until(lambda: tab.unanswered is None, "the former one is answered")
            await tab.type_token()
            fell[tab.op] = max(due, begin)
        await tab.until(lambda: tab.unanswered is None, "the last one is answered")
        pipe.send(fell)


async def read(url: str, doc: str, edits: int, pipe: Connection) -> None:
    """Show the document; answer when each version was in the page model."""
    clock = Clock()
    async with Tab("r", doc, lambda: [url]) as tab:
        tab.on_update = lambda: clock.note(tab)
        pipe.send("open")
        await tab.until(lambda: tab.page.position[1] >= WARM_UP + edits, "all", limit_s=60)
        pipe.send(clock.seen)


def run_client(
    client: Callable[..., Coroutine[object, object, None]],
    url: str,
    doc: str,
    edits: int,
    pipe: Connection,
) -> None:
    """The process's main function."""
    import uvloop

    uvloop.run(client(url, doc, edits, pipe))


async def measure(edits: int) -> list[float]:
    """Latencies in milliseconds, from the time when the key is pressed."""
    async with nodes("a", "b", "c") as cluster:
        doc = await cluster.create("a")
        sequencer = await cluster.sequencer()
        first, second = (cluster.nodes[name].url for name in "abc" if name != sequencer)
        with ExitStack() as stack:
            writer = stack.enter_context(helper(run_client, write, first, doc, edits))
            reader = stack.enter_context(helper(run_client, read, second, doc, edits))
            await writer.ask()
            await reader.ask()
            fell = await writer.ask("type")
            seen = await reader.ask()
    # Version n is what operation n has made: nobody else types.
    times = [1000 * (seen[op] - at) for op, at in fell.items() if op > WARM_UP]
    assert len(times) == edits, "every keystroke has arrived"
    return times


def run(quick: bool) -> dict[str, object]:
    """Three nodes, both clients away from the sequencer: the longest way."""
    times = asyncio.run(measure(60 if quick else 500))
    return {
        "p50_ms": round(quantile(times, 0.5), 2),
        "p99_ms": round(quantile(times, 0.99), 2),
        "most_ms": round(max(times), 2),
        "keystrokes": len(times),
        "edits_per_s": EDITS_PER_S,
        "nodes": 3,
        "k": 1,
        "load_average": load_average(),
    }
