"""Loads are reported, and the coordinator evens them out."""

from __future__ import annotations

from groupcore.sequencing.names import Order
from tests.groupcore.sequencing.world import World


def test_a_node_that_carries_too_much_gives_groups_away() -> None:
    world = World("abc")
    groups = [world.create(f"g{n}") for n in range(12)]
    for group in groups:
        world.move(group, "a")
    world.run(50)
    assert {world.own(group) for group in groups} == {"a"}
    senders = [world.open("b") for _ in groups]  # one process would tie them
    receivers = [world.open(name) for name in "abc"]
    for group in groups:
        for process in receivers:
            world.join(process, group)
    for _ in range(400):
        for group, sender in zip(groups, senders, strict=True):
            world.hosts[sender.node].service.send(sender, group, [b"x" * 100] * 20, world.now)
        world.now += 0.02
        world.run(3)
    assert len({world.own(group) for group in groups}) > 1
    world.run(300)
    logs = {name: [len(world[name].state[group]) for group in groups] for name in "abc"}
    assert logs["a"] == logs["b"] == logs["c"] == [8_000] * 12


def test_what_a_process_writes_to_in_turn_comes_to_one_sequencer() -> None:
    world = World("abc")
    groups = [world.create(f"g{n}", at="abc"[n % 3]) for n in range(9)]
    assert len({world.own(group) for group in groups}) == 3
    process = world.open("b")
    for group in groups:
        world.join(process, group)
    for _ in range(300):
        for group in groups:
            world.hosts[process.node].service.send(process, group, [b"x"], world.now)
        world.now += 0.02
        world.run(3)
    assert len({world.own(group) for group in groups}) == 1
    world.run(300)
    assert [len(world["b"].state[group]) for group in groups] == [300] * 9


def test_what_is_written_to_at_a_person_s_pace_stays_where_it_is() -> None:
    world = World("abc")
    groups = [world.create(f"g{n}", at="abc"[n % 3]) for n in range(3)]
    owners = [world.own(group) for group in groups]
    process = world.open("b")
    for group in groups:
        world.join(process, group)
    for _ in range(100):
        for group in groups:
            world.send(process, group, b"x")
            world.now += 0.05
            world.run(5)
    assert [world.own(group) for group in groups] == owners
    assert not world["b"].service.sender.tie_meter.turns


def test_a_quiet_cluster_stays_as_it_is() -> None:
    world = World("abc")
    groups = [world.create(f"g{n}", Order.STRICT) for n in range(6)]
    owners = [world.own(group) for group in groups]
    for _ in range(300):
        world.now += 0.05
        world.run(1)
    assert [world.own(group) for group in groups] == owners
    assert world["a"].service.counters().get("sequencing.moves_planned", 0) == 0
