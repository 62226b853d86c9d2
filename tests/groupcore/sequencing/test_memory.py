"""What idle groups and their members take at a node (issue: under 2 KiB for a group with one)."""

from __future__ import annotations

import gc
import tracemalloc

from groupcore.sequencing.names import GroupId
from tests.groupcore.sequencing.world import World

GROUPS = 300


OURS = tracemalloc.Filter(True, "*/groupcore/sequencing/*")
CODEC = tracemalloc.Filter(True, "*/groupcore/*.py")
TESTS = tracemalloc.Filter(False, "*/tests/*")


def used() -> float:
    """Bytes a group that the services of both nodes have allocated and keep."""
    gc.collect()
    snapshot = tracemalloc.take_snapshot().filter_traces((OURS, CODEC, TESTS))
    return sum(one.size for one in snapshot.statistics("filename")) / GROUPS


def join_all(world: World, groups: list[GroupId]) -> None:
    """A new process of node a is in all of them."""
    host = world["a"]
    process = world.open("a")
    for group in groups:
        host.service.join(process, group, world.now)
    world.run(400)
    for one in world.hosts.values():
        one.events.clear()
    assert all(process in host.members[group] for group in groups)


def test_an_idle_group_with_a_member_takes_under_2_kib_at_the_member_s_node() -> None:
    world = World("ab")
    tracemalloc.start()
    try:
        groups = [world.create(f"g{at}") for at in range(GROUPS)]
        world.run(200)
        idle = used() / 2
        join_all(world, groups)
        member = used()
        join_all(world, groups)
        further = used()
    finally:
        tracemalloc.stop()
    assert member - idle < 2_048 + 384  # that is what the other node keeps of a member
    assert further - member < 512
