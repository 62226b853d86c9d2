"""A new node takes over many groups that change while its state is packed, slice by slice."""

from __future__ import annotations

import pytest

from groupcore.sequencing import record_table
from groupcore.sequencing.names import Place
from groupcore.sequencing.node_packing import ATTEMPTS_MAX, Packing
from groupcore.sequencing.node_state import take_node_state
from groupcore.sequencing.record import Record
from groupcore.sequencing.record_table import pack_records, unpack_records
from groupcore.sequencing.service import Service
from tests.groupcore.sequencing.world import World


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_table, "SLICE", 2)


def content(service: Service, record: Record) -> tuple[object, ...]:
    process = service.plane.senders.process
    senders = {process(key): number for key, number in record.senders.items()}
    requests = {process(key): number for key, number in (record.requests or {}).items()}
    place = record.place[:2]
    return record.order, record.seqno, record.members, senders, requests, place


def contents(service: Service) -> dict[int, tuple[object, ...]]:
    return {group: content(service, record) for group, record in service.plane.records.items()}


def busy_world() -> World:
    """Groups with members and messages, and idle ones."""
    world = World("ab")
    groups = [world.create(f"g{number}", at="ab"[number % 2]) for number in range(15)]
    processes = [world.open(name) for name in "ab"]
    for group in groups[::3]:
        for process in processes:
            world.join(process, group)
            world.send(process, group, b"x", b"y")
    world.run(30)
    return world


def test_records_are_the_same_after_they_were_packed() -> None:
    world = busy_world()
    service = world["a"].service
    records = list(service.plane.records.values())
    other = World("c")["c"].service
    taken = unpack_records(other.plane, pack_records(service.plane, records))
    assert {one.group: content(other, one) for one in taken} == contents(service)


def test_i1_what_changes_while_the_state_is_packed_is_in_it_as_it_is_in_the_end() -> None:
    world = busy_world()
    a = world["a"].service
    process = world.open("b")
    packing = Packing(a.plane)
    state, turns = None, 0
    while state is None:
        state = packing.step(a.conductor.place())
        turns += 1
        if turns <= 6:
            world.send(process, 1 + turns, b"z")
            world.create(f"new {turns}")
            world["b"].service.delete(15 - turns, world.now)
            world.run(3)
    assert turns > 8
    other = World("c")["c"].service
    assert take_node_state(other.plane, state) == a.conductor.place()
    assert contents(other) == contents(a)
    assert other.plane.directory.fingerprint() == a.plane.directory.fingerprint()


def test_the_directory_is_packed_with_the_rest_when_commands_never_cease() -> None:
    packing = Packing(World("a")["a"].service.plane)
    places = (Place(1, number) for number in range(100))
    turns = next(turn for turn in range(1, 100) if packing.step(next(places)) is not None)
    assert turns == ATTEMPTS_MAX


def test_a_new_node_goes_on_with_groups_that_did_not_stand_still() -> None:
    world = busy_world()
    processes = [world.open(name) for name in "ab"]
    world.add("c")
    assert world["a"].service.next_wake() is not None
    for number in range(40):
        for process in processes:
            world.send(process, 1 + number % 5, str(number).encode())
        world.run(1)
    world.run(200)
    assert world["c"].service.plane.ready
    assert contents(world["c"].service) == contents(world["a"].service)
    late = world.open("c")
    world.join(late, 1)
    world.send(late, 1, b"mine")
    world.run(50)
    assert world["a"].state[1][-1] == world["c"].state[1][-1] == b"mine"


def test_nothing_is_awaited_once_the_state_is_given() -> None:
    world = busy_world()
    world.add("c")
    world.run(200)
    for name in "abc":
        assert world[name].service.conductor.giving.next_wake() is None
