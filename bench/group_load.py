"""Nodes that send to many groups as fast as they may, and what each has measured."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from itertools import cycle

from bench.hosting import create_all, node_of, place, sequencers_of, together
from bench.ordering import cpu_s, rss_mb
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.batch import Batch
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.stream import Stream

CONTEXTS_S = 0.5
"""How long contexts are weighed, after the clock has stopped."""


@dataclass(frozen=True, slots=True)
class GroupLoad:
    """Each node hands over `run` messages to one group after the other, `turn` in a loop turn.

    `overlap`: `three_of_four`, `disjoint`, `overlapping` or `full`, see `memberships`.
    `sequencers` 0: the groups are where the directory has put them and placement brings them;
    otherwise a plan of somebody's puts them there, which placement leaves alone.
    """

    nodes: int
    groups: int
    overlap: str
    run: int
    turn: int
    sequencers: int = 0
    size_bytes: int = 100
    warm_up_s: float = 1.0
    measure_s: float = 3.0


@dataclass(frozen=True, slots=True)
class GroupsMeasured:
    """What one node saw while the clock ran; contexts and frames are those of a while after it."""

    deliveries: int
    cpu_s: float
    wall_s: float
    rss_mb: float
    sequencers: int
    frames: int
    messages: int
    context_bytes: int


def memberships(load: GroupLoad, index: int) -> list[list[int]]:
    """The groups of each process of a node, by their place in the list of groups.

    `three_of_four`: one process a node, in every group but each fourth. `disjoint`: a process of
    its own for each group. `overlapping`: a process in each three neighbours of a ring of groups.
    `full`: one process a node, in all groups. In the last three each node delivers every group.
    """
    groups = range(load.groups)
    match load.overlap:
        case "three_of_four":
            return [[group for group in groups if (group + index) % 4]]
        case "disjoint":
            return [[group] for group in groups]
        case "overlapping":
            return [[(first + step) % load.groups for step in range(3)] for first in groups]
        case "full":
            return [list(groups)]
    raise ValueError(f"no overlap is called {load.overlap}")


class Tally:
    """Receives what a turn has delivered, and counts the messages."""

    def __init__(self) -> None:
        self.messages = 0

    def __call__(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if type(event) is Delivered:
                self.messages += len(event.payloads)


class ContextScale:
    """Weighs the contexts of the frames that a node records from now on."""

    def __init__(self, node: GroupNode) -> None:
        self.frames = self.messages = self.bytes = 0
        receiver = node.service.receiver
        record_runs = receiver._record_runs

        def weigh(stream: Stream, batch: Batch, header: Accept) -> bool:
            self.frames += 1
            self.messages += batch.count
            self.bytes += len(header.context)
            return record_runs(stream, batch, header)

        receiver._record_runs = weigh  # type: ignore[method-assign]


async def send_for_ever(
    node: GroupNode, pairs: list[tuple[Process, GroupId]], load: GroupLoad
) -> None:
    """Send as fast as the node has room, to one group after the other."""
    payloads = [secrets.token_bytes(load.size_bytes) for _ in range(load.run)]
    turns = max(1, load.turn // load.run)
    following = cycle(pairs)
    while True:
        await node.room()
        for _ in range(turns):
            process, group = next(following)
            node.send(process, group, payloads)
        await asyncio.sleep(0)


async def measure_load(
    node: GroupNode, pairs: list[tuple[Process, GroupId]], load: GroupLoad, tally: Tally
) -> tuple[int, float, float, asyncio.Task[None]]:
    """Send, and measure once it has warmed up: messages that `tally` was given, seconds of CPU, of
    the clock, and what sends on until it is cancelled."""
    sending = asyncio.create_task(send_for_ever(node, pairs, load))
    await asyncio.sleep(load.warm_up_s)
    began, cpu, before = time.perf_counter(), cpu_s(), tally.messages
    await asyncio.sleep(load.measure_s)
    deliveries, cpu = tally.messages - before, cpu_s() - cpu
    return deliveries, cpu, time.perf_counter() - began, sending


async def join_groups(
    node: GroupNode, groups: list[GroupId], load: GroupLoad, index: int
) -> list[tuple[Process, GroupId]]:
    """Open the node's processes and join their groups: who sends where, by processes."""
    pairs = []
    for own in memberships(load, index):
        process = node.open_process()
        await asyncio.gather(*(node.join(process, groups[at]) for at in own))
        pairs += [(process, groups[at]) for at in own]
    return pairs


async def member(index: int, cluster: Cluster, load: GroupLoad, pipe: Pipe) -> None:
    """One node: join, wait for the others, send, measure."""
    tally = Tally()
    node = node_of(index, cluster, tally)
    async with node:
        await together(node, load.nodes)
        pipe.tell("together")
        await pipe.ask()
        groups = await create_all(node, [f"g{at}" for at in range(load.groups)])
        pipe.tell("created")
        await pipe.ask()
        pairs = await join_groups(node, groups, load, index)
        pipe.tell("joined")
        await pipe.ask()
        if load.sequencers and index == 0:
            await place(node, groups, load.sequencers)
        pipe.tell("placed")
        await pipe.ask()
        deliveries, cpu, wall_s, sending = await measure_load(node, pairs, load, tally)
        scale = ContextScale(node)
        await asyncio.sleep(CONTEXTS_S)
        sending.cancel()
        pipe.tell(
            GroupsMeasured(
                deliveries,
                cpu,
                wall_s,
                rss_mb(),
                sequencers_of(node, groups),
                scale.frames,
                scale.messages,
                scale.bytes,
            )
        )
        await pipe.ask()


def run_group_load(load: GroupLoad) -> list[GroupsMeasured]:
    """Start the nodes, let them send together, gather what they measured."""
    with Processes(member, load, load.nodes) as processes:
        processes.answers()
        for _ in range(3):
            processes.ask_all("go on")
        measured = processes.ask_all("send")
        return [one for one in measured if isinstance(one, GroupsMeasured)]


def figures(measured: list[GroupsMeasured]) -> dict[str, object]:
    """What the nodes measured together."""
    deliveries = sum(one.deliveries for one in measured)
    messages = sum(one.messages for one in measured)
    context_bytes = sum(one.context_bytes for one in measured)
    frames = sum(one.frames for one in measured)
    return {
        "deliveries_per_s": round(sum(one.deliveries / one.wall_s for one in measured)),
        "deliveries_per_s_per_member": round(min(o.deliveries / o.wall_s for o in measured)),
        "cpu_us_per_delivery": round(
            1e6 * sum(one.cpu_s for one in measured) / max(1, deliveries), 3
        ),
        "context_bytes_per_message": round(context_bytes / max(1, messages), 2),
        "messages_per_frame": round(messages / max(1, frames), 1),
        "rss_mb": round(max(one.rss_mb for one in measured), 1),
    }
