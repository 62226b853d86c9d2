"""A cluster with very many groups of which some are active: does an idle group cost anything?

Three nodes and `groups` groups. A tenth of them is active: a process of each node is in two thirds
of those, and all send in runs of ten to one after the other; first to those of one sequencer, then
to those of the next, as a message waits for the place of the former one where that is another's.
`beside`: the same active groups with no idle ones, so that what differs is what idle groups cost:
CPU for each delivery, and CPU of a node a second while nobody sends (`resting_cpu_ms_per_s`).
`member_group_bytes`: by what resident memory grows for each group that a process of a node joins,
before anything is sent; `group_bytes` for each that is only there. `join_local_ms` and
`join_remote_ms`: from `join` to being in, of groups that the node has already, and of those whose
state another node has.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from dataclasses import dataclass

from bench.group_join import time_joins
from bench.group_load import GroupLoad, Tally, measure_load
from bench.hosting import AT_ONCE, create_all, node_of, together, until
from bench.measuring import load_average, quantile, rss_kb_of
from bench.ordering import cpu_s
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.sequencing.names import GroupId, Process

NODES = 3
ACTIVE_IN = 10
"""One of so many groups is active."""
JOINS = 50


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many groups in all, and so many of them active; how long things are measured."""

    groups: int
    active: int
    measure_s: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What one node has measured."""

    group_bytes: float
    member_group_bytes: float
    resting_cpu_ms_per_s: float
    deliveries: int
    cpu_s: float
    wall_s: float
    local_ms: list[float]
    remote_ms: list[float]


def rss_bytes() -> int:
    """Resident memory of this process."""
    gc.collect()
    return 1024 * rss_kb_of(os.getpid())


async def join_all(node: GroupNode, groups: list[GroupId]) -> list[tuple[Process, GroupId]]:
    """One process joins all of them, some at a time."""
    process = node.open_process()
    for at in range(0, len(groups), AT_ONCE):
        await asyncio.gather(*(node.join(process, one) for one in groups[at : at + AT_ONCE]))
    return [(process, group) for group in groups]


async def member(index: int, cluster: Cluster, crowd: Crowd, pipe: Pipe) -> None:
    """One node: groups, members, rest, load, joins; all nodes take each step together."""
    tally = Tally()
    async with node_of(index, cluster, tally) as node:
        await together(node, NODES)
        pipe.tell("together")
        await pipe.ask()
        empty = rss_bytes()
        if index == 0:
            await create_all(node, [f"g{at}" for at in range(crowd.groups)])
        await until(lambda: len(node.service.plane.records) >= crowd.groups)
        pipe.tell("created")
        await pipe.ask()
        known = rss_bytes()
        names = node.names
        # From end to end: what is active lies among what is idle.
        step = crowd.groups // crowd.active
        active = [names[f"g{at * step}"] for at in range(crowd.active)]
        own = [group for at, group in enumerate(active) if (at + index) % NODES]
        pairs = await join_all(node, own)
        pairs.sort(key=lambda pair: str(node.owner_of(pair[1])))
        pipe.tell("joined")
        await pipe.ask()
        inside = rss_bytes()
        began, cpu = time.perf_counter(), cpu_s()
        await asyncio.sleep(crowd.measure_s)
        resting = 1e3 * (cpu_s() - cpu) / (time.perf_counter() - began)
        pipe.tell("rested")
        await pipe.ask()
        load = GroupLoad(
            NODES,
            crowd.active,
            "three_of_four",
            run=10,
            turn=500,
            warm_up_s=crowd.measure_s,
            measure_s=crowd.measure_s,
        )
        deliveries, cpu, wall_s, sending = await measure_load(node, pairs, load, tally)
        sending.cancel()
        pipe.tell("sent")
        await pipe.ask()
        others = [group for at, group in enumerate(active) if not (at + index) % NODES]
        local = await time_joins(node, own[:JOINS]) if index == 0 else []
        remote = await time_joins(node, others[:JOINS]) if index == 0 else []
        pipe.tell(
            Seen(
                (known - empty) / crowd.groups,
                (inside - known) / len(own),
                resting,
                deliveries,
                cpu,
                wall_s,
                local,
                remote,
            )
        )
        await pipe.ask()


def measure(crowd: Crowd) -> dict[str, object]:
    """One cluster."""
    with Processes(member, crowd, NODES) as processes:
        processes.answers()
        for _ in range(4):
            processes.ask_all("go on")
        seen = [one for one in processes.ask_all("join again") if isinstance(one, Seen)]
    deliveries = sum(one.deliveries for one in seen)
    return {
        "groups": crowd.groups,
        "active": crowd.active,
        "group_bytes": round(max(one.group_bytes for one in seen)),
        "member_group_bytes": round(max(one.member_group_bytes for one in seen)),
        "resting_cpu_ms_per_s": round(max(one.resting_cpu_ms_per_s for one in seen), 1),
        "deliveries_per_s_per_member": round(min(one.deliveries / one.wall_s for one in seen)),
        "cpu_us_per_delivery": round(1e6 * sum(one.cpu_s for one in seen) / max(1, deliveries), 3),
        "join_local_ms": round(quantile(seen[0].local_ms, 0.5), 3),
        "join_remote_ms": round(quantile(seen[0].remote_ms, 0.5), 3),
    }


def run(quick: bool) -> dict[str, object]:
    """100,000 groups, and the active ones by themselves; a twentieth when it is to be quick."""
    groups, measure_s = (5_000, 1.0) if quick else (100_000, 5.0)
    active = groups // ACTIVE_IN
    return {
        "all": measure(Crowd(groups, active, measure_s)),
        "beside": measure(Crowd(active, active, measure_s)),
        "load_average": load_average(),
    }
