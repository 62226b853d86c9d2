"""Latency of one ordered multicast at a time, from sending to its own delivery.

A multicast of a member goes to the sequencer and comes back as a multicast to all; the sequencer's
own goes to all and waits until a quorum has acknowledged it (with two members it is one by itself).
`floor` is one such round trip over bare sockets under the same loop, in the same run. The protocol
`SEQUENCING SERVICE` is a group on the data plane, see `bench.group_latency`, quiet (`load_per_s` 0)
and with three members beside half load.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import secrets
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench import group_latency, round_trip
from bench.measuring import load_average, quantile
from groupcore.aio import Channel
from groupcore.aio.allocator import keep_freed_memory
from groupcore.endpoint import Delivery
from groupcore.events import Event, ViewInstalled
from groupcore.stacks import DEFAULT_STACK

SIZE_BYTES = 100
WARM_UP = 200
USUAL_MEMBERS = 3
KEY = secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class Round:
    """`multicasts` one after the other, by the sequencer itself or by another member."""

    members: int
    from_sequencer: bool
    multicasts: int
    key: bytes = KEY
    stack: str = DEFAULT_STACK


class Echo:
    """Tells when all members are there, and when a multicast of this one has its place."""

    def __init__(self, members: int) -> None:
        self.members = members
        self.complete = asyncio.Event()
        self.arrived = asyncio.Event()
        self.mine = b""

    def __call__(self, items: list[Delivery | Event]) -> None:
        for item in items:
            if isinstance(item, Delivery) and self.mine and self.mine in item.payloads:
                self.arrived.set()
            elif isinstance(item, ViewInstalled) and len(item.view.members) == self.members:
                self.complete.set()


async def measure(channel: Channel, echo: Echo, count: int) -> list[float]:
    """Send one multicast after the other; the time of each in microseconds."""
    times = []
    for _ in range(WARM_UP + count):
        echo.mine = secrets.token_bytes(SIZE_BYTES)
        echo.arrived.clear()
        began = time.perf_counter_ns()
        await channel.multicast(echo.mine)
        await echo.arrived.wait()
        times.append((time.perf_counter_ns() - began) / 1e3)
    return times[WARM_UP:]


async def member(index: int, wanted: Round, port: int, pipe: Connection) -> None:
    """One process: join, wait for the others; the one that is chosen sends."""
    echo = Echo(wanted.members)
    channel = Channel(
        "bench",
        node_id=f"n{index}",
        multicast=f"228.8.8.8:{port}",
        key=wanted.key,
        cluster_size=wanted.members,
        stack=wanted.stack,
        receiver=echo,
    )
    await channel.connect()
    await echo.complete.wait()
    assert channel.view is not None, "the event has told of it"
    loop = asyncio.get_running_loop()
    pipe.send(channel.view.coordinator == channel.address)
    times = []
    if await loop.run_in_executor(None, pipe.recv) == "send":
        times = await measure(channel, echo, wanted.multicasts)
    pipe.send(times)
    await loop.run_in_executor(None, pipe.recv)
    await channel.close()


def run_member(index: int, wanted: Round, port: int, pipe: Connection) -> None:
    """The process's main function."""
    import uvloop

    keep_freed_memory()
    uvloop.run(member(index, wanted, port, pipe))


def run_round(wanted: Round) -> list[float]:
    """Start the members, let one of them send; its times in microseconds."""
    context = multiprocessing.get_context("spawn")
    port = 30_000 + secrets.randbelow(20_000)
    pipes, processes = [], []
    for index in range(wanted.members):
        ours, theirs = context.Pipe()
        process = context.Process(target=run_member, args=(index, wanted, port, theirs))
        process.start()
        pipes.append(ours)
        processes.append(process)
    try:
        coordinates = [pipe.recv() for pipe in pipes]
        sender = coordinates.index(wanted.from_sequencer)
        for index, pipe in enumerate(pipes):
            pipe.send("send" if index == sender else "listen")
        times: list[float] = [pipe.recv() for pipe in pipes][sender]
        for pipe in pipes:
            pipe.send("end")
        for process in processes:
            process.join(10)
    finally:
        for process in processes:
            process.kill()
    return times


def case(members: int, from_sequencer: bool, multicasts: int, floor_us: float) -> dict[str, object]:
    """One sender in a group of this size."""
    times = run_round(Round(members, from_sequencer, multicasts))
    p50_us = quantile(times, 0.5)
    return {
        "protocol": "SEQUENCER",
        "sender": "sequencer" if from_sequencer else "member",
        "size_bytes": SIZE_BYTES,
        "members": members,
        "multicasts": len(times),
        "p50_us": round(p50_us, 1),
        "p99_us": round(quantile(times, 0.99), 1),
        "floor_p50_us": round(floor_us, 1),
        "ratio_to_floor": round(p50_us / floor_us, 1),
    }


def run(quick: bool) -> dict[str, object]:
    """Two, three and four members; from a member and from the sequencer."""
    multicasts = 1_000 if quick else 10_000
    cases = []
    for members in (2, 3, 4):
        floor_us = quantile(round_trip.measure(members, multicasts), 0.5)
        cases += [
            one(members, from_sequencer, multicasts, floor_us)
            for one in (case, group_latency.case)
            for from_sequencer in (False, True)
        ]
        if members == USUAL_MEMBERS:
            full_per_s = group_latency.full_load(members)
            cases += [
                group_latency.case(members, from_sequencer, multicasts, floor_us, full_per_s)
                for from_sequencer in (False, True)
            ]
    # The plain figures: a member's multicast in a cluster as `make run` starts it.
    usual = next(
        one for one in cases if one["members"] == USUAL_MEMBERS and one["sender"] == "member"
    )
    return {
        "p50_us": usual["p50_us"],
        "p99_us": usual["p99_us"],
        "cases": cases,
        "load_average": load_average(),
    }
