"""The sequencer of a group killed with SIGKILL: how long the others wait for the next ACCEPT.

Three nodes have a process each in one group and send to it at an even rate. The node that sequences
it is killed, and comes back as a new life that joins again. The gap is the longest time without an
ACCEPT for an own message at a living sender, from the kill on.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections import Counter
from dataclasses import dataclass, field

from bench.hosting import node_of, together
from bench.measuring import longest_gap_ms, quantile
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.sequencing.events import Accepted, Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Process

NODES = 3
RATE_PER_S = 200.0
WATCHED_S = 4.0
SETTLED_S = 2.0
"""A message that has not come back after so long is lost."""
STAMP = struct.Struct("!QQ")
SIZE_BYTES = 100


@dataclass(slots=True)
class Log:
    """What a node has seen in its life; times in nanoseconds of the monotonic clock."""

    life: int = field(default_factory=time.time_ns)
    sent: dict[int, int] = field(default_factory=dict)
    back: set[int] = field(default_factory=set)
    accepted: list[int] = field(default_factory=list)
    seen: Counter[tuple[int, int]] = field(default_factory=Counter)
    doubled: int = 0

    def __call__(self, events: list[ServiceEvent]) -> None:
        now = time.monotonic_ns()
        for event in events:
            if isinstance(event, Accepted):
                self.accepted.append(now)
            elif type(event) is Delivered:
                for payload in event.payloads:
                    self.note(STAMP.unpack_from(payload))

    def note(self, stamp: tuple[int, int]) -> None:
        """One message more."""
        self.seen[stamp] += 1
        self.doubled += self.seen[stamp] > 1
        if stamp[0] == self.life:
            self.back.add(stamp[1])


@dataclass(frozen=True, slots=True)
class Report:
    """A node's log in short, and which node sequences the group."""

    owner: int
    accepted: list[int]
    lost: int
    doubled: int


async def send(node: GroupNode, process: Process, group: GroupId, log: Log) -> None:
    """One message after the other at the rate."""
    rest = bytes(SIZE_BYTES - STAMP.size)
    due = time.monotonic()
    for number in range(1, 1 << 62):
        due += 1 / RATE_PER_S
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        log.sent[number] = time.monotonic_ns()
        node.send(process, group, [STAMP.pack(log.life, number) + rest])


async def member(index: int, cluster: Cluster, nothing: None, pipe: Pipe) -> None:
    """One node: join, send, and report when asked."""
    del nothing
    log = Log()
    async with node_of(index, cluster, log) as node:
        await together(node, NODES)
        group = await node.create("survives")
        pipe.tell("created")
        await pipe.ask()
        process = node.open_process()
        await node.join(process, group)
        sending = asyncio.create_task(send(node, process, group, log))
        pipe.tell("joined")
        while await pipe.ask() == "report":
            owner = node.service.plane.owner(group)
            assert owner is not None, "the group exists"
            before = time.monotonic_ns() - int(1e9 * SETTLED_S)
            lost = sum(n not in log.back for n, at in log.sent.items() if at < before)
            pipe.tell(Report(int(owner.name[1:]), log.accepted, lost, log.doubled))
        sending.cancel()


def report(processes: Processes[None], index: int) -> Report:
    """What a node has seen so far."""
    told = processes.ask(index, "report")
    assert isinstance(told, Report)
    return told


def measure(kills: int) -> dict[str, object]:
    """Kill the sequencer, let its node come back, and again."""
    gaps: list[float] = []
    lost = doubled = 0
    with Processes(member, None, NODES) as processes:
        processes.answers()
        processes.ask_all("join")
        time.sleep(2.0)
        for _ in range(kills):
            victim = report(processes, 0).owner
            at = time.monotonic_ns()
            processes.kill(victim)
            time.sleep(WATCHED_S)
            living = [report(processes, index) for index in range(NODES) if index != victim]
            until = at + int(1e9 * WATCHED_S)
            gaps.append(max(longest_gap_ms(one.accepted, at, until) for one in living))
            lost += sum(one.lost for one in living)
            doubled += sum(one.doubled for one in living)
            processes.start(victim)
            processes.answer(victim)
            processes.ask(victim, "join")
            time.sleep(1.0)
    return {
        "gap_p50_ms": round(quantile(gaps, 0.5)),
        "gap_p99_ms": round(quantile(gaps, 0.99)),
        "lost": lost,
        "doubled": doubled,
        "kills": kills,
    }
