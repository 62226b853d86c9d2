"""A keystroke, from the page that types to a page of another node, and what it costs the nodes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial
from multiprocessing.connection import Connection

from bench.gateways import Place
from bench.helpers import helper
from bench.measuring import cpu_of, load_average, quantile
from bench.pages import Page, Subject, type_steadily
from bench.servers import servers

EDITS_PER_S = 20
WARM_UP = 20
ROLES = ("sequencer", "writers_node", "readers_node")


def note(seen: dict[int, float], _name: str, number: int) -> None:
    """This edit, or the answer to this call, is in the page."""
    seen.setdefault(number, time.monotonic())


async def write(url: str, subject: Subject, edits: int, pipe: Connection) -> None:
    """Type at a steady rate; tell when each keystroke fell, and when it was answered."""
    async with Page(url, subject) as page:
        await page.open()
        pipe.send("open")
        await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
        await type_steadily(page, WARM_UP, EDITS_PER_S)
        answered: dict[int, float] = {}
        page.on_answer = partial(note, answered)
        pipe.send("warm")
        fell = await type_steadily(page, edits, EDITS_PER_S)
        pipe.send((fell, [answered[WARM_UP + at] for at in range(1, edits + 1)]))


async def read(url: str, subject: Subject, edits: int, pipe: Connection) -> None:
    """Have the text open; tell when each edit was seen."""
    seen: dict[int, float] = {}
    async with Page(url, subject) as page:
        page.on_edit = partial(note, seen)
        await page.open()
        pipe.send("open")
        await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
        await page.until(lambda: WARM_UP + edits in seen)
        pipe.send([seen[WARM_UP + at] for at in range(1, edits + 1)])


def run_client(
    client: Callable[..., Coroutine[object, object, None]],
    url: str,
    subject: Subject,
    edits: int,
    pipe: Connection,
) -> None:
    """The process's main function."""
    import uvloop

    uvloop.run(client(url, subject, edits, pipe))


async def measure(edits: int) -> dict[str, object]:
    """Both pages away from the sequencer: the longest way."""
    async with servers(3) as (subject, nodes):
        return await type_across(subject, nodes, edits)


async def type_across(subject: Subject, nodes: list[Place], edits: int) -> dict[str, object]:
    """From the second node to the third; the first one sequences."""
    with (
        helper(run_client, write, nodes[1].url, subject, edits) as writer,
        helper(run_client, read, nodes[2].url, subject, edits) as reader,
    ):
        await writer.ask()
        await reader.ask()
        before = [cpu_of(node.pid) for node in nodes]
        await asyncio.sleep(1.0)
        idle = [cpu_of(node.pid) - was for node, was in zip(nodes, before, strict=True)]
        await writer.ask("type")
        before, began = [cpu_of(node.pid) for node in nodes], time.monotonic()
        fell, answered = await writer.ask()
        seen = await reader.ask("tell")
        wall_s = time.monotonic() - began
        used = [cpu_of(node.pid) - was for node, was in zip(nodes, before, strict=True)]
    busy = [max(0.0, took - rest * wall_s) for took, rest in zip(used, idle, strict=True)]
    times = [1000 * (at - pressed) for at, pressed in zip(seen, fell, strict=True)]
    own = [1000 * (at - pressed) for at, pressed in zip(answered, fell, strict=True)]
    return {
        "p50_ms": round(quantile(times, 0.5), 2),
        "p99_ms": round(quantile(times, 0.99), 2),
        "most_ms": round(max(times), 2),
        "answered_p50_ms": round(quantile(own, 0.5), 2),
        "answered_p99_ms": round(quantile(own, 0.99), 2),
        "cpu_us": {role: round(1e6 * took / edits) for role, took in zip(ROLES, busy, strict=True)},
        "idle_percent": {
            role: round(100 * share, 1) for role, share in zip(ROLES, idle, strict=True)
        },
    }


def run(quick: bool) -> dict[str, object]:
    """Three nodes with logs, one page that types and one that reads.

    `cpu_us`: of each node for each keystroke, beside what it uses when nobody types.
    """
    edits = 60 if quick else 500
    figures = asyncio.run(measure(edits))
    return {
        **figures,
        "keystrokes": edits,
        "edits_per_s": EDITS_PER_S,
        "nodes": 3,
        "load_average": load_average(),
    }
