"""Shared objects against raw messages: operations a second, CPU for each, time until the result.

Three nodes, all calling at once, each with at most so many calls under way; an operation counts
when all nodes have done it. `raw` are messages of the size of a counter's, to a group of the
sequencing service, with a receiver that counts them: what is below the others. `counter` is a
shared `Counter`, `text` inserts a character at the end of a shared `Text`, `guarded_counter` is a
counter with an access list. CPU is of one node (mean of three) for one operation, whoever called
it. `result_us` is how long one caller at a node that is not the sequencer waits, when it is alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import mean

from bench.hosting import node_of, together, until
from bench.measuring import load_average, quantile
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import Node
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.shared.access import EVERYBODY, Guarded, Right
from groupcore.shared.types import Counter, Text

NODES = 3
UNDER_WAY_MAX = 100
"""Calls of one node that wait for their results; a text refuses edits 1,000 behind."""
RAW_BYTES = 24
"""About what a call of `Counter.add` takes."""
ALONE = 300
KINDS = ("raw", "counter", "guarded_counter", "text")


class GuardedCounter(Guarded, Counter):
    """A counter on which everybody may count, by its access list."""

    rights: dict[str, Right] = {EVERYBODY: Right.MANAGE}  # noqa: RUF012


@dataclass(slots=True)
class Subject:
    """What is called: `call` one operation, `done` says how many are here, `mine` own ones."""

    call: Callable[[], object]
    done: Callable[[], int]
    mine: Callable[[], int]
    result: Callable[[], Awaitable[object]]
    room: Callable[[], Awaitable[None]]


class Tally:
    """Counts the raw messages of a group."""

    def __init__(self) -> None:
        self.done = self.mine = 0
        self.name = ""

    def __call__(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                self.done += len(event.payloads)
                if event.process.node.name == self.name:
                    self.mine += len(event.payloads)


async def load(subject: Subject, count: int, pipe: Pipe) -> tuple[float, float]:
    """Seconds and CPU seconds until all nodes' calls have been done here."""
    before = subject.done()
    pipe.tell("ready")
    await pipe.ask()
    began, cpu = time.perf_counter(), time.process_time()
    sent = 0
    begun = subject.mine()
    while sent < count:
        if sent - (subject.mine() - begun) >= UNDER_WAY_MAX:
            await asyncio.sleep(0)
            continue
        subject.call()
        sent += 1
        if sent % 20 == 0:
            await subject.room()
            await asyncio.sleep(0)
    await until(lambda: subject.done() - before >= count * NODES)
    return time.perf_counter() - began, time.process_time() - cpu


async def alone(index: int, subject: Subject, pipe: Pipe) -> list[float]:
    """How long the results of calls take, one after the other, at the last node; microseconds."""
    pipe.tell("ready")
    await pipe.ask()
    times: list[float] = []
    if index == NODES - 1:
        for _ in range(ALONE):
            began = time.perf_counter()
            await subject.result()
            times.append((time.perf_counter() - began) * 1e6)
    return times


async def measure(index: int, subject: Subject, count: int, pipe: Pipe) -> None:
    """All of one kind, told to the benchmark."""
    seconds, cpu = await load(subject, count, pipe)
    times = await alone(index, subject, pipe)
    pipe.tell((seconds, cpu, times))
    await pipe.ask()


async def raw(index: int, cluster: Cluster, count: int, pipe: Pipe) -> None:
    """Messages of a group."""
    tally = Tally()
    async with node_of(index, cluster, tally) as node:
        await together(node, NODES)
        tally.name = node.channel.address.name
        group = await node.create("raw")
        process = node.open_process()
        await node.join(process, group)
        payload = [bytes(RAW_BYTES)]

        async def result() -> None:
            before = tally.mine
            node.send(process, group, payload)
            while tally.mine == before:  # noqa: ASYNC110  # no slower than an event
                await asyncio.sleep(0)

        subject = Subject(
            lambda: node.send(process, group, payload),
            lambda: tally.done,
            lambda: tally.mine,
            result,
            node.room,
        )
        await measure(index, subject, count, pipe)


async def shared(index: int, cluster: Cluster, kind: str, count: int, pipe: Pipe) -> None:
    """Operations of an object."""
    node = Node(
        "bench",
        node_id=f"n{index}",
        principal="bench",
        multicast=cluster.multicast,
        key=cluster.key,
        cluster_size=cluster.nodes,
    )
    async with node:
        await together(node.groups, NODES)
        mine = 0

        def done_one() -> None:
            nonlocal mine
            mine += 1

        if kind == "text":
            text = await node.open(Text, kind)

            def call() -> object:
                pending = text.insert(len(text), "x")
                pending.when_done(done_one)
                return pending

            subject = Subject(
                call,
                lambda: text.version,
                lambda: mine,
                lambda: text.insert(len(text), "x"),
                node.room,
            )
        else:
            kinds = {"counter": Counter, "guarded_counter": GuardedCounter}
            counter = await node.open(kinds[kind], kind)

            def add() -> object:
                pending = counter.add()
                pending.when_done(done_one)
                return pending

            subject = Subject(
                add, lambda: counter.value, lambda: mine, lambda: counter.add(), node.room
            )
        await measure(index, subject, count, pipe)


async def work(index: int, cluster: Cluster, wanted: tuple[str, int], pipe: Pipe) -> None:
    """One node of one kind of run."""
    kind, count = wanted
    if kind == "raw":
        await raw(index, cluster, count, pipe)
    else:
        await shared(index, cluster, kind, count, pipe)


def case(kind: str, count: int) -> dict[str, object]:
    """The figures of one kind."""
    with Processes(work, (kind, count), NODES) as processes:
        processes.answers()
        processes.ask_all("go")
        told = processes.ask_all("go on alone")
    runs = [one for one in told if isinstance(one, tuple)]
    total = count * NODES
    alone_us = [time_us for _, _, times in runs for time_us in times]
    return {
        "kind": kind,
        "operations": total,
        "operations_per_s": round(total / max(seconds for seconds, _, _ in runs)),
        "cpu_us_per_operation": round(mean(cpu for _, cpu, _ in runs) / total * 1e6, 1),
        "result_us_p50": round(quantile(alone_us, 0.5)),
        "result_us_p99": round(quantile(alone_us, 0.99)),
    }


def run(quick: bool) -> dict[str, object]:
    """All kinds, one after the other."""
    count = 2_000 if quick else 10_000
    return {
        "nodes": NODES,
        "calls_under_way_of_a_node": UNDER_WAY_MAX,
        "cases": [case(kind, count) for kind in KINDS],
        "load_average": load_average(),
    }
