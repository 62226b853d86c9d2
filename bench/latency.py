"""Latency of one ordered multicast at a time, from sending to its own delivery."""

from __future__ import annotations

import asyncio
import multiprocessing
import secrets
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.measuring import load_average, quantile
from groupcore.aio import Channel
from groupcore.aio.allocator import keep_freed_memory
from groupcore.endpoint import Delivery
from groupcore.events import Event, ViewInstalled
from groupcore.stacks import DEFAULT_STACK, StackOptions

MEMBERS = 4
SIZE_BYTES = 100
WARM_UP = 200
KEY = secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class Round:
    """`multicasts` one after the other, by the sequencer itself or by another member."""

    k: int
    from_sequencer: bool
    multicasts: int
    key: bytes = KEY
    stack: str = DEFAULT_STACK


class Echo:
    """Tells when all members are there, and when a multicast of this one has its place."""

    def __init__(self) -> None:
        self.complete = asyncio.Event()
        self.arrived = asyncio.Event()
        self.mine = b""

    def __call__(self, items: list[Delivery | Event]) -> None:
        for item in items:
            if isinstance(item, Delivery) and self.mine and self.mine in item.payloads:
                self.arrived.set()
            elif isinstance(item, ViewInstalled) and len(item.view.members) == MEMBERS:
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
    echo = Echo()
    channel = Channel(
        "bench",
        node_id=f"n{index}",
        multicast=f"228.8.8.8:{port}",
        key=wanted.key,
        cluster_size=MEMBERS,
        stack=wanted.stack,
        stack_options=StackOptions(k=wanted.k),
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
    for index in range(MEMBERS):
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


def run(quick: bool) -> dict[str, object]:
    """From a member and from the sequencer; delivered at once (k 0) and with one copy more."""
    multicasts = 1_000 if quick else 10_000
    cases = []
    for k in (0, 1):
        for from_sequencer in (False, True):
            times = run_round(Round(k, from_sequencer, multicasts))
            cases.append(
                {
                    "protocol": "SEQUENCER",
                    "sender": "sequencer" if from_sequencer else "member",
                    "k": k,
                    "size_bytes": SIZE_BYTES,
                    "members": MEMBERS,
                    "multicasts": len(times),
                    "p50_us": round(quantile(times, 0.5), 1),
                    "p99_us": round(quantile(times, 0.99), 1),
                }
            )
    # The plain figures: a member's multicast as the server sends it.
    usual = next(case for case in cases if case["k"] == 1 and case["sender"] == "member")
    return {
        "p50_us": usual["p50_us"],
        "p99_us": usual["p99_us"],
        "cases": cases,
        "load_average": load_average(),
    }
