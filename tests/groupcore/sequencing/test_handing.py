"""Who has a group's state in memory stays until a newcomer has it: the rules of `handing`."""

from __future__ import annotations

from typing import cast

import pytest

from groupcore.sequencing.events import StateInstalled
from groupcore.sequencing.handing import MOST_S, PATIENCE_S, Handing
from groupcore.sequencing.headers import Accept, Change, Repair, StatePiece, StateRequest
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.states import States
from groupcore.view import Address
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


def two_have_it() -> tuple[World, GroupId, list[Process]]:
    """A group of which a and b have the state, in this order, and c takes it in vain."""
    world = World("abc")
    group = world.create("g")
    processes = [world.open(name) for name in "abc"]
    for process in processes[:2]:
        world.join(process, group)
    world.send(processes[0], group, b"one")
    world.run(20)
    world.lost = lambda packet: isinstance(header_of(packet), StateRequest)
    world["c"].service.join(processes[2], group, world.now)
    world.run(10)
    return world, group, processes


def test_i1_of_those_that_have_the_state_who_has_joined_first_waits() -> None:
    world, group, (mine, other, _) = two_have_it()
    for name, process in (("b", other), ("a", mine)):
        world[name].service.leave(process, group, world.now)
    world.run(10)
    assert not is_member(world, "a", group, other)
    assert is_member(world, "b", group, mine)
    assert world["a"].service.hands_over(world.now)
    assert not world["b"].service.hands_over(world.now)


def test_i1_when_all_that_have_the_state_leave_at_once_a_newcomer_gets_it() -> None:
    world, group, (mine, other, _) = two_have_it()
    for name, process in (("a", mine), ("b", other)):
        world[name].service.leave(process, group, world.now)
    world.run(10)
    world.lost = lambda packet: False
    world.run(200)
    assert world["c"].state[group] == [b"one"]
    assert group not in world["a"].state
    assert group not in world["b"].state


def test_i1_who_joins_before_a_leave_that_is_on_its_way_gets_the_state() -> None:
    world = World("abc")
    group = world.create("g", at="b")
    mine, late = world.open("a"), world.open("c")
    world.join(mine, group)
    world.send(mine, group, b"one")
    world.run(20)
    for kind in (Change, Accept, Repair, StateRequest):
        world.lose(kind, to="a")
    world["c"].service.join(late, group, world.now)
    world.run(10)
    world["a"].service.leave(mine, group, world.now)
    world.run(10)
    assert not is_member(world, "b", group, mine)
    world.lose_nothing()
    world.run(200)
    assert world["c"].state[group] == [b"one"]
    assert group not in world["a"].state


def test_states_i4_who_joins_behind_a_leave_asks_who_left_while_another_had_no_state_yet() -> None:
    """c joins, a leaves, b joins; c is gone before it has the state that a keeps for it."""
    world = World("abcd")
    group = world.create("g", at="d")
    mine, late, later = world.open("a"), world.open("c"), world.open("b")
    world.join(mine, group)
    world.send(mine, group, b"one")
    world.run(20)
    for kind in (Change, Accept, Repair, StateRequest):
        world.lose(kind, to="a")
    world["c"].service.join(late, group, world.now)
    world.run(10)
    world["a"].service.leave(mine, group, world.now)
    world.run(10)
    assert not is_member(world, "d", group, mine)
    world["b"].service.join(later, group, world.now)
    world.run(10)
    assert is_member(world, "d", group, later)
    world.lose_nothing()
    world.crash("c")
    world.run(300)
    assert world["b"].state[group] == [b"one"]


def leaving_unheard(stay: str) -> tuple[World, GroupId, Process]:
    """A group of d, of which a has the state, and each of `stay` if it is in it.

    c, and b if it is not in it, joins and everybody leaves, before a, b or c hears of either.
    """
    world = World("abcdefg")  # a quorum hears
    group = world.create("g", at="d")
    processes = {name: world.open(name) for name in "abc"}
    for name in stay:
        world.join(processes[name], group)
    world.send(processes["a"], group, b"one")
    world.run(20)
    for name in "abc":
        for kind in (Change, Accept, Repair):
            world.lose(kind, to=name)
    for name in "abc":
        if name not in stay:
            world[name].service.join(processes[name], group, world.now)
            world.run(10)
    for name in stay:
        world[name].service.leave(processes[name], group, world.now)
        world.run(10)
    assert not any(is_member(world, "d", group, processes[name]) for name in stay)
    return world, group, processes["b"]


def test_states_i3_who_hears_of_its_join_and_of_the_last_leaves_at_once_asks_those_that_left() -> (
    None
):
    world, group, _ = leaving_unheard("ab")
    world.lose_nothing()
    world.run(200)
    assert world["c"].state[group] == [b"one"]
    assert not any(group in world[name].state for name in "ab")


def test_i1_who_has_taken_the_state_keeps_it_for_who_has_joined_meanwhile() -> None:
    world, group, middle = leaving_unheard("a")
    world.lose_nothing()
    world.lose(StateRequest, of="c", to="a")
    while world["b"].state.get(group) != [b"one"]:
        world.run(1)
    world["b"].service.leave(middle, group, world.now)
    world.run(20)
    world.lose_nothing()
    world.run(400)
    assert world["c"].state[group] == [b"one"]
    assert not any(group in world[name].state for name in "ab")


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


def test_who_asks_again_is_waited_for_behind_those_who_have_been_silent_longer() -> None:
    handing = Handing(cast("Plane", None), cast("States", None))
    a, b, c = ((1, Address(name, 1)) for name in "abc")
    for key, now in ((a, 0.0), (b, 0.5), (a, 0.9), (c, 0.5 + PATIENCE_S)):
        handing._owe(key, now, MOST_S)
    assert list(handing._owed) == [a, c], "the time for b is over, and it goes with the next"
