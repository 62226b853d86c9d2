"""200 bots and two browsers in one document on three nodes: from a key to the other's screen.

The bots are real sessions, spread over the nodes, in one process. Each types in bursts and shows
its caret as pages do: when it goes somewhere, and once a second. One browser, at the first node,
types; the other, at the second node, has the same block in sight. `remote` is from the key's event
until the letter is painted there, `own` until it is painted where it was typed, `bots` until a
bot's key is answered. `cpu` is of whom, in percent of one core; `main_thread` the part of it in
which a page does its own work. `waited` is the share of the time in which a process had something
to do and no core was free: what of the latency is the machine's.

Rounds: `alone` is the two browsers in the document without bots, `silent` with bots that do
nothing, `typing` with all at work, `typing_without_carets` with bots that type and show no carets.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.bots import Crowd, run_crowd
from bench.helpers import Helper, helper
from bench.measuring import cpu_of, load_average, quantile, waited_of
from bench.people import Person, put_in, spread, tree_cpu_s, two_people, type_letters
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster

BOTS = 200
BLOCKS = 400
VIEW = 60
"""Blocks that a bot has open: those in view and 20 on both sides, as a page."""
BOT_KEYS_PER_S = 5.0
BURST_S = 3.0
PAUSE_S = 12.0
KEYS_PER_S = 8.0
SETTLE_S = 6.0
LINE = "This is line {} of a document that many people write at once, each in a place of their own."


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is."""

    bots: int = BOTS
    blocks: int = BLOCKS
    view: int = VIEW
    keys: int = 320
    settle_s: float = SETTLE_S


def text_of(blocks: int) -> str:
    """The document: a heading for each twenty blocks."""
    lines = (f"## Part {at // 20}" if at % 20 == 0 else LINE.format(at) for at in range(blocks))
    return "\n\n".join(lines)


@dataclass(slots=True)
class Scene:
    """Who takes part, to be measured."""

    cluster: Cluster
    people: tuple[Person, Person]
    bots: Helper | None = None

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds so far of each node, the bots and each browser."""
        used = {
            f"node_{name}": cpu_of(node.process.pid) for name, node in self.cluster.nodes.items()
        }
        if self.bots is not None and self.bots.process.pid is not None:
            used["bots"] = cpu_of(self.bots.process.pid)
        for name, one in zip(("writer", "reader"), self.people, strict=True):
            used[name] = one.cpu_s
        used["all_of_it"] = tree_cpu_s(os.getpid())
        return used

    def waited_s(self) -> dict[str, float]:
        """Seconds so far in which main threads waited for a processor: of nodes and bots."""
        pids = {f"node_{name}": node.process.pid for name, node in self.cluster.nodes.items()}
        if self.bots is not None and self.bots.process.pid is not None:
            pids["bots"] = self.bots.process.pid
        return {who: waited_of(pid) for who, pid in pids.items()}

    async def round(self, keys: int, settle_s: float) -> dict[str, object]:
        """Type, and say how it went."""
        await asyncio.sleep(settle_s)
        totals: dict[str, int] = {}
        if self.bots is not None:
            totals, _ = await self.bots.ask("count")
        before, waited, began = self.cpu_s(), self.waited_s(), time.monotonic()
        tasks = [(await one.metrics())["TaskDuration"] for one in self.people]
        own, remote = await type_letters(*self.people, keys, KEYS_PER_S)
        wall_s = time.monotonic() - began
        busy = [(await one.metrics())["TaskDuration"] for one in self.people]
        used = {who: at - before[who] for who, at in self.cpu_s().items()}
        figures: dict[str, object] = {
            "remote": spread(remote),
            "own": spread(own),
            "cpu_percent": {who: round(100 * took / wall_s) for who, took in used.items()},
            "waited_percent": {
                who: round(100 * (at - waited[who]) / wall_s) for who, at in self.waited_s().items()
            },
            "main_thread_percent": {
                who: round(100 * (now - then) / wall_s)
                for who, now, then in zip(("writer", "reader"), busy, tasks, strict=True)
            },
        }
        if self.bots is not None:
            now, answered = await self.bots.ask("count")
            gone = {name: now[name] - totals[name] for name in totals}
            figures["bots"] = {
                "keys_per_s": round(gone["keys"] / wall_s),
                "carets_per_s": round(gone["shown"] / wall_s),
                "read_kb_per_s_each": round(gone["read_bytes"] / wall_s / now["bots"] / 1e3, 1),
                "answered_p50_ms": round(quantile(answered, 0.5), 1),
                "answered_p99_ms": round(quantile(answered, 0.99), 1),
                "ended": now["ended"],
                "refused": now["refused"],
            }
        return figures


async def measure(size: Size, rounds: tuple[str, ...]) -> dict[str, object]:
    """All rounds, in one cluster."""
    with tempfile.TemporaryDirectory(prefix="groupcore-bench-") as name:
        folder = Path(name)
        async with running_cluster(folder, *NAMES) as cluster:
            doc = await cluster.create("a", text_of(size.blocks))
            urls = cluster.urls()
            async with two_people((urls[0], urls[1]), doc, os.getpid()) as people:
                await put_in(people, size.blocks // 2)
                scene = Scene(cluster, people)
                figures: dict[str, object] = {}
                if "alone" in rounds:
                    figures["alone"] = await scene.round(size.keys, size.settle_s)
                blocks = [str(one["id"]) for one in (await cluster.document("a", doc))["blocks"]]
                crowd = Crowd(
                    urls=[url.replace("http", "ws", 1) + "/ws" for url in urls],
                    doc=doc,
                    blocks=blocks,
                    bots=size.bots,
                    view=min(size.view, size.blocks),
                    keys_per_s=BOT_KEYS_PER_S,
                    burst_s=BURST_S,
                    pause_s=PAUSE_S,
                )
                with helper(run_crowd, crowd) as bots:
                    scene.bots = bots
                    await bots.ask()
                    for what in rounds:
                        if what == "alone":
                            continue
                        if what != "silent":
                            await bots.ask("write" if "without" in what else "live")
                        figures[what] = await scene.round(size.keys, size.settle_s)
                return figures


def run(quick: bool) -> dict[str, object]:
    """200 bots; shorter when it is to be quick."""
    load = load_average()
    size = Size(keys=80, settle_s=4.0) if quick else Size()
    rounds = ("alone", "silent", "typing", "typing_without_carets")
    return {
        "bots": size.bots,
        "blocks": size.blocks,
        "bot_keys_per_s": f"{BOT_KEYS_PER_S:g} for {BURST_S:g} s, then {PAUSE_S:g} s of rest",
        "keys_per_s": KEYS_PER_S,
        "keys": size.keys,
        "load_before": load,
        **asyncio.run(measure(size, rounds)),
    }
