"""Places: what is in sight of a small and a large one, walking, seizing things, who sees whom.

Three nodes and real sessions on sockets. `sight`: the things lie in a grid, and one looks at some
200 of them: `open_ms` is from the connection until what the outline says of the sight, and all
cells in it, are here; `bytes_in_sight` what that was, `outline_bytes` the outline's part of it; p50
of looks at random spots. `made_s` is how long it took to make the place and until its cells were
quartered, `cells` how many it has then, `server_mb` what the nodes have grown by meanwhile, all
together. `sizes`: `bytes_times` and `ms_times` are the largest place's figures over those of the
smallest. `walk`: a session goes through the
cells of the largest place, one after the other: `open_ms` is the p99 of one cell that its node
kept not yet. `grabs`: two sessions at two nodes seize one thing at once: `open_ms` is the p99 of
how long the loser waits to be told, `winners` how many have it each time. `people`: they stand in
one place and show where they point, ten times a second: `cpu_us_per_delivery` is the processor time
of all nodes for one showing that reaches one other person.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import Any

import aiohttp
import msgpack

from bench.measuring import cpu_of, load_average, quantile, rss_kb_of
from groupcore.shared.places.squares import Box, leaf_at, leaves_in
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster
from tests.server.places.boards import thing
from tests.server.support import Page

STEP = 256 * 64
"""Between two things of the grid, in both directions."""
SEEN = 14
"""So many things a side are in sight."""
AT_ONCE = 500
LOADERS = 4
"""So many requests put things at a time."""
RATE = 10
MADE_S = 1_800.0
SETTLED_S = 3.0
"""A place in which no cell was quartered for so long has as many as it needs."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is."""

    things: tuple[int, ...] = (10_000, 100_000)
    looks: int = 40
    cells: int = 200
    grabs: int = 1_000
    people: int = 60
    shown_s: float = 5.0


QUICK = Size((2_000,), looks=5, cells=10, grabs=20, people=9, shown_s=1.0)


def side_of(things: int) -> int:
    """So many things a side has a grid of so many."""
    return isqrt(things)


def grid(things: int) -> Iterator[dict[str, object]]:
    """Notes in a square that begins at the origin."""
    side = side_of(things)
    for number in range(side * side):
        x, y = STEP * (number % side), STEP * (number // side)
        yield {
            "id": f"t{number}",
            "kind": "sticky",
            "x": x,
            "y": y,
            "width": 6_400,
            "height": 6_400,
        }


async def made_place(http: aiohttp.ClientSession, url: str, things: int) -> str:
    """A place with such a grid; its id."""
    async with http.post(f"{url}/api/v1/places", json={"title": "Hall"}) as answer:
        doc = str((await answer.json())["id"])
    rest = grid(things)

    async def load() -> None:
        while portion := list(islice(rest, AT_ONCE)):
            await put(http, url, doc, portion)

    await asyncio.gather(*(load() for _ in range(LOADERS)))
    await quartered(url, doc, things)
    return doc


async def put(http: aiohttp.ClientSession, url: str, doc: str, things: list[Any]) -> None:
    """Put things, and again where they move too fast, or their cell is full and being quartered."""
    async with asyncio.timeout(MADE_S):
        while True:
            async with http.post(
                f"{url}/api/v1/places/{doc}/things", json={"things": things}
            ) as got:
                if got.status == 201:
                    return
                told = await got.json()
                assert got.status in (409, 503), told
            await asyncio.sleep(0.2)


async def quartered(url: str, doc: str, things: int) -> None:
    """Wait until no cell has more things than it keeps; somebody has to have it open for that."""
    side = STEP * side_of(things)
    async with asyncio.timeout(MADE_S), Page(url) as page:
        held: set[str] = set()
        before: list[str] = []
        since = time.monotonic()
        while time.monotonic() - since < SETTLED_S:
            tree = dict((await page.open("PlaceOutline", f"place/{doc}"))["state"]["tree"])
            await page.send({"t": "close", "name": f"place/{doc}"})
            leaves = leaves_in(tree, Box(0, 0, side, side))
            for path in set(leaves) - held:
                await page.open("Cell", f"place/{doc}/{path}")
                await page.send({"t": "close", "name": f"place/{doc}/{path}"})
                held.add(path)
            if leaves != before:
                before, since = leaves, time.monotonic()
            page.heard.clear()
            await asyncio.sleep(0.2)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look took: milliseconds and bytes until all is here, the outline's part of these."""

    ms: float
    size: int
    outline: int


async def look(url: str, doc: str, at: tuple[int, int]) -> Seen:
    """Open the place with this corner of the view."""
    began = time.perf_counter()
    async with Page(url) as page:
        box = Box(*at, at[0] + SEEN * STEP, at[1] + SEEN * STEP)
        outline = await page.open("PlaceOutline", f"place/{doc}", sight=list(box))
        known = size = len(msgpack.packb(outline))
        cells = leaves_in(dict(outline["state"]["tree"]), box)
        names = [f"place/{doc}/{path}" for path in cells]
        await page.send(*({"t": "open", "type": "Cell", "name": name} for name in names))
        for name in names:
            size += len(msgpack.packb(await page.hear("snapshot", name=name)))
        return Seen(1e3 * (time.perf_counter() - began), size, known)


async def sight(url: str, doc: str, things: int, looks: int) -> Row:
    """Looks at random spots of a place."""
    most = max(1, STEP * (side_of(things) - SEEN))
    chance = random.Random(things)
    found = [
        await look(url, doc, (chance.randrange(most), chance.randrange(most))) for _ in range(looks)
    ]
    return {
        "case": "sight",
        "things": things,
        "people": 1,
        "open_ms": round(quantile([one.ms for one in found], 0.5), 1),
        "open_p99_ms": round(quantile([one.ms for one in found], 0.99), 1),
        "bytes_in_sight": round(quantile([one.size for one in found], 0.5)),
        "outline_bytes": round(quantile([one.outline for one in found], 0.5)),
    }


async def cells_of(url: str, doc: str) -> int:
    """How many leaves the tree of a place has."""
    async with Page(url) as page:
        outline = await page.open("PlaceOutline", f"place/{doc}")
        return sum(role == "leaf" for _, role in outline["state"]["tree"])


def memory_mb(cluster: Cluster) -> float:
    """What all nodes have in memory."""
    return sum(rss_kb_of(node.process.pid) for node in cluster.nodes.values()) / 1024


def compared(rows: list[Row]) -> Row:
    """What the largest place takes, in terms of the smallest."""
    small, large = rows[0], rows[-1]
    return {
        "case": "sizes",
        "things": large["things"],
        "people": 1,
        "bytes_times": round(large["bytes_in_sight"] / small["bytes_in_sight"], 2),
        "ms_times": round(large["open_ms"] / max(small["open_ms"], 0.1), 2),
    }


async def walk(url: str, doc: str, things: int, cells: int) -> Row:
    """Through the cells along the grid's diagonal and rows, each of which is left behind."""
    side = side_of(things)
    async with Page(url) as page:
        outline = await page.open("PlaceOutline", f"place/{doc}")
        tree = dict(outline["state"]["tree"])
        way = dict.fromkeys(
            leaf_at(tree, STEP * x, STEP * y) for y in range(0, side, 4) for x in range(0, side, 4)
        )
        took: list[float] = []
        for path in list(way)[:cells]:
            name = f"place/{doc}/{path}"
            began = time.perf_counter()
            await page.open("Cell", name)
            took.append(1e3 * (time.perf_counter() - began))
            await page.send({"t": "close", "name": name})
    return {
        "case": "walk",
        "things": things,
        "people": 1,
        "cells": len(took),
        "open_ms": round(quantile(took, 0.99), 1),
        "open_p50_ms": round(quantile(took, 0.5), 1),
    }


async def grabs(cluster: Cluster, doc: str, rounds: int) -> Row:
    """Two who seize the same thing at once, again and again."""
    one, other = cluster.urls()[:2]
    waited: list[float] = []
    winners: set[int] = set()
    async with Page(one) as ann, Page(other) as bob:
        name = f"place/{doc}/r"
        for page in (ann, bob):
            await page.open("Cell", name)
        await ann.call(name, "put", [thing("token", "token")])

        async def seize(page: Page) -> tuple[bool, float]:
            began = time.perf_counter()
            answer = await page.call(name, "grab", ["token"])
            return answer["t"] == "result", 1e3 * (time.perf_counter() - began)

        for _ in range(rounds):
            found = await asyncio.gather(seize(ann), seize(bob))
            winners.add(sum(has for has, _ in found))
            waited += [ms for has, ms in found if not has]
            for page, (has, _) in zip((ann, bob), found, strict=True):
                if has:
                    await page.call(name, "release", ["token"])
                page.heard.clear()
    return {
        "case": "grabs",
        "things": 1,
        "people": 2,
        "rounds": rounds,
        "winners": sorted(winners),
        "open_ms": round(quantile(waited, 0.99), 1),
    }


async def people(cluster: Cluster, doc: str, count: int, seconds: float) -> Row:
    """Who stands in a place and points somewhere else ten times a second, at all nodes."""
    urls, name = cluster.urls(), f"place/{doc}/here"
    async with AsyncExitStack() as stack:
        pages = [
            await stack.enter_async_context(Page(urls[number % len(urls)]))
            for number in range(count)
        ]
        for page in pages:
            await page.send({"t": "open", "type": "PlacePresence", "name": name})
            await page.hear("opened", name=name)
        await asyncio.sleep(1.0)
        for page in pages:
            page.heard.clear()
        pids = [node.process.pid for node in cluster.nodes.values()]
        before_s, until = sum(map(cpu_of, pids)), time.monotonic() + seconds

        async def point(page: Page, number: int) -> None:
            at = 0
            while time.monotonic() < until:
                at += 1
                value = ["Ann", [at, number], [0, 0, 1, 1]]
                await page.send({"t": "present", "name": name, "value": value})
                await asyncio.sleep(1 / RATE)

        await asyncio.gather(*(point(page, number) for number, page in enumerate(pages)))
        used_s = sum(map(cpu_of, pids)) - before_s
        seen = sum(_showings(page) for page in pages)
    return {
        "case": "people",
        "things": 0,
        "people": count,
        "shown_a_second": RATE,
        "deliveries": seen,
        "cpu_us_per_delivery": round(1e6 * used_s / max(1, seen), 1),
    }


def _showings(page: Page) -> int:
    """How often somebody else's showing has come."""
    return sum(one["t"] == "presence" for one in page.heard)


async def measure(size: Size) -> list[Row]:
    """All cases."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_cluster(Path(folder), *NAMES) as cluster,
            aiohttp.ClientSession() as http,
        ):
            url = cluster.urls()[0]
            for things in size.things:
                began_s, before_mb = time.monotonic(), memory_mb(cluster)
                doc = await made_place(http, url, things)
                made = {"made_s": round(time.monotonic() - began_s, 1)}
                made["server_mb"] = round(memory_mb(cluster) - before_mb, 1)
                made["cells"] = await cells_of(url, doc)
                rows.append({**await sight(url, doc, things, size.looks), **made})
            rows.append(compared(rows))
            rows.append(await walk(cluster.urls()[1], doc, size.things[-1], size.cells))
            small = await made_place(http, url, 1)
            rows.append(await grabs(cluster, small, size.grabs))
            rows.append(await people(cluster, small, size.people, size.shown_s))
    return rows


def run(quick: bool) -> dict[str, object]:
    """10,000 and 100,000 things, 60 people; far less when it is to be quick."""
    rows = asyncio.run(measure(QUICK if quick else Size()))
    return {"places": rows, "load_average": load_average()}
