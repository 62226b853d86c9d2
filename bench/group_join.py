"""Joining a group: where the node has it already, and where its state comes from another node.

`local`: a second process of a node joins a group that the node delivers. `remote`: the first
process of a node joins a group whose state another node has. Times run from `join` to the process
being in.
"""

from __future__ import annotations

import time

from bench.hosting import create_all, node_of, together
from bench.measuring import quantile
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.errors import GroupRefusedError
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId

NODES = 3
KB, MB = 1_000, 1_000_000
REMOTE = {KB: 50, MB: 10}
"""Sizes of state, and how many groups are joined with each."""
LOCAL = 50


class Holder:
    """The node that has the states: every group of a size has the same one."""

    def __init__(self) -> None:
        self.states: dict[GroupId, bytes] = {}

    def copy(self, group: GroupId) -> bytes:
        """A group's state: immutable, so nothing is copied."""
        return self.states.get(group, b"")

    def __call__(self, events: list[ServiceEvent]) -> None:
        """Nothing is kept of what happens."""


async def time_joins(node: GroupNode, groups: list[GroupId]) -> list[float]:
    """One process joins one group after the other; milliseconds for each that it came into."""
    process = node.open_process()
    times = []
    for group in groups:
        began = time.perf_counter()
        try:
            await node.join(process, group)
        except GroupRefusedError:
            break  # the node, or the one that had the state, was excluded meanwhile
        times.append(1e3 * (time.perf_counter() - began))
    return times


async def member(index: int, cluster: Cluster, sizes: dict[int, int], pipe: Pipe) -> None:
    """The first node has the groups, the last one joins them; the first one joins again itself."""
    holder = Holder()
    async with node_of(index, cluster, holder, copy_state=holder.copy) as node:
        await together(node, NODES)
        groups = {
            size: await create_all(node, [f"{size}-{at}" for at in range(count)])
            for size, count in sizes.items()
        }
        pipe.tell("created")
        await pipe.ask()
        if index == 0:
            process = node.open_process()
            for size, those in groups.items():
                state = bytes(size)
                for group in those:
                    holder.states[group] = state
                    await node.join(process, group)
        pipe.tell("held")
        await pipe.ask()
        joined: dict[int, list[float]] = {}
        if index == NODES - 1:
            joined = {size: await time_joins(node, those) for size, those in groups.items()}
        pipe.tell(joined)
        await pipe.ask()
        pipe.tell(await time_joins(node, groups[KB][:LOCAL]) if index == 0 else [])
        await pipe.ask()


def figures(where: str, state_bytes: int, times_ms: list[float]) -> dict[str, object]:
    """Joins of one kind."""
    return {
        "where": where,
        "state_bytes": state_bytes,
        "joins": len(times_ms),
        "p50_ms": round(quantile(times_ms, 0.5), 3),
        "p99_ms": round(quantile(times_ms, 0.99), 3),
    }


def measure() -> list[dict[str, object]]:
    """Joins of each kind, one after the other; a round of its own for the largest state."""
    return measure_round(REMOTE) + measure_round({KB: 1, 100 * MB: 1})[2:]


def measure_round(sizes: dict[int, int]) -> list[dict[str, object]]:
    """Local joins, then remote ones of each size."""
    with Processes(member, sizes, NODES) as processes:
        processes.answers()
        processes.ask_all("hold")
        remote = processes.ask_all("join")[NODES - 1]
        local = processes.ask_all("join locally")[0]
    assert isinstance(remote, dict)
    assert isinstance(local, list)
    return [
        figures("local", KB, local),
        *(figures("remote", size, times) for size, times in remote.items()),
    ]
