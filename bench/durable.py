"""What a log costs: CPU and bytes beside the same load in memory, and how long a restart is.

Three nodes send to groups in which all of them are, as fast as they may; then one message at a
time, until it is saved. The restart is of one node, with so many messages in so many groups.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench.hosting import create_all, together
from bench.measuring import quantile
from bench.ordering import cpu_s
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.aio.log_store import LogStorage
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.view import Address

NODES = 3
SIZE_BYTES = 100
TURN = 100
"""Messages that a node hands over in a loop turn."""


Receiver = Callable[[list[ServiceEvent]], None]


@dataclass(frozen=True, slots=True)
class Load:
    """`run` messages to a group at a time; `folder` empty: in memory."""

    folder: str
    groups: int
    run: int
    measure_s: float
    singles: int
    pace_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What one node saw; `saved_us`: from sending a message alone until it is saved."""

    deliveries: int
    cpu_s: float
    wall_s: float
    log_bytes: int
    saved_us: list[float]


def node_at(name: str, folder: str, cluster: Cluster, receiver: Receiver) -> GroupNode:
    """A node with a folder of its own, or in memory."""
    return GroupNode(
        "bench",
        node_id=name,
        receiver=receiver,
        multicast=cluster.multicast,
        key=cluster.key,
        cluster_size=cluster.nodes,
        data_dir=f"{folder}/{name}" if folder else None,
    )


class Tally:
    """Counts what is delivered."""

    def __init__(self) -> None:
        self.messages = 0

    def __call__(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if type(event) is Delivered:
                self.messages += len(event.payloads)


async def send_for_ever(node: GroupNode, pairs: list[tuple[Process, GroupId]], load: Load) -> None:
    """As fast as there is room."""
    payloads = [secrets.token_bytes(SIZE_BYTES)] * load.run
    at = 0
    while True:
        await node.room()
        for _ in range(max(1, TURN // load.run)):
            node.send(*pairs[at % len(pairs)], payloads)
            at += 1
        await asyncio.sleep(load.pace_s)


async def member(index: int, cluster: Cluster, load: Load, pipe: Pipe) -> None:
    """One node: join, wait for the others, send, measure."""
    tally = Tally()
    async with node_at(f"n{index}", load.folder, cluster, tally) as node:
        await together(node, cluster.nodes)
        groups = await create_all(node, [f"g{at}" for at in range(load.groups)])
        pipe.tell("created")
        await pipe.ask()
        process = node.open_process()
        await asyncio.gather(*(node.join(process, group) for group in groups))
        pipe.tell("joined")
        await pipe.ask()
        pairs = [(process, group) for group in groups]
        sending = asyncio.create_task(send_for_ever(node, pairs, load))
        await asyncio.sleep(1.0)
        began, cpu, messages, written = time.perf_counter(), cpu_s(), tally.messages, log_of(node)
        await asyncio.sleep(load.measure_s)
        wall_s, cpu = time.perf_counter() - began, cpu_s() - cpu
        deliveries, written = tally.messages - messages, log_of(node) - written
        sending.cancel()
        pipe.tell("measured")
        await pipe.ask()
        await node.saved()
        times = await singles(node, pairs[0], load.singles if index == 0 else 0)
        pipe.tell(Measured(deliveries, cpu, wall_s, written, times))
        await pipe.ask()


def log_of(node: GroupNode) -> int:
    """What the node's log has grown by."""
    return 0 if node.storage is None else node.storage.counters()["log.bytes"]


async def singles(node: GroupNode, pair: tuple[Process, GroupId], count: int) -> list[float]:
    """Microseconds from sending one message until it is saved."""
    times = []
    for _ in range(count if node.storage is not None else 0):
        began = time.perf_counter_ns()
        node.send(*pair, [secrets.token_bytes(SIZE_BYTES)])
        await node.saved()
        times.append((time.perf_counter_ns() - began) / 1e3)
    return times


def round_of(load: Load) -> dict[str, object]:
    """Start the nodes, let them send, gather what they measured."""
    with Processes(member, load, NODES) as processes:
        processes.answers()
        processes.ask_all("join")
        processes.ask_all("send")
        measured = [one for one in processes.ask_all("one by one") if isinstance(one, Measured)]
    deliveries = sum(one.deliveries for one in measured)
    times = [one for each in measured for one in each.saved_us]
    figures: dict[str, object] = {
        "deliveries_per_s": round(sum(one.deliveries / one.wall_s for one in measured)),
        "cpu_us_per_delivery": round(1e6 * sum(o.cpu_s for o in measured) / max(1, deliveries), 3),
    }
    if load.folder:
        log_bytes = sum(one.log_bytes for one in measured)
        figures["log_bytes_per_delivery"] = round(log_bytes / max(1, deliveries), 1)
        figures["saved_p50_us"] = round(quantile(times, 0.5))
        figures["saved_p99_us"] = round(quantile(times, 0.99))
    return figures


async def fill(folder: str, groups: int, messages: int) -> None:
    """One node that sends so many messages, of which all are saved."""
    async with node_at("n0", folder, Cluster(1), lambda events: None) as node:
        ids = await create_all(node, [f"g{at}" for at in range(groups)])
        process = node.open_process()
        payloads = [secrets.token_bytes(SIZE_BYTES)] * 10
        for at in range(messages // 10):
            await node.room()
            node.send(process, ids[at % groups], payloads)
            await asyncio.sleep(0)
        await node.saved()


async def begin_again(folder: str) -> float:
    """Seconds from starting the node until a group can be used, with all that was in it."""
    began = time.perf_counter()
    async with node_at("n0", folder, Cluster(1), lambda events: None) as node:
        await node.join(node.open_process(), await node.create("g0"))
        return time.perf_counter() - began


def restart(groups: int, messages: int) -> dict[str, object]:
    """How long a node takes to be what its log says."""
    with TemporaryDirectory() as folder:
        asyncio.run(fill(folder, groups, messages))
        storage = LogStorage(Path(folder) / "n0", "bench", "n0")
        began = time.perf_counter()
        storage.open()
        parts = storage.read()
        opened = time.perf_counter()
        Service(Address("n0", 1 << 62), ServiceOptions(durable=True), Random(0), parts)
        ended = time.perf_counter()
        asyncio.run(storage.close())
        usable_s = asyncio.run(begin_again(folder))
    return {
        "groups": groups,
        "messages": messages,
        "log_mb": round(sum(map(len, parts)) / 1e6, 1),
        "read_s": round(opened - began, 2),
        "apply_s": round(ended - opened, 2),
        "usable_s": round(usable_s, 2),
    }


def run(quick: bool) -> dict[str, object]:
    """The figures, by case."""
    measure_s, count = (1.5, 100) if quick else (4.0, 500)
    result: dict[str, object] = {}
    for size in (10, 1):
        for kind in ("memory", "durable"):
            with TemporaryDirectory() as folder:
                where = folder if kind == "durable" else ""
                load = Load(where, 50, size, measure_s, count)
                result[f"{kind}, runs of {size}"] = round_of(load)
    result["restart"] = restart(1_000, 20_000 if quick else 100_000)
    return {"figures": result}
