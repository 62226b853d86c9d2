"""Who has a group's state in memory stays until a newcomer has it: the rules of `handing`."""

from __future__ import annotations

import pytest

from groupcore.sequencing.events import StateInstalled
from groupcore.sequencing.handing import MOST_S, PATIENCE_S
from groupcore.sequencing.headers import StatePiece, StateRequest
from groupcore.sequencing.names import GroupId, Process
from tests.groupcore.sequencing.packets import header_of
from tests.groupcore.sequencing.world import World


def begin(names: str = "ab") -> tuple[World, GroupId, list[Process]]:
    """A group with messages, of which a has the state, and b takes it in vain."""
    world = World(names)
    group = world.create("g")
    processes = [world.open(name) for name in names]
    world.join(processes[0], group)
    world.send(processes[0], group, b"one", b"two")
    world.run(20)
    world.lost = lambda packet: isinstance(header_of(packet), StatePiece)
    for process in processes[1:]:
        world.hosts[process.node].service.join(process, group, world.now)
    world.run(10)
    return world, group, processes


def is_member(world: World, at: str, group: GroupId, process: Process) -> bool:
    return process in world[at].service.plane.records[group].members


def test_i1_the_last_leave_waits_until_a_newcomer_has_the_state() -> None:
    world, group, (mine, late) = begin()
    world["a"].service.leave(mine, group, world.now)
    world.run(30)
    assert is_member(world, "b", group, mine)
    world.lost = lambda packet: False
    world.run(200)
    assert world["b"].state[group] == [b"one", b"two"]
    assert not is_member(world, "b", group, mine)
    assert group not in world["a"].state
    assert is_member(world, "a", group, late)


def test_i1_a_node_that_leaves_waits_until_a_newcomer_has_the_state() -> None:
    world, group, _ = begin()
    a = world["a"].service
    assert a.hands_over(world.now)
    world.lost = lambda packet: False
    for _ in range(50):
        assert a.hands_over(world.now) or world["b"].state[group] == [b"one", b"two"]
        world.run(20)
    assert world["b"].state[group] == [b"one", b"two"]
    assert not a.hands_over(world.now)


def test_where_another_node_has_the_state_nobody_waits() -> None:
    world = World("abc")
    group = world.create("g")
    mine, other, late = (world.open(name) for name in "abc")
    for process in (mine, other):
        world.join(process, group)
    world.run(20)
    world.lost = lambda packet: isinstance(header_of(packet), StatePiece)
    world["c"].service.join(late, group, world.now)
    world.run(10)
    world["a"].service.leave(mine, group, world.now)
    world.run(10)
    assert not is_member(world, "b", group, mine)
    world["b"].service.leave(other, group, world.now)
    world.run(30)
    assert is_member(world, "a", group, other), "now it is the only one"


@pytest.mark.parametrize("asks", [True, False])
def test_i2_a_newcomer_is_not_waited_for_for_ever(asks: bool) -> None:
    world, group, (mine, _) = begin()
    if not asks:
        world.lost = lambda packet: isinstance(header_of(packet), StateRequest)
    began = world.now
    world["a"].service.leave(mine, group, world.now)
    while is_member(world, "a", group, mine) and world.now < began + 2 * MOST_S:
        world.run(20)
    most_s = MOST_S if asks else PATIENCE_S
    assert world.now - began < most_s + 2.0
    anew = [one for one in world["b"].events if isinstance(one, StateInstalled)]
    world.lost = lambda packet: False
    world.run(300)
    assert anew or any(isinstance(one, StateInstalled) for one in world["b"].events)
