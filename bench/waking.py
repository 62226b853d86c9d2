"""Many blocks of a document woken at once on three nodes, and what other groups feel of it.

A document has so many blocks that nobody has edited, so their texts are seeds and have no groups.
Then all are woken in one go, as an import or a page that edits all of them does: each node that
keeps the document opens each, so each becomes a group of three nodes and takes its text there.
`seconds` is until all nodes have all texts in their groups and the outline has forgotten its
seeds. Meanwhile one node calls a counter in another group every 10 ms: `other_ms` is how long it
waits for the result. `views` are the views that the nodes saw meanwhile (0: nobody left), `stall`
the longest time in which a loop did not turn and the most processor time between two turns.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from bench.hosting import LoopWatch, together, until
from bench.measuring import load_average, quantile
from bench.ordering import cpu_s
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import Node
from groupcore.aio.documents import open_document_at
from groupcore.objects.rich_delta import rich
from groupcore.shared.documents import Document
from groupcore.shared.documents.handing import OPEN
from groupcore.shared.types import Counter

NODES = 3
TEXT = "The quick brown fox jumps over the lazy dog, again and again, all day."
SENT_AT_ONCE = 800
PROBE_S = 0.01


@dataclass(slots=True)
class Woken:
    """What one node saw."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    views: int = 0
    other_ms: list[float] = field(default_factory=list)
    stall: tuple[float, float] = (0.0, 0.0)
    counters: dict[str, int] = field(default_factory=dict)


def is_awake(document: Document, count: int) -> bool:
    """Whether this node has all texts in their groups."""
    if document.outline.seeds or len(document.blocks) < count:
        return False
    return all(block.status == OPEN for block in document.blocks.values())


async def probe(counter: Counter, times_ms: list[float]) -> None:
    """Call a counter every 10 ms, whether the call before has come back or not."""

    async def call() -> None:
        began = time.perf_counter()
        await counter.add(1)
        times_ms.append(1e3 * (time.perf_counter() - began))

    async with asyncio.TaskGroup() as calls:
        while True:
            calls.create_task(call())
            await asyncio.sleep(PROBE_S)


async def member(index: int, cluster: Cluster, count: int, pipe: Pipe) -> None:
    """One node; the first one wakes the blocks, the second one probes."""
    node = Node(
        "bench",
        node_id=f"n{index}",
        multicast=cluster.multicast,
        key=cluster.key,
        cluster_size=cluster.nodes,
    )
    async with node:
        await together(node.groups, NODES)
        counter = await node.open(Counter, "other")
        document = await open_document_at(node, "large", keep=True, copies=2)
        pipe.tell("open")
        await pipe.ask()
        ids: list[str] = []
        if index == 0:
            ids = await document.insert("", [rich(TEXT)] * count)
        await until(lambda: len(document.outline.entries) == count)
        pipe.tell("inserted")
        await pipe.ask()
        woken = await wake(index, node, document, counter, ids, count)
        pipe.tell(woken)
        await pipe.ask()


async def wake(
    index: int, node: Node, document: Document, counter: Counter, ids: list[str], count: int
) -> Woken:
    """Wake the blocks of these ids and wait until all are awake here."""
    woken = Woken()
    view = node.groups.channel.view
    began, cpu = time.perf_counter(), cpu_s()
    probing = asyncio.create_task(probe(counter, woken.other_ms)) if index == 1 else None
    async with LoopWatch() as watch:
        for at in range(0, len(ids), SENT_AT_ONCE):
            document.outline.wake(ids[at : at + SENT_AT_ONCE])
        await until(lambda: is_awake(document, count))
    woken.seconds, woken.cpu_s = time.perf_counter() - began, cpu_s() - cpu
    woken.stall = watch.longest
    now = node.groups.channel.view
    woken.views = (now.number if now else 1_000_000) - (view.number if view else 0)
    woken.counters = node.groups.counters()
    if probing is not None:
        probing.cancel()
    return woken


def measure(count: int) -> dict[str, object]:
    """Wake so many blocks."""
    with Processes(member, count, NODES) as processes:
        processes.answers()
        processes.ask_all("insert")
        woken = [one for one in processes.ask_all("wake") if isinstance(one, Woken)]
    others = [ms for one in woken for ms in one.other_ms]
    return {
        "blocks": count,
        "seconds": round(max(one.seconds for one in woken), 2),
        "cpu_s": round(sum(one.cpu_s for one in woken), 2),
        "views": max(one.views for one in woken),
        "other_ms": {
            "calls": len(others),
            "p50": round(quantile(others, 0.5), 1),
            "p99": round(quantile(others, 0.99), 1),
            "max": round(max(others), 1),
        },
        "stall_ms": round(max(one.stall[0] for one in woken)),
        "stall_cpu_ms": round(max(one.stall[1] for one in woken)),
    }


def run(quick: bool) -> dict[str, object]:
    """5,000 blocks; 500 when it is to be quick."""
    return {**measure(500 if quick else 5_000), "load_average": load_average()}
