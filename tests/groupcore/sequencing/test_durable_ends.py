"""Where streams end when the power was cut for all: by what any voter has stored."""

from __future__ import annotations

from random import Random

from groupcore.events import FetchCut, ViewInstalled
from groupcore.sequencing import headers as h
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.view import Address, View
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.test_durable import begin, saved

E = Address("e", 1)


def stored_by_three() -> tuple[DurableWorld, GroupId, Process]:
    """Of five nodes a and b lack the last message of e's stream; b and e lack a command."""
    world, group, (*_, mine) = begin("abcde")
    world.move(group, "e")
    world.run(60)
    for name in "ab":
        world.lose(h.Accept, h.Repair, to=name)
    world.send(mine, group, b"one")
    world.run(20)
    assert saved(world, mine, group) == 1
    for name in "be":
        world.disks[name].is_stuck = True
    world.create("more")
    world.run(20)
    return world, group, mine


def cut_off(world: DurableWorld) -> None:
    """The power is cut; a, b and e come back and form a view of a and b."""
    world.power_cut()
    world.lose_nothing()
    assert world.restart("abe", out="e")
    assert world.view is not None
    assert world.view.names == ("a", "b")


def log_of(world: DurableWorld, name: str) -> int:
    """How far a life of this node that begins with its log has e's stream."""
    return world.make_host(Address(name, 99)).service.stored_streams().get(E, 0)


def test_what_only_a_node_that_is_left_out_has_stored_is_not_lost() -> None:
    world, group, _ = stored_by_three()
    cut_off(world)
    world.run(60)
    late = world.open("b")
    world.join(late, group)
    assert world["b"].state[group] == [b"one"]


def test_it_is_there_though_who_had_it_never_comes_back_and_the_power_is_cut_again() -> None:
    world, group, _ = stored_by_three()
    cut_off(world)
    world.run(60)
    world.power_cut()
    assert world.restart("ab")
    world.run(60)
    world.join(world.open("a"), group)
    assert world["a"].state[group] == [b"one"]


def test_what_a_source_was_given_before_the_view_is_in_its_log() -> None:
    """It counts as one that holds the cut from then on: its next life has to find it."""
    world, _, _ = stored_by_three()
    assert log_of(world, "a") < log_of(world, "e")
    world.power_cut()
    world.lose_nothing()
    lives = {name: world.host_from_disk(name) for name in "abe"}
    world.agree(lives, ["a", "b", "e"], ["a"])
    assert log_of(world, "a") == log_of(world, "e")


def test_who_was_left_out_joins_and_has_what_the_others_have() -> None:
    world, group, _ = stored_by_three()
    cut_off(world)
    world.run(60)
    world.add("e")
    world.run(60)
    late = world.open("e")
    world.join(late, group)
    assert world["e"].state[group] == [b"one"]
    assert E not in world["e"].service.plane.streams


def test_who_was_stopped_says_no_more_to_be_saved_than_it_acknowledges() -> None:
    """What it stores then is in no view's cut; told as saved it would be lost with the view."""
    world, group, (mine, *_) = begin()
    world.send(mine, group, b"one")
    world.run(40)
    plane = world.host("b").service.plane
    stream = plane.streams[mine.node]
    before = plane.saved_here(stream)
    world.host("b").service.stop_acknowledging(plane.view_number)
    world.send(mine, group, b"two")
    world.run(40)
    assert plane.log is not None
    assert plane.log.saved[mine.node] > before
    assert plane.saved_here(stream) == before


def test_who_has_taken_a_state_says_so_when_it_is_on_disk_and_nothing_else_is_ordered() -> None:
    """Its vote would count only from the next command on."""
    world, _, _ = begin()
    world.run(40)
    world.crash("c")
    world.run(60)
    world.add("c")
    world.run(60)
    assert not world.host("c").rebuilding


# --- what a life that begins with its log has -----------------------------------------------------


def next_life() -> Service:
    """A life with a log, in no view yet."""
    return Service(Address("a", 2), ServiceOptions(durable=True), Random(0))


def test_it_lacks_all_of_a_stream_that_it_has_not_heard_of() -> None:
    service = next_life()
    assert not service.has_streams({E: 1})
    service.on_event(FetchCut({}, {}, {E: 1}, {E: (Address("b", 2),)}), 1.0)
    service.end_turn(1.0)
    (fetch,) = [batch.headers[-1] for batch in service.take().sends]
    assert fetch == h.Fetch(E, 1, 1)


def test_it_lacks_nothing_behind_the_end_of_a_stream_that_has_ended() -> None:
    """Who does not know of the end may have more, which was delivered nowhere."""
    service = next_life()
    stream = service.plane.stream(E)
    stream.start(4)
    assert not service.has_streams({E: 5})
    stream.finish(4)
    assert service.has_streams({E: 5})
    assert E not in service.stored_streams()


def test_if_it_takes_the_state_of_others_its_streams_begin_where_the_view_says() -> None:
    """It has more of one than all who have voted: that was never saved."""
    service = next_life()
    service.plane.stream(E).start(7)
    source = Address("b", 2)
    view = View(2, 2, 3, 1, (source, service.plane.me))
    event = ViewInstalled(view, None, True, (source,), 3, recovered=True, streams={E: 5})
    service.on_event(event, 1.0)
    assert service.plane.streams[E].base == 5
