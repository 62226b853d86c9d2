"""Frames that rest on others: what is recorded, and so said to be saved, rests on what is known."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from groupcore.context import encode_context
from groupcore.sequencing.events import Saved
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.service import Service
from groupcore.view import Address
from tests.groupcore.sequencing.durable_world import DurableWorld


def known_to_one() -> tuple[DurableWorld, GroupId]:
    """A message of b to a group that a sequences, behind one to a group of which only b knows."""
    world = DurableWorld("abc")
    group = world.create("g")
    process = world.open("b")
    world.join(process, group)
    world.fall_behind("a", "c")
    unknown = world.create("h", at="b")
    assert world["b"].service.plane.owner(unknown) == world["b"].address
    world.send(process, unknown, b"one")
    world.send(process, group, b"two")
    world.run(40)
    return world, group


def test_a_frame_is_recorded_behind_what_it_rests_on() -> None:
    world, group = known_to_one()
    a = world["a"].service.plane
    assert a.own.received > a.own.recorded, "a has numbered it, and cannot place what is before it"
    assert world["b"].state[group] == [b"two"], "b can"
    world.catch_up()
    world.run(40)
    assert a.own.received == a.own.recorded


def test_what_is_saved_rests_on_nothing_that_its_log_does_not_know() -> None:
    # else a node that has said to have saved it would drop it when it starts with its log
    world, group = known_to_one()
    told = [one for one in world["b"].events if isinstance(one, Saved) and one.group == group]
    world.power_cut()
    world.disks.pop("b")
    world.restart("ac")
    world.run(60)
    late = world.open("c")
    world.join(late, group)
    there = world["c"].state[group]
    assert not told or there == [b"two"], "it was saved by a and c"


def test_what_rests_on_a_stream_of_a_later_view_is_not_received_before_that() -> None:
    # else a quorum could have it and nobody what it rests on
    world = DurableWorld("abc")
    group = world.create("g")
    world.send(world.open("a"), group, b"one")
    ((_, batch),) = world["a"].service.plane.own.kept(1, 1)
    world.run(20)
    plane = world["c"].service.plane
    stream = plane.stream(world["a"].address)
    header = batch.headers[-1]
    assert isinstance(header, Accept)
    later = Address("d", 2)
    resting = replace(header, frame=2, rests=encode_context({later: 1}))
    world["c"].service.receive(batch.without_header().with_header(resting), world.now)
    assert (stream.taken, stream.received) == (2, 1)
    world.add("d")
    assert world["d"].address == later
    world.run(20)
    assert stream.received == 1
    other = world.create("h", at="d")
    world.send(world.open("d"), other, b"two")
    world.run(20)
    assert stream.received == 2


def test_a_frame_that_cannot_be_read_keeps_no_node_from_starting() -> None:
    world = DurableWorld("abc")
    group = world.create("g")
    world.send(world.open("a"), group, b"one")
    own = world["a"].service.plane.own
    ((_, batch),) = own.kept(1, 1)
    header = batch.headers[-1]
    assert isinstance(header, Accept)
    broken = replace(header, frame=2, groups=header.groups + b"?")
    own.append(batch.without_header().with_header(broken))
    world.run(20)
    assert world["a"].service.plane.counters["bad_frame.bad_column"] == 1
    stored = list(world.disks["a"].stored)
    restored = Service(Address("a", 9), world.options, Random(0), stored)
    assert restored.plane.stream(own.address).received == 2
