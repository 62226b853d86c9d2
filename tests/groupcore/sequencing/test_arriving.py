"""A new node takes over many groups in slices, while the cluster goes on."""

from __future__ import annotations

import pytest

from groupcore.errors import WireError
from groupcore.sequencing import arriving, directory_snapshot, record_table
from groupcore.sequencing import headers as h
from groupcore.sequencing.directory_snapshot import reading, unpack
from groupcore.sequencing.node_packing import pack_whole
from groupcore.sequencing.node_state import Taking, take_node_state
from groupcore.view import Address
from tests.groupcore.sequencing.test_node_giving import busy_world, contents
from tests.groupcore.sequencing.test_telling import header_of
from tests.groupcore.sequencing.world import Packet, World


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_table, "SLICE", 2)
    monkeypatch.setattr(directory_snapshot, "SLICE", 2)


def until_it_arrives(world: World, name: str) -> None:
    """Go on until the node has the state, and has begun to open it."""
    for _ in range(200):
        if world[name].service.conductor.arriving.next_wake() is not None:
            return
        world.run(1)
    raise AssertionError("no state has come")


def is_ready(world: World, name: str) -> bool:
    """Whether the node has directory and records."""
    return world[name].service.plane.ready


def test_i1_nothing_of_a_state_counts_before_all_of_it_is_there() -> None:
    a = busy_world()["a"].service
    state = pack_whole(a.plane, a.conductor.place())
    other = World("c")["c"].service
    before = other.plane.directory.fingerprint()
    taking = Taking(other.plane, state)
    steps = 1
    while not taking.step():
        steps += 1
        assert other.plane.directory.fingerprint() == before
        assert other.plane.records == {}
    assert steps > 14
    assert taking.finish() == a.conductor.place()
    assert contents(other) == contents(a)


def test_taken_in_slices_it_is_what_it_is_taken_at_once() -> None:
    a = busy_world()["a"].service
    state = pack_whole(a.plane, a.conductor.place())
    one, other = World("c")["c"].service, World("c")["c"].service
    taking = Taking(one.plane, state)
    while not taking.step():
        pass
    assert taking.finish() == take_node_state(other.plane, state)
    assert contents(one) == contents(other)
    assert one.plane.directory.fingerprint() == other.plane.directory.fingerprint()


def test_a_directory_is_read_in_parts_and_one_that_is_none_is_refused() -> None:
    directory = busy_world()["a"].service.plane.directory
    *parts, state = reading(directory.snapshot())
    assert len(parts) == 1 + 7
    assert parts == [None] * len(parts)
    assert state is not None
    assert directory_snapshot.pack(state) == directory.snapshot()
    with pytest.raises(WireError):
        unpack(directory.snapshot()[:-1])


def test_a_node_takes_a_slice_a_turn_and_what_is_ordered_meanwhile_is_not_lost() -> None:
    world = busy_world()
    world.add("c")
    until_it_arrives(world, "c")
    c = world["c"].service
    assert not is_ready(world, "c")
    assert c.next_wake() == 0.0
    fresh = world.create("fresh")
    world.run(2)
    assert not is_ready(world, "c")
    world.run(200)
    assert is_ready(world, "c")
    assert fresh in c.plane.records
    assert contents(c) == contents(world["a"].service)
    assert c.plane.directory.fingerprint() == world["a"].service.plane.directory.fingerprint()


def test_a_view_that_comes_while_a_state_is_taken_counts_behind_it() -> None:
    world = busy_world()
    world.add("c")
    until_it_arrives(world, "c")
    world.crash("b")
    world.run(300)
    c, a = world["c"].service, world["a"].service
    assert is_ready(world, "c")
    assert contents(c) == contents(a)
    assert c.plane.directory.fingerprint() == a.plane.directory.fingerprint()
    assert {a.plane.owner(group) for group in a.plane.records} <= {a.plane.me, c.plane.me}


def test_i2_a_state_that_does_not_reach_where_the_streams_begin_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = iter([False, True])
    monkeypatch.setattr(arriving, "node_state_covers", lambda *_: next(said))
    world = busy_world()
    world.add("c")
    until_it_arrives(world, "c")
    asked: list[Packet] = []

    def note(packet: Packet) -> bool:
        if isinstance(header_of(packet), h.StateRequest):
            asked.append(packet)
        return False

    world.lost = note
    world.run(300)
    assert asked
    assert next(said, None) is None
    assert is_ready(world, "c")
    assert contents(world["c"].service) == contents(world["a"].service)


def test_what_the_state_contains_is_not_applied_again_when_it_is_heard_of_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow node may take a state that is ahead of what it has been told of the order."""
    world = World("ab")
    world.create("first")
    world.add("c")
    late: list[tuple[Address, bytes, float, int]] = []
    service, on_order = world["c"].service, world["c"].service.on_order
    monkeypatch.setattr(service, "on_order", lambda *told: late.append(told))
    for name in ("second", "third"):
        world.create(name)
    world.run(100)
    assert service.plane.ready
    assert service.plane.directory.newest_group == 3
    assert late
    for told in late:
        on_order(*told)
    monkeypatch.undo()
    world.create("fourth")
    world.run(20)
    a = world["a"].service
    assert service.conductor.place() == a.conductor.place()
    assert service.plane.directory.fingerprint() == a.plane.directory.fingerprint()
