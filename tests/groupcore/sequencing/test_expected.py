"""Joins of groups that a node has not heard of: waited for, for a while, and not longer."""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.sequencing.commands import CreateGroup, encode_command
from groupcore.sequencing.events import Joined, OwnerChanged, Refused
from groupcore.sequencing.headers import Join
from groupcore.sequencing.names import BEGINNING, GroupId, Order, Process
from tests.groupcore.sequencing.world import World


def lagging() -> tuple[World, Process, GroupId]:
    """Node c is behind in the control plane's order; b has created a group meanwhile."""
    world = World("abc")
    process = world.open("c")
    world.cut_off.add(world["c"].address)
    group = world.create("g", at="b")
    world.cut_off.clear()
    assert group not in world["c"].service.plane.records
    return world, process, group


def codes(world: World, name: str) -> list[str]:
    return [event.code for event in world[name].events if isinstance(event, Refused)]


def catch_up(world: World) -> None:
    """c hears what was ordered while it was behind."""
    command = encode_command(CreateGroup(1, "g", int(Order.CAUSALLY_TOTAL)))
    world["c"].service.on_order(world["b"].address, command, world.now)
    world.turn()


def test_a_join_waits_until_its_node_has_heard_of_the_group() -> None:  # I1
    world, process, group = lagging()
    service = world["c"].service
    service.join(process, group, world.now)
    world.run(20)
    assert codes(world, "c") == []
    catch_up(world)
    world.run(50)
    assert any(isinstance(event, Joined) for event in world["c"].events)
    assert process in service.plane.records[group].members


def test_a_join_that_comes_before_the_group_waits_at_the_sequencer() -> None:
    world = World("abc")
    process, b = world.open("a"), world["b"].service
    world.cut_off.add(world["b"].address)
    b.create("g", Order.CAUSALLY_TOTAL, world.now)
    world.turn()
    world.cut_off.clear()
    group = 1
    assert world.own(group) == "b"
    assert group not in b.plane.records
    began = world.now
    world["a"].service.join(process, group, world.now)
    world.run(3)
    b.on_order(
        b.plane.me,
        encode_command(CreateGroup(1, "g", int(Order.CAUSALLY_TOTAL))),
        world.now,
    )
    world.turn()
    while process not in world["a"].members.get(group, []):
        assert codes(world, "a") == []
        assert world.now - began < world.options.resend_s, "it waits until it is asked again"
        world.run(1)


def test_what_waits_for_a_group_that_becomes_another_node_s_is_forgotten() -> None:
    world, _, group = lagging()
    c = world["c"].service
    join = Join(group, world.open("a").number, 5, BEGINNING)
    c.receive(Batch(world["a"].address, world["c"].address, (join,)), world.now)
    c.sequencer.number()
    assert c.sequencer.enrolment.early == 1
    catch_up(world)
    assert c.sequencer.enrolment.early == 0


def test_a_join_of_a_group_that_never_comes_is_refused_in_the_end() -> None:
    world = World("abc")
    process = world.open("c")
    world["c"].service.join(process, 99, world.now)
    begun = world.now
    world.run(20)
    assert codes(world, "c") == []
    while world.now < begun + world.options.catch_up_s + 0.1:
        world.run(10)
    assert codes(world, "c") == ["unknown_group"]
    assert world["c"].service.expected.next_wake() is None


def test_a_join_of_a_group_that_was_deleted_is_refused_at_once() -> None:
    world = World("abc")
    process, group = world.open("c"), world.create("g")
    world["a"].service.delete(group, world.now)
    world.turn()
    world["c"].service.join(process, group, world.now)
    world.turn()
    assert codes(world, "c") == ["unknown_group"]


def test_who_leaves_or_closes_before_the_group_has_come_is_not_in_it() -> None:
    world, process, group = lagging()
    service = world["c"].service
    closed = world.open("c")
    service.join(process, group, world.now)
    service.join(closed, group, world.now)
    service.leave(process, group, world.now)
    service.close_process(closed, world.now)
    world.turn()
    assert codes(world, "c") == ["left", "left"]
    catch_up(world)
    world.run(50)
    assert codes(world, "c") == ["left", "left"]
    assert service.plane.records[group].members == {}


def test_everybody_is_told_who_sequences_a_new_group() -> None:
    world = World("abc")
    group = world.create("g", at="b")
    world.create("g", at="c")  # the same again
    for name in "abc":
        told = [one for one in world[name].events if isinstance(one, OwnerChanged)]
        assert told == [OwnerChanged(group, world.own(group), 1)]
