"""Plans on their way at a node: wired through its turns, told step by step, called off."""

from __future__ import annotations

import json

import pytest

from groupcore.errors import PlanError
from groupcore.sequencing.events import PlanProgressed, Refused
from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.plan_steps import StepState
from tests.groupcore.sequencing.world import Host, World


def plan(**groups: str) -> str:
    return json.dumps({"plan": 1, "groups": groups})


def progress(host: Host) -> list[PlanProgressed]:
    return [event for event in host.events if isinstance(event, PlanProgressed)]


def some_groups(world: World, count: int) -> list[GroupId]:
    return [world.create(f"g{number}") for number in range(count)]


def test_a_plan_is_carried_out_some_moves_at_a_time_and_told_to_its_end() -> None:
    world = World("abc")
    some_groups(world, 10)
    targets = {f"g{number}": "bc"[number % 2] for number in range(10)}
    run = world["a"].service.run_plan(plan(**targets), 1, world.now)
    world.run(60)
    told = progress(world["a"])
    assert {event.run for event in told} == {run}
    assert [event.progress.finished for event in told] == [False] * (len(told) - 1) + [True]  # I2
    done = [event.progress.done for event in told]
    assert done == sorted(done)
    assert (done[-1], told[-1].progress.total) == (10, 10)
    assert len(set(done)) > 2  # not all at once
    assert len(told[0].steps) == 10  # all of them at first, then what is new
    states = {step.group: step.state for event in told for step in event.steps}
    assert set(states.values()) == {StepState.DONE}
    names = world["a"].service.plane.directory.names
    assert {name: world.own(group) for name, group in names.items()} == targets
    world.run(20)
    assert progress(world["a"]) == told


@pytest.mark.parametrize("text", [plan(g0="x"), plan(g9="b"), "{}", plan()])
def test_a_plan_that_is_wrong_changes_nothing(text: str) -> None:  # I1
    world = World("abc")
    some_groups(world, 1)
    before = world["a"].service.plane.directory.fingerprint()
    with pytest.raises(PlanError):
        world["a"].service.run_plan(text, 4, world.now)
    world.run(10)
    assert world["b"].service.plane.directory.fingerprint() == before
    assert progress(world["a"]) == []


def test_a_plan_that_would_split_a_strict_component_is_refused_whole() -> None:
    world = World("abc")
    groups = [world.create(f"s{number}", Order.STRICT) for number in range(2)]
    for process in (world.open("a"), world.open("b")):
        for group in groups:
            world.join(process, group)
    with pytest.raises(PlanError, match="S2"):
        world["a"].service.run_plan(plan(s0="c"), 4, world.now)
    world["a"].service.run_plan(plan(s0="c", s1="c"), 4, world.now)
    world.run(40)
    assert [world.own(group) for group in groups] == ["c", "c"]


def test_a_plan_that_is_called_off_asks_for_nothing_more() -> None:
    world = World("abc")
    groups = some_groups(world, 8)
    service, process = world["a"].service, world.open("a")
    for group in groups:
        world.move(group, "a")
        world.run(5)
    world.lost = lambda _: True  # what a has numbered is not held, so nothing can leave it
    for group in groups:
        world.send(process, group, b"x")
    run = service.run_plan(plan(**{f"g{n}": "bc"[n % 2] for n in range(8)}), 1, world.now)
    world.turn()
    assert len(service.plane.directory.moves) == 1
    service.cancel_plan(run, world.now)
    world.lost = lambda _: False
    world.run(100)
    last = progress(world["a"])[-1].progress
    assert last.finished
    assert last.cancelled
    assert last.done == 0
    assert not service.plane.directory.moves
    service.cancel_plan(run, world.now)  # it is over: nothing
    world.run(10)
    assert progress(world["a"])[-1].progress == last


def test_what_the_directory_refuses_a_run_is_the_runs_alone() -> None:
    world = World("abc")
    some_groups(world, 1)
    service = world["a"].service
    service.run_plan(plan(g0="b"), 4, world.now)
    service.drain("b", True, world.now)  # ordered before the move that the plan asks for
    world.run(100)
    last = progress(world["a"])[-1].progress
    assert last.finished
    assert [why.partition(":")[0] for why in last.failed.values()] == ["draining"]
    assert not any(isinstance(event, Refused) for event in world["a"].events)


def test_a_plan_waits_for_a_node_that_is_away() -> None:
    world = World("abc")
    process = world.open("a")
    for group in some_groups(world, 2):
        world.move(group, "a")
        world.run(5)
    world.lost = lambda _: True  # what a has numbered is not held, so nothing can leave it
    for group in (1, 2):
        world.send(process, group, b"x")
    world["a"].service.run_plan(plan(g0="c", g1="c"), 4, world.now)
    world.turn()
    world.lost = lambda _: False
    world.crash("c")
    world.run(30)
    last = progress(world["a"])[-1].progress
    assert (last.away, last.finished) == (("c",), False)
    world.add("c")
    world.run(100)
    assert progress(world["a"])[-1].progress.done == 2
