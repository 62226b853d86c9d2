"""The streams' part of a view change: nothing that anybody has delivered is lost with a view."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.events import CutHeld, FetchCut, Synced, ViewInstalled
from groupcore.sequencing import headers as h
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.events import Created
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.view import Address, View
from tests.groupcore.sequencing.world import World

A, B, C = (Address(name, 1) for name in "abc")


def world_of(names: str, sequencer: str) -> tuple[World, GroupId, dict[str, Process]]:
    """A world in which a process of every node is in one group."""
    world = World(names)
    group = world.create("g")
    world.move(group, sequencer)
    processes = {name: world.open(name) for name in names}
    for process in processes.values():
        world.join(process, group)
    world.run(50)
    assert world.own(group) == sequencer
    return world, group, processes


def reach(world: World, name: str, stream: Address) -> int:
    """How far a node has a stream."""
    return world[name].service.plane.streams[stream].received


def given(world: World, process: Process, group: GroupId) -> list[bytes]:
    """What a process was given."""
    return world.hosts[process.node].given[process, group]


def new_sequencer(world: World, group: GroupId) -> str:
    """Who sequences the group once its sequencer c is gone."""
    directory = Directory()
    directory.restore(world["a"].service.plane.directory.snapshot())
    directory.on_view(View(2, 1, 0, 1, (A, B)), [C])
    directory.end_streams({}, A)
    owner = directory.owner_of(group)
    assert owner is not None
    return owner.name


# --- the hole -------------------------------------------------------------------------------------


def test_what_two_of_three_hold_is_not_lost_when_one_leaves_and_the_other_crashes() -> None:
    world, group, processes = world_of("abc", sequencer="c")
    world.lose(h.Accept, h.Repair, to="a")
    world.send(processes["b"], group, b"x")
    world.run(20)
    assert given(world, processes["c"], group) == [b"x"]  # it counts: somebody has delivered it
    assert given(world, processes["a"], group) == []
    world.lose_nothing()
    world.lose(h.Accept, to="a")
    world.leave("b")
    world.crash("c")
    world.run(20)
    assert given(world, processes["a"], group) == [b"x"]


def test_what_a_quorum_holds_is_not_lost_with_two_views_one_right_after_the_other() -> None:
    world, group, processes = world_of("abcde", sequencer="e")
    lacking = ("a", "b")
    world.lost = lambda packet: packet[1].name in lacking and packet[0].name not in lacking
    world.send(processes["d"], group, b"x")
    world.run(20)
    assert given(world, processes["c"], group) == [b"x"]
    world.lose_nothing()
    world.crash("d")
    world.crash("c", "e")
    world.run(20)
    assert given(world, processes["a"], group) == given(world, processes["b"], group) == [b"x"]


def test_what_a_quorum_holds_is_not_lost_when_those_who_have_joined_are_the_majority() -> None:
    world, group, processes = world_of("abc", sequencer="c")
    world.lose(h.Accept, h.Repair, to="a")
    world.send(processes["b"], group, b"x")
    world.run(20)
    assert given(world, processes["c"], group) == [b"x"]
    world.lose_nothing()
    world.crash("b")
    world.add("d", "e")
    begins = world.position
    world.run(50)
    assert Synced(1, begins) in world["d"].control
    world.crash("c")
    world.crash("a")
    world.run(50)
    for name in "de":
        record = world[name].service.plane.records[group]
        key = world[name].service.plane.senders.key(processes["b"])
        assert record.senders[key] == 1


# --- stopping -------------------------------------------------------------------------------------


def test_i1_who_has_been_stopped_acknowledges_no_more_and_takes_frames_all_the_same() -> None:
    world, group, processes = world_of("abc", sequencer="c")
    before = reach(world, "b", C)
    for name in "ab":
        answer = world[name].service.stop_acknowledging(1)
        assert answer[C] == before
    world.send(processes["c"], group, b"x")
    world.run(50)
    assert reach(world, "b", C) == before + 1
    assert [given(world, process, group) for process in processes.values()] == [[], [], []]
    assert world["b"].service.stop_acknowledging(1) == answer
    world.install([A, B, C])
    world.run(10)
    assert [given(world, process, group) for process in processes.values()] == [[b"x"]] * 3


def test_who_has_been_stopped_numbers_nothing_until_the_next_view() -> None:
    world, group, processes = world_of("abc", sequencer="c")
    before = reach(world, "c", C)
    world["c"].service.stop_acknowledging(1)
    world.send(processes["a"], group, b"x")
    world.run(20)
    assert reach(world, "c", C) == before
    world.install([A, B, C])
    assert reach(world, "c", C) == before + 1
    world.run(20)
    assert given(world, processes["a"], group) == [b"x"]


def test_a_new_sequencer_keeps_what_comes_before_it_has_begun_the_view() -> None:
    """Who is in the view already sends to it; passed on, that would go to the one that is gone."""
    world, group, processes = world_of("abc", sequencer="c")
    successor = new_sequencer(world, group)
    other = "b" if successor == "a" else "a"
    world.send(processes[other], group, b"x")
    world.packets.clear()
    late = world[successor].service
    late.stop_acknowledging(1)
    world[other].service.stop_acknowledging(1)
    view, former = View(2, 1, 0, 1, (A, B)), world.view
    event = ViewInstalled(view, former, False, (A, B), streams={C: reach(world, "a", C)})
    world[other].service.on_event(event, world.now)
    world[other].service.end_turn(world.now)
    sends = world[other].service.take().sends
    (request,) = [one for one in sends if isinstance(one.headers[-1], h.Send)]
    assert request.destination == world[successor].address
    late.receive(request, world.now)
    late.end_turn(world.now)
    kinds = (h.Forward, h.Redirect, h.Accept)
    assert not [one for one in late.take().sends if isinstance(one.headers[-1], kinds)]
    late.on_event(event, world.now)
    late.end_turn(world.now)
    assert [one for one in late.take().sends if isinstance(one.headers[-1], h.Accept)]


def test_what_others_hold_is_delivered_by_who_has_been_stopped() -> None:
    world, group, processes = world_of("abc", sequencer="c")
    world["a"].service.stop_acknowledging(1)
    world.send(processes["c"], group, b"x")
    world.run(50)
    assert given(world, processes["a"], group) == [b"x"]


def test_a_view_that_is_stopped_before_the_service_has_heard_of_it_stays_stopped() -> None:
    """View and flush may come in one turn: the stack is asked first."""
    world, group, processes = world_of("abc", sequencer="c")
    service = world["a"].service
    assert service.stop_acknowledging(1)[C] == service.stop_acknowledging(2)[C]
    world.install([A, B, C])
    assert service.plane.frozen is not None
    world.send(processes["c"], group, b"x")
    world.run(20)
    assert service.stop_acknowledging(2)[C] < reach(world, "a", C)
    world.install([A, B, C])
    assert service.plane.frozen is None


def test_what_is_acknowledged_in_a_later_view_counts_when_that_is_here() -> None:
    """Else it could count in a view whose cut it is not in."""
    world, _, _ = world_of("abc", sequencer="c")
    plane = world["a"].service.plane
    before = plane.reaches.held(C)
    for node in (B, C):
        said = h.Digest(2, 0, (h.Reach(C, before + 7, 0),))
        world["a"].service.receive(Batch(node, None, (said,)), world.now)
    assert plane.reaches.held(C) == before
    world.install([A, B, C])
    assert plane.reaches.held(C) == before + 7


# --- getting the cut ------------------------------------------------------------------------------


def test_frames_of_the_cut_are_asked_of_those_first_who_have_voted_with_them() -> None:
    """The sequencer may be gone, though it is still in the view."""
    world, _, _ = world_of("abc", sequencer="c")
    service = world["a"].service
    number = reach(world, "a", C) + 2
    event = FetchCut({}, {}, {C: number}, {C: (B,)})
    service.on_event(event, world.now)
    service.end_turn(world.now)
    service.on_event(event, world.now)
    service.end_turn(world.now)
    sends = service.take().sends
    asked = [(b.destination, b.headers[-1]) for b in sends if isinstance(b.headers[-1], h.Fetch)]
    assert asked == [(B, h.Fetch(C, number - 1, number))]


def test_the_stack_is_told_once_that_the_frames_of_the_cut_are_here() -> None:
    world, group, processes = world_of("abc", sequencer="c")
    world.lose(h.Accept, h.Repair, to="a")
    world.send(processes["c"], group, b"x")
    world.run(5)
    number = reach(world, "c", C)
    world["a"].service.on_event(FetchCut({}, {}, {C: number}, {C: (B,)}), world.now)
    world.run(20)
    assert world["a"].control == []
    assert not world["a"].service.has_streams({C: number})
    world.lose_nothing()
    world.run(50)
    assert world["a"].control == [CutHeld()]
    assert world["a"].service.has_streams({C: number})


def test_a_stream_that_is_over_lacks_nothing() -> None:
    world, _, _ = world_of("abc", sequencer="c")
    end = reach(world, "a", C)
    world.crash("c")
    world.run(100)
    assert C not in world["a"].service.plane.streams
    assert world["a"].service.has_streams({C: end})
    assert not world["a"].service.has_streams({Address("z", 1): 1})


def test_a_view_ends_the_streams_of_those_who_are_not_in_it_at_all_nodes_alike() -> None:
    """Nobody is asked: whoever is in the view has them up to the cut, and nothing behind counts."""
    world, group, processes = world_of("abc", sequencer="c")
    world.send(processes["a"], group, b"x")
    world.run(20)
    for name in "ab":
        world[name].service.stop_acknowledging(1)
    end = reach(world, "a", C)
    world.send(processes["c"], group, b"too late")
    for packet in [one for one in world.packets if one[0] == C and one[1] == A]:
        world.deliver(packet)
    assert reach(world, "a", C) == end + 1
    world.packets.clear()
    world.crash("c")
    for name in "ab":
        assert world[name].service.plane.directory.ending_streams() == []
        assert world.own(group) in "ab"
    world.run(50)
    assert given(world, processes["a"], group) == given(world, processes["b"], group) == [b"x"]


def test_a_stream_that_was_ending_in_a_view_without_a_cut_ends_with_the_next_that_has_one() -> None:
    world, group, processes = world_of("abcd", sequencer="d")
    world.lose(h.Accept, h.Repair, to="a")
    world.send(processes["b"], group, b"x")
    world.run(20)
    d = world["d"].address
    world.lost = lambda packet: True
    former, view = world.view, View(2, 2, 0, 1, (A, B, C))
    del world.hosts[d]
    for host in world.hosts.values():
        event = ViewInstalled(view, former, False, (A, B, C), recovered=True)
        host.service.on_event(event, world.now)
    world.view = view
    world.turn()
    assert world["a"].service.plane.directory.ending_streams() == [d]
    assert world["a"].service.plane.streams[d].fenced
    world.lose_nothing()
    world.packets.clear()
    world.crash("c")
    assert world["a"].service.plane.directory.ending_streams() == []
    world.run(50)
    assert given(world, processes["a"], group) == [b"x"]


# --- joining --------------------------------------------------------------------------------------


def test_a_new_node_says_that_it_is_synced_when_it_has_the_node_s_state_and_in_every_view() -> None:
    world, _, _ = world_of("abc", sequencer="c")
    world.lose(h.StatePiece, to="d")
    world.add("d")
    begins = world.position
    world.run(50)
    assert world["d"].control == []
    world.lose_nothing()
    world.run(100)
    assert world["d"].control == [Synced(1, begins)]
    world.crash("b")
    said = [one for one in world["d"].control if isinstance(one, Synced)]
    assert said == [Synced(1, begins), Synced(1, world.position)]
    assert all(not isinstance(one, Synced) for one in world["a"].control)


def test_i2_a_new_node_begins_each_stream_behind_the_cut_of_the_view_that_lets_it_in() -> None:
    world, group, processes = world_of("abc", sequencer="c")
    world.send(processes["a"], group, b"x")
    world.run(20)
    cut = reach(world, "a", C)
    world.lose(h.StatePiece, to="d")
    world.add("d")
    stream = world["d"].service.plane.streams[C]
    assert (stream.base, stream.received) == (cut, cut)
    world.send(processes["a"], group, b"y")
    world.run(20)
    assert stream.received == cut + 1
    assert world["a"].service.plane.reaches.holders(C, cut + 1, A) == [B, C, world["d"].address]


def test_i2_a_new_node_gets_as_frames_what_is_behind_the_cut_though_its_state_contains_it() -> None:
    """It may be the only one that is left with them."""
    world, group, processes = world_of("abc", sequencer="c")
    world.lose(h.StateRequest, of="d")
    world.lose(h.Accept, h.Repair, to="d")
    world.add("d")
    cut = world["d"].service.plane.streams[C].base
    world.send(processes["a"], group, b"x")
    world.run(20)
    world.lose_nothing()
    world.lose(h.Accept, h.Repair, to="d")
    world.run(200)
    stream = world["d"].service.plane.streams[C]
    assert (stream.received, stream.recorded) == (cut, cut + 1)
    assert world["a"].service.plane.reaches.holders(C, cut + 1, A) == [B, C]
    assert [number for number, _ in world["a"].service.plane.streams[C].kept(0, 99)] == [cut + 1]
    world.lose_nothing()
    world.run(100)
    assert stream.received == cut + 1
    assert stream.stable == cut + 1


@pytest.mark.parametrize("rounds", range(6))
def test_what_a_new_node_asks_for_before_it_has_the_state_is_answered(rounds: int) -> None:
    """It is not said before that: the state would contain it, and the node would not notice."""
    world, _, _ = world_of("abc", sequencer="c")
    world.add("d")
    world.run(rounds)
    request = world["d"].service.create("early", Order.CAUSALLY_TOTAL, world.now)
    world.turn()
    world.run(100)
    created = [event for event in world["d"].events if isinstance(event, Created)]
    assert [event.request for event in created] == [request]
