"""A document with a history: what a newcomer is sent of it, what it takes on disk and in memory.

Sessions are real ones on sockets, of real nodes; what they do not need of a page is left out.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from pathlib import Path

from bench.bots import Bot, Crowd
from bench.measuring import rss_kb_of
from tests.end_to_end.cluster import Cluster

WRITERS = 10
AT_ONCE = 5
"""Edits of each writer that are under way while a history is made."""
EDITS_PER_S = 150
"""Most of a session: above 200 lasting it is closed."""
VIEW = 60
"""Blocks that a page has open: those in view and 20 on both sides."""
Figures = dict[str, object]
WORDS = "the quick brown fox jumps over the lazy dog and goes on and on "
LOG_BYTES = re.compile(r"^groupcore_log_bytes(?:\{.*\})? (\S+)$", re.MULTILINE)
SETTLE_S = 1.0


def crowd_at(cluster: Cluster, node: int, doc: str, blocks: Sequence[str], view: int) -> Crowd:
    """What a bot has to know to come by this node."""
    url = cluster.urls()[node].replace("http", "ws", 1) + "/ws"
    return Crowd([url], doc, blocks, bots=1, keys_per_s=0, burst_s=0, pause_s=0, view=view)


async def block_ids(cluster: Cluster, doc: str) -> list[str]:
    """The ids of a document's blocks, in their order."""
    return [str(one["id"]) for one in (await cluster.document("a", doc))["blocks"]]


async def come(cluster: Cluster, node: int, doc: str, blocks: Sequence[str], view: int) -> Bot:
    """A session with the outline and the first so many of the blocks open."""
    crowd = crowd_at(cluster, node, doc, blocks, view)
    bot = Bot(crowd, 0)
    bot.place = 0
    await bot.connect(crowd.urls[0])
    if view:
        await bot.look()
    return bot


async def join(cluster: Cluster, node: int, doc: str, blocks: Sequence[str], view: int) -> Figures:
    """Bytes and time until a newcomer has the outline and so many blocks."""
    began = time.monotonic()
    bot = await come(cluster, node, doc, blocks, view)
    took_s = time.monotonic() - began
    bot.close()
    return {"blocks_opened": view, "bytes": bot.read_bytes, "ms": round(1e3 * took_s, 1)}


async def write(bot: Bot, edits: int, at_once: int) -> None:
    """So many letters, one a call, in its blocks in turn; so many calls under way at a time."""
    begin = time.monotonic()
    for number in range(edits):
        await asyncio.sleep(max(0.0, begin + number / EDITS_PER_S - time.monotonic()))
        bot.place = number % len(bot.crowd.blocks)
        await bot.until(lambda: len(bot.fell) < at_once)
        await bot.until(lambda: not any(block == bot.block for block, _ in bot.fell))
        bot.type_letter()
    await bot.until(lambda: not bot.fell)


async def logged_bytes(cluster: Cluster) -> dict[str, float]:
    """What each node has written to its log so far, and the size of its folder."""
    found = {}
    for name, node in cluster.nodes.items():
        _, text = await cluster.get(f"{node.admin_url}/metrics")
        match = LOG_BYTES.search(text)
        assert match is not None, "the metrics have the log's bytes"
        found[f"log_{name}"] = float(match[1])
        found[f"folder_{name}"] = float(folder_bytes(cluster.folder / name))
    return found


def folder_bytes(folder: Path) -> int:
    """What the log's files take on the disk; the shelf is scratch."""
    files = [path for path in folder.glob("*") if path.is_file() and "shelf" not in path.name]
    return sum(path.stat().st_blocks * 512 for path in files)


async def grown(cluster: Cluster, bots: Sequence[Bot], edits: int, at_once: int) -> dict[str, int]:
    """Bytes of log and folder for 1,000 of all their edits: the mean of the nodes."""
    each = edits // len(bots)
    before = await logged_bytes(cluster)
    await asyncio.gather(*(write(bot, each, at_once) for bot in bots))
    await asyncio.sleep(SETTLE_S)
    after = await logged_bytes(cluster)
    nodes = len(cluster.nodes)
    return {
        f"{what}_bytes_per_1000_edits": round(
            sum(after[name] - before[name] for name in after if name.startswith(what))
            * 1_000
            / (each * len(bots) * nodes)
        )
        for what in ("log", "folder")
    }


async def history(cluster: Cluster, edits: int, typed: int, blocks: int) -> tuple[Figures, Figures]:
    """A document of so many edits: the newcomer's part, and the log's."""
    doc = await cluster.create("a", "\n\n".join(["first."] * blocks))
    ids = await block_ids(cluster, doc)
    shares = [ids[at::WRITERS] for at in range(min(WRITERS, blocks))]
    bots = [
        await come(cluster, at % len(cluster.nodes), doc, share, len(share))
        for at, share in enumerate(shares)
    ]
    one_by_one = await grown(cluster, bots[:1], typed, 1)
    hurried = await grown(cluster, bots, edits - typed, AT_ONCE)
    for bot in bots:
        bot.close()
    late = {
        "edits": edits,
        "blocks": blocks,
        "in_view": await join(cluster, 1, doc, ids, min(blocks, VIEW)),
        "whole": await join(cluster, 2, doc, ids, len(ids)),
    }
    journal: Figures = {"one_types": one_by_one, f"{WRITERS}_write_fast": hurried}
    return late, journal


async def large(cluster: Cluster, size_bytes: int) -> tuple[str, Figures]:
    """A document of so many bytes that nobody has edited: its id, and the newcomer's part."""
    line = (WORDS * 10)[:500]
    count = max(1, size_bytes // len(line))
    doc = await cluster.create("a", "\n\n".join(line.strip() for _ in range(count)))
    ids = await block_ids(cluster, doc)
    figures: Figures = {"text_bytes": count * len(line.strip()), "blocks": count}
    # Every text is in the outline; a page opens the blocks that it writes in.
    figures["whole"] = await join(cluster, 1, doc, ids, 0)
    return doc, figures


async def node_memory(cluster: Cluster, documents: int, blocks: int) -> Figures:
    """Memory of a node for each document that a session has open there, all its blocks too."""
    node = cluster.nodes["a"]
    text = "\n\n".join([(WORDS * 2)[:100].strip()] * blocks)
    held: list[Bot] = []

    async def open_one() -> None:
        doc = await cluster.create("a", text)
        held.append(await come(cluster, 0, doc, await block_ids(cluster, doc), blocks))

    warm_up = max(1, documents // 5)
    for _ in range(warm_up):  # what is loaded with the first ones
        await open_one()
    await asyncio.sleep(SETTLE_S)
    before = rss_kb_of(node.process.pid)
    for _ in range(documents):
        await open_one()
    await asyncio.sleep(SETTLE_S)
    grown_kb = rss_kb_of(node.process.pid) - before
    for bot in held:
        bot.close()
    return {
        "documents": documents,
        "blocks_each": blocks,
        "kb_per_document": round(grown_kb / documents, 1),
        "node_rss_mb": round(rss_kb_of(node.process.pid) / 1024, 1),
    }
