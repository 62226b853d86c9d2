"""Memory of groups: idle ones, those with a member, their members, messages that are not stable.

Three nodes. Python's own count (`tracemalloc`) at one of them, before and after: `idle_group` is a
group of which the node has no member (its record, its entry in the directory, and for a third of
them the sequencer's part); `idle_member_group` one in which a process of this node is; `member` a
further process in one; `unstable_message` a message of 100 B, in runs of ten, that this node keeps
because another node is stopped and cannot deliver it. `cluster` are larger numbers of groups,
without tracemalloc: seconds to create them all, resident memory of a node (what a group takes of
it), and the seconds until a new life of one node knows them. `stall_ms` is the longest time in
which a node's loop did not turn: while the groups are created, at the others when a node with a
third of them is killed, at a node that gives its state to the new life, and at the new life;
`stall_cpu_ms` the most processor time between two turns, which other programs do not change.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
import tracemalloc
from collections.abc import Callable

from bench.hosting import LoopWatch, create_all, node_of, together, until
from bench.measuring import load_average, rss_kb_of
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.layers.failure_detection import DetectionOptions
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.options import ServiceOptions
from groupcore.stacks import StackOptions

NODES = 3
RUN = 10
RUNS = 500
SIZE_BYTES = 100
OPTIONS = ServiceOptions(window_bytes=1 << 26, outstanding_bytes=1 << 26)
"""Room for all messages that are kept at once."""
PATIENT = StackOptions(detection=DetectionOptions(timeout_s=60.0))
"""The node that is stopped stays in the view: what is kept for it is not let go."""


def used() -> int:
    """Bytes that Python has allocated and not freed."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


class Tally:
    """Counts deliveries."""

    def __init__(self) -> None:
        self.messages = 0

    def __call__(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                self.messages += len(event.payloads)


async def settled(node: GroupNode) -> None:
    """Wait until the node keeps no frame any more."""
    plane = node.service.plane
    await until(lambda: all(stream.kept_bytes == 0 for stream in plane.streams.values()))
    await asyncio.sleep(0.5)


async def join_all(node: GroupNode, groups: list[GroupId]) -> None:
    """A new process joins all of them, some at a time."""
    process = node.open_process()
    for at in range(0, len(groups), 100):
        await asyncio.gather(*(node.join(process, group) for group in groups[at : at + 100]))
    await settled(node)


async def keep_messages(node: GroupNode, group: GroupId, tally: Tally, pipe: Pipe) -> float:
    """Bytes for each message that is delivered here and kept for the node that is stopped."""
    process = node.open_process()
    await node.join(process, group)
    await settled(node)
    pipe.tell("stop the other")
    await pipe.ask()
    before, began = used(), tally.messages
    for _ in range(RUNS):
        node.send(process, group, [bytes(SIZE_BYTES) for _ in range(RUN)])
        await asyncio.sleep(0)
    async with asyncio.timeout(5.0):
        await until(lambda: tally.messages - began == RUN * RUNS)
    kept = sum(stream.kept_bytes for stream in node.service.plane.streams.values())
    assert kept >= RUN * RUNS * SIZE_BYTES, (
        f"only {kept} bytes are kept for the one that is stopped"
    )
    return (used() - before) / (RUN * RUNS)


async def weigh(node: GroupNode, count: int, tally: Tally, pipe: Pipe) -> dict[str, float]:
    """What groups and members take at this node, in bytes each."""
    tracemalloc.start()
    weights: dict[str, float] = {}
    last = used()

    def note(name: str) -> None:
        nonlocal last
        weights[name], last = (used() - last) / count, used()

    groups = await create_all(node, [f"g{at}" for at in range(count)])
    await settled(node)
    note("idle_group")
    await join_all(node, groups)
    note("idle_member")
    await join_all(node, groups)
    note("member")
    weights["idle_member_group"] = weights["idle_group"] + weights.pop("idle_member")
    weights["unstable_message"] = await keep_messages(node, groups[0], tally, pipe)
    return weights


async def member(index: int, cluster: Cluster, count: int, pipe: Pipe) -> None:
    """The first node weighs; the others only take part."""
    tally = Tally()
    async with node_of(index, cluster, tally, options=OPTIONS, stack_options=PATIENT) as node:
        await together(node, NODES)
        pipe.tell(os.getpid())
        await pipe.ask()
        if index == 0:
            pipe.tell(await weigh(node, count, tally, pipe))
        await pipe.ask()


def weights(count: int) -> dict[str, object]:
    """Bytes of each kind, at a node with so many groups."""
    with Processes(member, count, NODES) as processes:
        pids = processes.answers()
        processes.ask(0, "weigh")
        os.kill(int(str(pids[NODES - 1])), signal.SIGSTOP)
        weighed = processes.ask(0, "stopped")
    assert isinstance(weighed, dict)
    return {f"bytes_per_{name}": round(weight) for name, weight in weighed.items()}


async def bystander(index: int, cluster: Cluster, count: int, pipe: Pipe) -> None:
    """The first node creates the groups; all tell when they know them, and their memory."""
    events: Callable[[list[ServiceEvent]], None] = Tally()
    began = time.perf_counter()
    async with LoopWatch() as arrival, node_of(index, cluster, events) as node:
        await together(node, NODES)
        pipe.tell(rss_kb_of(os.getpid()))
        if await pipe.ask() == "create":
            create_from = time.perf_counter()
            async with LoopWatch() as watch:
                if index == 0:
                    await create_all(node, [f"g{at}" for at in range(count)])
                await until(lambda: len(node.service.plane.records) >= count)
            seconds = time.perf_counter() - create_from
            pipe.tell((seconds, rss_kb_of(os.getpid()), watch.longest))
            for _ in ("killed", "started"):
                async with LoopWatch() as watch:
                    await pipe.ask()
                pipe.tell(watch.longest)
        else:
            await until(lambda: len(node.service.plane.records) >= count)
            seconds = time.perf_counter() - began
            await asyncio.sleep(0.1)  # the watch has its turn
            pipe.tell((seconds, rss_kb_of(os.getpid()), arrival.longest))
        await pipe.ask()


def cluster_of(count: int) -> dict[str, object]:
    """Many groups in a cluster of three, and a node that comes back as a new life."""
    with Processes(bystander, count, NODES) as processes:
        before = processes.answers()
        created = processes.ask_all("create")
        processes.kill(NODES - 1)
        time.sleep(3.0)
        over = [processes.ask(index, "killed") for index in range(NODES - 1)]
        processes.start(NODES - 1)
        processes.answer(NODES - 1)
        came_back = processes.ask(NODES - 1, "take part")
        gave = [processes.ask(index, "started") for index in range(NODES - 1)]
    assert isinstance(came_back, tuple)
    pairs = [(kb, one) for kb, one in zip(before, created, strict=True) if isinstance(one, tuple)]
    grown_kb = [rss - kb for kb, (_, rss, _) in pairs if isinstance(kb, int)]
    stalls = {
        "creating": [one[2] for _, one in pairs],
        "failing_over": [one for one in over if isinstance(one, tuple)],
        "giving_state": [one for one in gave if isinstance(one, tuple)],
        "new_life": [came_back[2]],
    }
    return {
        "groups": count,
        "create_s": round(max(one[0] for _, one in pairs), 2),
        "rss_mb": round(max(one[1] for _, one in pairs) / 1024, 1),
        "rss_bytes_per_group": round(1024 * max(grown_kb) / count),
        "bootstrap_s": round(came_back[0], 2),
        "stall_ms": {name: round(max(one[0] for one in each)) for name, each in stalls.items()},
        "stall_cpu_ms": {name: round(max(one[1] for one in each)) for name, each in stalls.items()},
    }


def run(quick: bool) -> dict[str, object]:
    """Weights at 10,000 groups and a cluster with 100,000; a tenth when it is to be quick."""
    share = 10 if quick else 1
    return {
        **weights(10_000 // share),
        "groups": 10_000 // share,
        "cluster": cluster_of(100_000 // share),
        "load_average": load_average(),
    }
