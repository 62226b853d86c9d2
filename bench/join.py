"""Joining a group under load: without state, with 10 and with 100 MB of it, over both media.

Two members send to the group all the time; one of them has the state. A third process, started and
warm, joins and takes it. The joiner's time runs from `connect` to the state in place. `groups` are
processes that join groups of the data plane, see `bench.group_join`.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import secrets
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from bench import group_join
from bench.measuring import load_average, quantile
from groupcore.aio import Channel
from groupcore.aio.allocator import keep_freed_memory
from groupcore.endpoint import Delivery
from groupcore.events import Event

SENDERS = 2
RATE = 500
"""Messages a second, of all senders together."""
SIZE_BYTES = 100
BEFORE_S = 3.0
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Round:
    """One join: how large the state is, and how it comes (`none`: nothing is asked for)."""

    state_mb: int
    medium: str
    before_s: float
    port: int
    key: bytes


class Member:
    """The application of a sender: counts how long its own messages take."""

    def __init__(self, state_mb: int) -> None:
        self.state = secrets.token_bytes(MB) * state_mb
        self.sent: dict[bytes, float] = {}
        self.times_ms: list[tuple[float, float]] = []

    def copy(self) -> bytes:
        """The whole state: immutable, so nothing is copied."""
        return self.state

    def __call__(self, items: list[Delivery | Event]) -> None:
        """Note when own messages come back."""
        now = time.perf_counter()
        for item in items:
            if isinstance(item, Delivery):
                for payload in item.payloads:
                    began = self.sent.pop(payload, None)
                    if began is not None:
                        self.times_ms.append((began, 1e3 * (now - began)))


def channel_of(index: int, wanted: Round, receiver: Member) -> Channel:
    """A member of the group on loopback."""
    return Channel(
        "bench-join",
        node_id=f"n{index}",
        multicast=f"228.8.8.8:{wanted.port}",
        key=wanted.key,
        receiver=receiver,
    )


def peak_kb() -> int:
    """The most memory that this process has had since the last reset."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def reset_peak() -> int:
    """Count the peak from here; what it is now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_kb()


async def sender(index: int, wanted: Round, pipe: Connection) -> None:
    """Send at an even rate until told to stop; tell the times and the memory."""
    member = Member(wanted.state_mb if index == 0 else 0)
    channel = channel_of(index, wanted, member)
    channel.state_provider = member if index == 0 else None
    await channel.connect()
    loop = asyncio.get_running_loop()
    pipe.send("here")
    stop = loop.run_in_executor(None, pipe.recv)
    before_kb, next_at, reset = 0, loop.time(), loop.time() + wanted.before_s * 0.9
    while not stop.done():
        payload = secrets.token_bytes(SIZE_BYTES)
        member.sent[payload] = time.perf_counter()
        channel.multicast_nowait(payload)
        next_at += SENDERS / RATE
        await asyncio.sleep(max(0.0, next_at - loop.time()))
        if not before_kb and loop.time() > reset:
            before_kb = reset_peak()
    began, ended = stop.result()
    before = [ms for at, ms in member.times_ms if began - wanted.before_s * 0.8 <= at < began]
    during = [ms for at, ms in member.times_ms if began <= at <= ended]
    pipe.send((before, during, (peak_kb() - before_kb) / 1e3))
    await loop.run_in_executor(None, pipe.recv)
    await channel.close()


async def joiner(wanted: Round, pipe: Connection) -> None:
    """Join when told to, take the state; tell how long both took."""
    loop = asyncio.get_running_loop()
    member = Member(0)
    channel = channel_of(SENDERS, wanted, member)
    pipe.send("here")
    await loop.run_in_executor(None, pipe.recv)
    began = time.perf_counter()
    await channel.connect()
    joined = time.perf_counter()
    if wanted.medium != "none":
        assert await channel.get_state(timeout_s=60, medium=wanted.medium), channel.state_report
    ended = time.perf_counter()
    await asyncio.sleep(0.2)  # the last messages that were under way are counted as well
    pipe.send((began, joined, ended))
    await loop.run_in_executor(None, pipe.recv)
    await channel.close()


def run_process(index: int, wanted: Round, pipe: Connection) -> None:
    """A process's main function."""
    import uvloop

    keep_freed_memory()
    uvloop.run(joiner(wanted, pipe) if index == SENDERS else sender(index, wanted, pipe))


def run_round(state_mb: int, medium: str, before_s: float) -> dict[str, object]:
    """One join in fresh processes."""
    context = multiprocessing.get_context("spawn")
    port = 30_000 + secrets.randbelow(20_000)
    wanted = Round(state_mb, medium, before_s, port, secrets.token_bytes(32))
    pipes, processes = [], []
    for index in range(SENDERS + 1):
        ours, theirs = context.Pipe()
        process = context.Process(target=run_process, args=(index, wanted, theirs))
        process.start()
        pipes.append(ours)
        processes.append(process)
        ours.recv()
    try:
        time.sleep(before_s)
        pipes[SENDERS].send("join")
        began, joined, ended = pipes[SENDERS].recv()
        for pipe in pipes[:SENDERS]:
            pipe.send((began, ended))
        told = [pipe.recv() for pipe in pipes[:SENDERS]]
        for pipe in pipes:
            pipe.send("end")
        for process in processes:
            process.join(10)
    finally:
        for process in processes:
            process.kill()
    before = [ms for times, _, _ in told for ms in times]
    during = [ms for _, times, _ in told for ms in times]
    return {
        "state_mb": state_mb,
        "medium": medium,
        "joiner_s": round(ended - began, 4),
        "join_s": round(joined - began, 4),
        "state_s": round(ended - joined, 4),
        "senders_p99_ms_before": round(quantile(before, 0.99), 2),
        "senders_p99_ms_during": round(quantile(during, 0.99), 2),
        "senders_max_ms_during": round(max(during, default=0.0), 2),
        "provider_extra_mb": round(told[0][2], 1),
    }


def run(quick: bool) -> dict[str, object]:
    """Without state; 10 MB and 100 MB through the group and over a connection of their own."""
    before_s = 1.0 if quick else BEFORE_S
    cases = [(0, "none")] + [(mb, m) for mb in (10, 100) for m in ("group", "separate")]
    joins = [run_round(state_mb, medium, before_s) for state_mb, medium in cases]
    return {
        "join": joins,
        "groups": group_join.measure(),
        "rate_per_s": RATE,
        "load_average": load_average(),
    }
