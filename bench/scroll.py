"""Pages that show a part of a document: opening, scrolling, and typing meanwhile."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from multiprocessing.connection import Connection

from bench.gateways import NAME, Place, gateways
from bench.helpers import helper
from bench.measuring import cpu_of, load_average, quantile
from bench.pages import Page, type_steadily

BLOCKS = 600
VIEWPORT = 200
STEP = 100
KEYS_PER_S = 20
PAUSE_S = 0.25
"""Between a scroll that is there and the next."""


def blocks(first: int, count: int) -> list[str]:
    """Names of the document's blocks from that one on; it goes round."""
    return [f"block/{at % BLOCKS}" for at in range(first, first + count)]


async def scroll(page: Page, first: int) -> float:
    """Move the viewport; seconds until everything in it is here."""
    began = time.monotonic()
    await page.close(*blocks(first, STEP))
    await page.open(*blocks(first + VIEWPORT, STEP))
    return time.monotonic() - began


def note(seen: dict[int, float], _name: str, number: int) -> None:
    """This call was answered now."""
    seen[number] = time.monotonic()


async def typing(page: Page, keys: int) -> list[float]:
    """Type at a steady rate; milliseconds until each keystroke was answered."""
    answered: dict[int, float] = {}
    page.on_answer = partial(note, answered)
    before = page.sent.get(NAME, 0)
    fell = await type_steadily(page, keys, KEYS_PER_S)
    return [1000 * (answered[before + at] - pressed) for at, pressed in enumerate(fell, 1)]


async def watch(url: str, keys: int, pipe: Connection) -> None:
    """A person: types with the viewport still, and while it is moved."""
    async with Page(url) as page:
        await page.open(NAME)
        began = time.monotonic()
        await page.open(*blocks(0, VIEWPORT))
        opened_s = time.monotonic() - began
        await typing(page, KEYS_PER_S)
        pipe.send(opened_s)
        loop = asyncio.get_running_loop()
        at, moves, moving = 0, list[float](), False

        async def move() -> None:
            nonlocal at
            while moving:
                moves.append(await scroll(page, at))
                at += STEP
                await asyncio.sleep(PAUSE_S)

        while (what := await loop.run_in_executor(None, pipe.recv)) != "end":
            moves.clear()
            moving = what == "scroll"
            task = asyncio.create_task(move())
            times = await typing(page, keys)
            moving = False
            await task
            pipe.send((times, list(moves)))


def run_person(url: str, keys: int, pipe: Connection) -> None:
    """The process's main function."""
    import uvloop

    uvloop.run(watch(url, keys, pipe))


def summary(times: list[float]) -> dict[str, float]:
    """Of milliseconds."""
    return {
        "p50_ms": round(quantile(times, 0.5), 2),
        "p99_ms": round(quantile(times, 0.99), 2),
        "most_ms": round(max(times), 2),
    }


async def measure(keys: int, held: bool) -> dict[str, object]:
    """One person alone; then with a second one at the same node who scrolls; then scrolling."""
    with gateways(2, held=blocks(0, BLOCKS) if held else []) as (other, node):
        assert isinstance(other, Place)
        with helper(run_person, node.url, keys) as ann, helper(run_person, node.url, keys) as bob:
            opened = [await ann.ask(), await bob.ask()]
            alone, _ = await ann.ask("type")
            asking = asyncio.create_task(bob.ask("scroll"))
            beside, _ = await ann.ask("type")
            await asking
            cpu = cpu_of(node.pid), cpu_of(other.pid)
            scrolling, moves = await ann.ask("scroll")
            used = cpu_of(node.pid) - cpu[0], cpu_of(other.pid) - cpu[1]
    return {
        "open_ms": round(1000 * max(opened), 1),
        "alone": summary(alone),
        "beside_one_who_scrolls": summary(beside),
        "scrolling": summary(scrolling),
        "scroll_p50_ms": round(1000 * quantile(moves, 0.5), 1),
        "scroll_most_ms": round(1000 * max(moves), 1),
        "scrolls": len(moves),
        "cpu_ms_per_scroll": round(1000 * used[0] / len(moves), 1),
        "other_nodes_cpu_ms_per_scroll": round(1000 * used[1] / len(moves), 1),
    }


def run(quick: bool) -> dict[str, object]:
    """Two nodes; blocks that the nodes have open anyway, as a server does, and others.

    Times of typing are until the answer, at the node that does not sequence.
    """
    keys = 100 if quick else 400
    return {
        "held_by_nodes": asyncio.run(measure(keys, held=True)),
        "held_by_nobody": asyncio.run(measure(keys, held=False)),
        "viewport": VIEWPORT,
        "step": STEP,
        "keys_per_s": KEYS_PER_S,
        "load_average": load_average(),
    }
