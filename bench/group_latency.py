"""Latency of one multicast to a group at a time, quiet and beside half of what the nodes can carry.

All nodes have a process in the group, and the first one sequences it. Beside half load the other
nodes send to the same group, in batches, as many messages a second as are half of what is delivered
when all send as fast as they may.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass

from bench.group_load import GroupLoad, run_group_load
from bench.hosting import node_of, place, together
from bench.measuring import quantile
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Process

SIZE_BYTES = 100
WARM_UP = 200
BATCH_S = 0.005
"""How often the others send beside the multicasts that are timed."""


@dataclass(frozen=True, slots=True)
class Round:
    """`multicasts` one after the other by node `sender`; `load_per_s` by the others together."""

    nodes: int
    sender: int
    multicasts: int
    load_per_s: float = 0.0


class Echo:
    """Tells when a multicast of this node has its place."""

    def __init__(self) -> None:
        self.mine = b""
        self.arrived = asyncio.Event()

    def __call__(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if type(event) is Delivered and self.mine and self.mine in event.payloads:
                self.arrived.set()


async def send_beside(node: GroupNode, process: Process, group: GroupId, rate_per_s: float) -> None:
    """Send at an even rate, in batches."""
    payload = secrets.token_bytes(SIZE_BYTES)
    began, sent = time.perf_counter(), 0
    while True:
        await asyncio.sleep(BATCH_S)
        await node.room()
        due = int((time.perf_counter() - began) * rate_per_s) - sent
        if due > 0:
            node.send(process, group, [payload] * due)
            sent += due


async def measure(
    node: GroupNode, process: Process, group: GroupId, echo: Echo, count: int
) -> list[float]:
    """Send one multicast after the other; the time of each in microseconds."""
    times = []
    for _ in range(WARM_UP + count):
        echo.mine = secrets.token_bytes(SIZE_BYTES)
        echo.arrived.clear()
        began = time.perf_counter_ns()
        node.send(process, group, [echo.mine])
        await echo.arrived.wait()
        times.append((time.perf_counter_ns() - began) / 1e3)
    return times[WARM_UP:]


async def member(index: int, cluster: Cluster, wanted: Round, pipe: Pipe) -> None:
    """One node: join, wait for the others, then time multicasts or send beside."""
    echo = Echo()
    async with node_of(index, cluster, echo) as node:
        await together(node, wanted.nodes)
        pipe.tell("together")
        await pipe.ask()
        group = await node.create("latency")
        pipe.tell("created")
        await pipe.ask()
        process = node.open_process()
        await node.join(process, group)
        pipe.tell("joined")
        await pipe.ask()
        if index == 0:
            await place(node, [group], 1)
        pipe.tell("placed")
        await pipe.ask()
        if index == wanted.sender:
            pipe.tell(await measure(node, process, group, echo, wanted.multicasts))
        else:
            pipe.tell([])
            if wanted.load_per_s:
                rate = wanted.load_per_s / (wanted.nodes - 1)
                beside = asyncio.create_task(send_beside(node, process, group, rate))
                await pipe.ask()
                beside.cancel()
        await pipe.ask()


def run_round(wanted: Round) -> list[float]:
    """Start the nodes, let one of them send; its times in microseconds."""
    with Processes(member, wanted, wanted.nodes) as processes:
        processes.answers()
        for _ in range(3):
            processes.ask_all("go on")
        times = processes.ask_all("send")[wanted.sender]
        assert isinstance(times, list)
        return times


def full_load(nodes: int) -> float:
    """Messages that a node delivers a second when all send to one group as fast as they may."""
    measured = run_group_load(GroupLoad(nodes, 1, "full", 50, 500, sequencers=1, measure_s=1.0))
    return min(one.deliveries / one.wall_s for one in measured)


def case(
    nodes: int, from_sequencer: bool, multicasts: int, floor_us: float, full_per_s: float = 0.0
) -> dict[str, object]:
    """One sender among so many nodes; beside half of `full_per_s` when that is given."""
    wanted = Round(nodes, 0 if from_sequencer else 1, multicasts, full_per_s / 2)
    times = run_round(wanted)
    p50_us = quantile(times, 0.5)
    return {
        "protocol": "SEQUENCING SERVICE",
        "sender": "sequencer" if from_sequencer else "member",
        "size_bytes": SIZE_BYTES,
        "members": nodes,
        "multicasts": len(times),
        "load_per_s": round(wanted.load_per_s),
        "p50_us": round(p50_us, 1),
        "p99_us": round(quantile(times, 0.99), 1),
        "floor_p50_us": round(floor_us, 1),
        "ratio_to_floor": round(p50_us / floor_us, 1),
    }
