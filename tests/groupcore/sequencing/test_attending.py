"""Who attends a group: given what its node delivers, a member of nothing (I5 of `joining`)."""

from __future__ import annotations

import pytest

from groupcore.sequencing.events import Departed, Joined, Refused, Released
from groupcore.sequencing.names import GroupId, Order, Process
from tests.groupcore.sequencing.world import World


def attend(world: World, process: Process, group: GroupId) -> int:
    """Ask for it, and let everything come to rest."""
    request = world[process.node.name].service.attend(process, group, world.now)
    world.run(100)
    return request


def refusals(world: World, name: str) -> list[tuple[int, str]]:
    """What a node was refused."""
    return [(one.request, one.code) for one in world[name].events if isinstance(one, Refused)]


def test_who_attends_is_given_what_its_node_delivers_and_nobody_else_hears_of_it() -> None:
    world = World("ab")
    group = world.create("g")
    member, guest, other = world.open("b"), world.open("b"), world.open("a")
    world.join(member, group)
    world.join(other, group)
    number = world["a"].service.plane.records[group].seqno
    attend(world, guest, group)
    world["a"].service.send(other, group, [b"one"], world.now)
    world.run(100)
    assert world["b"].given[guest, group] == world["b"].given[member, group] == [b"one"]
    for name in "ab":
        record = world[name].service.plane.records[group]
        assert (record.seqno, list(record.members)) == (number + 1, [member, other])
    said = [one.process for one in world["a"].events if isinstance(one, Joined)]
    assert guest not in said


def test_a_node_that_has_no_member_lets_nobody_attend() -> None:
    world = World("ab")
    group = world.create("g")
    world.join(world.open("a"), group)
    request = attend(world, world.open("b"), group)
    assert refusals(world, "b") == [(request, "not_a_member")]


def test_a_strict_group_is_joined_by_every_process_as_they_count_there() -> None:
    world = World("ab")
    group = world.create("g", Order.STRICT)
    world.join(world.open("b"), group)
    request = attend(world, world.open("b"), group)
    assert refusals(world, "b") == [(request, "bad_order")]


def test_who_attends_or_is_in_does_not_attend_again_nor_join() -> None:
    world = World("ab")
    group = world.create("g")
    member, guest = world.open("b"), world.open("b")
    world.join(member, group)
    attend(world, guest, group)
    again, is_in = attend(world, guest, group), attend(world, member, group)
    joins = world["b"].service.join(guest, group, world.now)
    world.run(100)
    code = "already_a_member"
    assert refusals(world, "b") == [(again, code), (is_in, code), (joins, code)]


def test_what_who_attends_sends_depends_on_what_it_was_given() -> None:
    world = World("ab")
    group, other = world.create("g"), world.create("h")
    member, guest, writer = world.open("b"), world.open("b"), world.open("a")
    for one in (member, writer):
        world.join(one, group)
    attend(world, guest, group)
    world["a"].service.send(writer, group, [b"one"], world.now)
    world.run(100)
    sender, record = world["b"].service.sender, world["b"].service.plane.records[group]
    assert record.hold is not None
    record.hold.context[world["a"].address] = 1_000_000  # as of a frame that is not stable
    stream = world["b"].service.plane.stream(world["a"].address)
    stream.stable = min(stream.stable, 999_999)
    assert sender.context_of(sender.locals[guest])[world["a"].address] == 1_000_000
    assert other not in sender.locals[guest].groups


@pytest.mark.parametrize("how", ["leave", "close"])
def test_who_parts_is_told_so_at_once_and_the_others_of_its_node_go_on(how: str) -> None:
    world = World("ab")
    group = world.create("g")
    member, guest = world.open("b"), world.open("b")
    world.join(member, group)
    attend(world, guest, group)
    number = world["a"].service.plane.records[group].seqno
    service = world["b"].service
    if how == "leave":
        service.leave(guest, group, world.now)
    else:
        service.close_process(guest, world.now)
    world.run(100)
    assert Departed(group, 0, guest, False) in world["b"].events
    service.send(member, group, [b"one"], world.now)
    world.run(100)
    assert world["b"].given[guest, group] == []
    assert world["b"].given[member, group] == [b"one"]
    assert world["a"].service.plane.records[group].seqno == number + 1


def test_who_parts_before_it_is_in_is_refused() -> None:
    world = World("ab")
    group = world.create("g")
    member, guest = world.open("b"), world.open("b")
    world.join(member, group)
    service = world["b"].service
    request = service.attend(guest, group, world.now)
    service.leave(guest, group, world.now)
    world.run(100)
    assert refusals(world, "b") == [(request, "left")]
    assert group not in service.joining._attending


def test_when_the_last_member_of_a_node_has_left_nobody_attends_there() -> None:
    world = World("ab")
    group = world.create("g")
    member, guest = world.open("b"), world.open("b")
    world.join(world.open("a"), group)
    world.join(member, group)
    attend(world, guest, group)
    world["b"].service.leave(member, group, world.now)
    world.run(100)
    events = world["b"].events
    assert events.index(Departed(group, 0, guest, False)) < events.index(Released(group))
    assert group not in world["b"].service.sender.locals[guest].groups
