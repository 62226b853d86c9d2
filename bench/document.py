"""One document: opening it, joining late, typing in it, and what it takes on disk and in memory.

Three nodes; real browsers, and real sessions on sockets. `open` is from the beginning of the
navigation until all that is in sight is painted, in a fresh profile (nothing in the browser's
cache) and once more in the same; `main_thread` is the processor time of the page's own work until
then. `typing` is of one browser at the first node and one at the second: `own` from the key's event
until the letter is painted there, `remote` until it is painted at the other; `long_to_short` is how
many times as long both take (p50) in the longest document as in the shortest. `late_join` is what a
newcomer's session is sent, and the time until it has it: of a document with so many edits all
blocks, and those that a page would open; of one that was imported the whole. `log`: bytes that a
node writes to its log for 1,000 edits, and what its folder grows by. `memory`: of a node for each
document that is open there, of a page the heap of scripts after a collection, and what all
processes of a browser take that has nothing else open.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, CDPSession

from bench.late_join import Figures, history, large, node_memory
from bench.measuring import load_average, pss_kb_of, quantile
from bench.people import browsers_of, metrics_of, put_in, spread, two_people, type_letters
from tests.chromium import chromium
from tests.end_to_end.browser import Tabs, running_browser
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster

KEYS_PER_S = 8.0

OPENED = """(() => {
  const isThere = () => {
    const blocks = document.querySelector("[data-testid=editor]")?.children ?? [];
    for (const block of blocks) {
      if (block.getBoundingClientRect().top >= innerHeight) break;
      if (block.dataset.away !== undefined) return false;
    }
    return blocks.length > 0;
  };
  const look = () => {
    if (!isThere()) return requestAnimationFrame(look);
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { window.openedAt = performance.now(); };
    channel.port2.postMessage(0);
  };
  requestAnimationFrame(look);
})();"""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is."""

    opened: tuple[int, ...] = (1, 1_000, 5_000)
    openings: int = 5
    typed_in: tuple[int, ...] = (20, 5_000)
    keys: int = 240
    edits: int = 20_000
    typed: int = 1_000
    edited_blocks: int = 100
    large_bytes: int = 1_000_000
    documents: int = 100


QUICK = Size(openings=3, keys=60, edits=2_000, typed=200, documents=20)


def lines(count: int) -> str:
    """Markdown of so many paragraphs."""
    return "\n\n".join(f"Paragraph {number} of a long document." for number in range(count))


@dataclass(frozen=True, slots=True)
class Opening:
    """One opening: until it was painted, what the page's main thread worked, and its memory."""

    ms: float
    cpu_ms: float
    memory: Figures


async def open_twice(browser: Browser, url: str) -> list[Opening]:
    """In a fresh profile, and once more in that."""
    tabs = Tabs(browser)
    context = await tabs.context("Reader")
    await context.add_init_script(OPENED)
    openings = []
    for _ in range(2):
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        await cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        await page.goto(url)
        await page.wait_for_function("() => window.openedAt")
        cpu_s = (await metrics_of(cdp))["TaskDuration"]
        ms = float(await page.evaluate("() => window.openedAt"))
        openings.append(Opening(ms, 1e3 * cpu_s, await page_memory(cdp)))
        await page.close()
    await tabs.close()
    return openings


async def page_memory(cdp: CDPSession) -> Figures:
    """Of a page that is the only one in its browser."""
    await cdp.send("HeapProfiler.enable")
    await cdp.send("HeapProfiler.collectGarbage")
    metrics = await metrics_of(cdp)
    pss_kb = sum(map(pss_kb_of, browsers_of(os.getpid())))
    return {
        "heap_mb": round(metrics["JSHeapUsedSize"] / 1e6, 1),
        "elements": round(metrics["Nodes"]),
        "browser_mb": round(pss_kb / 1024),
    }


def summary(openings: list[Opening]) -> Figures:
    """Median and longest time, and the median of what the page worked."""
    times = [one.ms for one in openings]
    return {
        "p50_ms": round(quantile(times, 0.5)),
        "max_ms": round(max(times)),
        "main_thread_p50_ms": round(quantile([one.cpu_ms for one in openings], 0.5)),
    }


async def opening(cluster: Cluster, docs: dict[str, str], openings: int) -> tuple[Figures, Figures]:
    """Of each document the median and the longest of so many openings; memory of its page."""
    figures: Figures = {}
    memory: Figures = {}
    async with running_browser(chromium()) as browser:
        for name, doc in docs.items():
            url = f"{cluster.urls()[0]}/doc/{doc}"
            rounds = [await open_twice(browser, url) for _ in range(openings)]
            figures[name] = {
                kind: summary([one[at] for one in rounds])
                for at, kind in enumerate(("fresh", "cached"))
            }
            memory[name] = rounds[-1][1].memory
    return figures, memory


async def typing(cluster: Cluster, doc: str, block: int, keys: int) -> dict[str, dict[str, float]]:
    """One types, the other reads."""
    urls = cluster.urls()
    async with two_people((urls[0], urls[1]), doc, os.getpid()) as people:
        await put_in(people, block)
        await type_letters(*people, 10, KEYS_PER_S)
        own, remote = await type_letters(*people, keys, KEYS_PER_S)
    return {"own": spread(own), "remote": spread(remote)}


def compared(typed: dict[str, dict[str, dict[str, float]]]) -> Figures:
    """How many times as long a letter takes in the last of some documents as in the first."""
    if len(typed) < 2:
        return {}
    short, *_, long = typed.values()
    return {
        way: round(long[way]["p50_ms"] / max(0.1, short[way]["p50_ms"]), 2)
        for way in ("own", "remote")
    }


async def measure(size: Size) -> Figures:
    """All figures, in one cluster."""
    with tempfile.TemporaryDirectory(prefix="groupcore-bench-") as name:
        async with running_cluster(Path(name), *NAMES) as cluster:
            counts = sorted({*size.opened, *size.typed_in})
            docs = {count: await cluster.create("a", lines(count)) for count in counts}
            large_doc, joined_large = await large(cluster, size.large_bytes)
            to_open = {f"{count}_blocks": docs[count] for count in size.opened}
            to_open["large"] = large_doc
            opened, page = await opening(cluster, to_open, size.openings)
            typed = {
                f"{count}_blocks": await typing(cluster, docs[count], count // 2, size.keys)
                for count in size.typed_in
            }
            late, log = await history(cluster, size.edits, size.typed, size.edited_blocks)
            node = await node_memory(cluster, size.documents, 20)
    return {
        "open": opened,
        "typing": {**typed, "long_to_short": compared(typed)},
        "late_join": {"edited": late, "large": joined_large},
        "log": log,
        "memory": {"node": node, "page": page},
    }


def run(quick: bool) -> Figures:
    """Everything; fewer keys, edits and documents when it is to be quick."""
    size = QUICK if quick else Size()
    load = load_average()
    figures = asyncio.run(measure(size))
    return {
        **figures,
        "keys_per_s": KEYS_PER_S,
        "keys": size.keys,
        "load_before": load,
        "load_average": load_average(),
    }
