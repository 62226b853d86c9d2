"""The log of a node, what is told to be saved, and the restart of all nodes."""

from __future__ import annotations

from random import Random

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.view import Address
from tests.groupcore.sequencing.durable_world import DurableWorld


def begin(names: str = "abc", seed: int = 0) -> tuple[DurableWorld, GroupId, list[Process]]:
    """A group with a process of each node in it."""
    world = DurableWorld(names, seed)
    group = world.create("g")
    processes = [world.open(name) for name in names]
    for process in processes:
        world.join(process, group)
    return world, group, processes


def saved(world: DurableWorld, process: Process, group: GroupId) -> int:
    """The number up to which the process was told that its messages are saved."""
    host = world.host(process.node.name)
    host.note_saved()
    return host.saved.get((process, group), 0)


def test_a_message_is_saved_when_a_quorum_has_stored_it() -> None:
    world, group, (mine, *_) = begin()
    for name in "bc":
        world.disks[name].is_stuck = True
    world.send(mine, group, b"one")
    world.run(40)
    assert world["b"].state[group] == [b"one"], "delivery waits for no disk"
    assert saved(world, mine, group) == 0
    world.disks["c"].is_stuck = False
    world.run(40)
    assert saved(world, mine, group) == 1


def test_what_is_saved_is_there_after_a_power_cut() -> None:
    world, group, (mine, *_) = begin()
    world.send(mine, group, b"one", b"two")
    world.run(40)
    assert saved(world, mine, group) == 2
    world.power_cut()
    world.restart("abc")
    world.run(60)
    assert world.create("g") == group
    late = world.open("b")
    world.join(late, group)
    assert world["b"].state[group] == [b"one", b"two"]
    world.send(late, group, b"three")
    world.run(40)
    assert world["b"].state[group] == [b"one", b"two", b"three"]
    assert saved(world, late, group) == 1


def test_old_processes_leave_their_groups_after_a_restart() -> None:
    world, group, _ = begin()
    world.power_cut()
    world.restart("abc")
    world.run(60)
    for host in world.hosts.values():
        assert not host.service.plane.records[group].members


def test_a_node_that_looks_for_others_need_not_be_woken() -> None:
    service = Service(Address("a", 1), ServiceOptions(durable=True), Random(0))
    service.end_turn(1.0)
    service.stored(service.take().log[-1].mark, 1.0)
    service.end_turn(1.0)
    assert service.next_wake() is None
