"""One node of the sequencing service in a process of a benchmark, and what is asked of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from bench.processes import Cluster
from groupcore.aio import GroupNode
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.options import ServiceOptions
from groupcore.stacks import StackOptions

AT_ONCE = 100
"""Groups that are created, joined or moved at a time."""
POLL_S = 0.005


def node_of(
    index: int,
    cluster: Cluster,
    receiver: Callable[[list[ServiceEvent]], None],
    copy_state: Callable[[GroupId], bytes] = lambda group: b"",
    options: ServiceOptions | None = None,
    stack_options: StackOptions | None = None,
) -> GroupNode:
    """The node of that index, not connected yet."""
    return GroupNode(
        "bench",
        node_id=f"n{index}",
        receiver=receiver,
        copy_state=copy_state,
        options=options,
        multicast=cluster.multicast,
        key=cluster.key,
        cluster_size=cluster.nodes,
        stack_options=stack_options,
    )


async def until(condition: Callable[[], bool]) -> None:
    """Look every few milliseconds until it is so."""
    while not condition():  # noqa: ASYNC110  # what is looked at tells nobody when it changes
        await asyncio.sleep(POLL_S)


class LoopWatch:
    """Watches for how long the loop does not turn, while it is entered: `longest_ms`.

    `longest_cpu_ms` is the most processor time between two turns: on a machine that others use,
    what of it is this process's own.
    """

    def __init__(self) -> None:
        self.longest_ms = self.longest_cpu_ms = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LoopWatch:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            before, cpu_s = time.perf_counter(), time.process_time()
            await asyncio.sleep(0.001)
            self.longest_ms = max(self.longest_ms, (time.perf_counter() - before) * 1e3)
            self.longest_cpu_ms = max(self.longest_cpu_ms, (time.process_time() - cpu_s) * 1e3)

    @property
    def longest(self) -> tuple[float, float]:
        """Both, in milliseconds."""
        return self.longest_ms, self.longest_cpu_ms


async def together(node: GroupNode, nodes: int) -> None:
    """Wait until the node is in a view of so many, and has a service."""
    await until(lambda: node.channel.view is not None and len(node.channel.view.members) == nodes)


async def create_all(node: GroupNode, names: Sequence[str]) -> list[GroupId]:
    """The groups of these names, new or not."""
    groups: list[GroupId] = []
    for at in range(0, len(names), AT_ONCE):
        groups += await asyncio.gather(*map(node.create, names[at : at + AT_ONCE]))
    return groups


async def place(node: GroupNode, groups: Sequence[GroupId], sequencers: int) -> None:
    """Have the first nodes of the view sequence these groups, in turns; wait until they do."""
    view = node.channel.view
    assert view is not None, "the node is in a view"
    members = sorted(view.members)[:sequencers]
    plane = node.service.plane
    wanted = {group: members[at % sequencers] for at, group in enumerate(groups)}
    for target in members:
        moving = [
            group for group, to in wanted.items() if to == target and plane.owner(group) != to
        ]
        for at in range(0, len(moving), AT_ONCE):
            await node.move(moving[at : at + AT_ONCE], target)
    await until(lambda: all(plane.owner(group) == to for group, to in wanted.items()))


def sequencers_of(node: GroupNode, groups: Sequence[GroupId]) -> int:
    """How many nodes sequence these groups."""
    return len({node.service.plane.owner(group) for group in groups})
