"""Processes that send and receive ordered multicasts over loopback, and what each has measured."""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import secrets
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from groupcore.aio import Channel
from groupcore.aio.allocator import keep_freed_memory
from groupcore.endpoint import Delivery
from groupcore.events import Event, ViewInstalled
from groupcore.stacks import DEFAULT_STACK

BURST = 500
"""Messages that a sender hands over before it lets the loop turn."""


@dataclass(frozen=True, slots=True)
class Load:
    """What each process does. Sizes in bytes, times in seconds."""

    members: int
    senders: int
    size_bytes: int
    warm_up_s: float = 1.0
    measure_s: float = 3.0
    stack: str = DEFAULT_STACK
    uvloop: bool = True
    as_batch: bool = True
    datagram_bytes_max: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What one member saw while the clock ran."""

    deliveries: int
    cpu_s: float
    wall_s: float
    rss_mb: float
    coordinator: bool
    counters: dict[str, int]


def cpu_s() -> float:
    """CPU time of this process, user and system, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def rss_mb() -> float:
    """Largest resident memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Counter:
    """Receives whole turns of deliveries, counts the messages, and notes when all are here."""

    def __init__(self, members: int) -> None:
        self.messages = 0
        self.members = members
        self.complete = asyncio.Event()

    def __call__(self, items: list[Delivery | Event]) -> None:
        for item in items:
            if isinstance(item, Delivery):
                self.messages += len(item.payloads)
            elif isinstance(item, ViewInstalled) and len(item.view.members) == self.members:
                self.complete.set()


async def send_for_ever(channel: Channel, size_bytes: int, as_batch: bool) -> None:
    """Send as fast as the channel takes messages."""
    payloads = [secrets.token_bytes(size_bytes) for _ in range(BURST)]
    while True:
        if as_batch:
            await channel.multicast_all(payloads)
        else:
            for payload in payloads:
                await channel.multicast(payload)
        await asyncio.sleep(0)


async def member(index: int, load: Load, port: int, pipe: Connection) -> None:
    """One process: join, wait for the others, send, measure."""
    counter = Counter(load.members)
    channel = Channel(
        "bench",
        node_id=f"n{index}",
        multicast=f"228.8.8.8:{port}",
        cluster_size=load.members,
        stack=load.stack,
        receiver=counter,
        datagram_bytes_max=load.datagram_bytes_max,
    )
    await channel.connect()
    await counter.complete.wait()
    loop = asyncio.get_running_loop()
    pipe.send("ready")
    await loop.run_in_executor(None, pipe.recv)
    sending = index < load.senders
    sender = None
    if sending:
        work = send_for_ever(channel, load.size_bytes, load.as_batch)
        sender = asyncio.create_task(work)
    await asyncio.sleep(load.warm_up_s)
    began, cpu, messages = time.perf_counter(), cpu_s(), counter.messages
    await asyncio.sleep(load.measure_s)
    measured = Measured(
        counter.messages - messages,
        cpu_s() - cpu,
        time.perf_counter() - began,
        rss_mb(),
        channel.view is not None and channel.view.coordinator == channel.address,
        channel.counters(),
    )
    if sender is not None:
        sender.cancel()
    pipe.send(measured)
    await loop.run_in_executor(None, pipe.recv)
    await channel.close()


def run_member(index: int, load: Load, port: int, pipe: Connection) -> None:
    """The process's main function."""
    keep_freed_memory()
    if load.uvloop:
        import uvloop

        uvloop.run(member(index, load, port, pipe))
    else:
        asyncio.run(member(index, load, port, pipe))


def run_load(load: Load) -> list[Measured]:
    """Start the processes, let them send together, gather what they measured."""
    context = multiprocessing.get_context("spawn")
    port = 30_000 + secrets.randbelow(20_000)
    pipes, processes = [], []
    for index in range(load.members):
        ours, theirs = context.Pipe()
        process = context.Process(target=run_member, args=(index, load, port, theirs))
        process.start()
        pipes.append(ours)
        processes.append(process)
    try:
        for step in ("go", None, "end"):
            answers = [pipe.recv() for pipe in pipes] if step != "end" else []
            if step is None:
                results: list[Measured] = answers
                continue
            for pipe in pipes:
                pipe.send(step)
        for process in processes:
            process.join(10)
    finally:
        for process in processes:
            process.kill()
    return results
