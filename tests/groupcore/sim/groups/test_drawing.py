"""Schedules for the data plane, as they are drawn from seeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from groupcore.sequencing.names import Order
from groupcore.sim.groups.drawing import (
    GROUPS_MENU,
    LOSES_MEMORY,
    OBSERVED,
    SHAPES,
    draw_groups,
    draw_sequencing,
    with_deletions,
    with_insider,
    with_observers,
)
from groupcore.sim.groups.scenario import (
    CLOSE,
    DRAIN,
    JOIN,
    LEAVE,
    MOVE,
    OBSERVE,
    REFILL,
    SEND,
    Act,
    GroupScenario,
)
from groupcore.sim.minimise import minimise
from groupcore.sim.scenario import Scenario

SEEDS = range(400)


def test_a_seed_always_gives_the_same_schedule() -> None:
    assert draw_groups(5) == draw_groups(5)
    assert draw_groups(5) != draw_groups(6)


def test_schedules_differ_in_shape_order_and_in_what_happens() -> None:
    scenarios = [draw_groups(seed) for seed in SEEDS]
    assert {scenario.nodes for scenario in scenarios} == {3, 4, 5}
    assert {scenario.shape for scenario in scenarios} == set(SHAPES)
    assert {order for scenario in scenarios for order in scenario.orders} == {
        Order.CAUSALLY_TOTAL,
        Order.STRICT,
        Order.FIFO,
        Order.VOLATILE,
    }
    assert {act.kind for scenario in scenarios for act in scenario.acts} == {
        CLOSE,
        DRAIN,
        JOIN,
        LEAVE,
        MOVE,
        REFILL,
        SEND,
    }
    assert max(len(scenario.orders) for scenario in scenarios) == 30


def test_no_fault_is_drawn_that_takes_the_memory_of_all() -> None:
    kinds = {fault.kind for seed in SEEDS for fault in draw_groups(seed).faults}
    assert kinds == {dish.kind for dish in GROUPS_MENU}
    assert not kinds & LOSES_MEMORY


def test_acts_name_nodes_processes_and_groups_that_exist() -> None:
    for scenario in map(draw_groups, SEEDS):
        for act in scenario.acts:
            assert act.node < scenario.nodes
            assert act.target < scenario.nodes
            assert act.slot < scenario.slots
            assert all(group < len(scenario.orders) for group in act.groups)


def test_some_schedules_with_strict_groups_have_observers_and_the_others_stay_as_they_were() -> (
    None
):
    watched = 0
    for drawn in map(with_deletions, map(draw_groups, SEEDS)):
        strict = {group for group, order in enumerate(drawn.orders) if order == Order.STRICT}
        scenario = draw_sequencing(drawn.seed)
        if scenario == with_insider(drawn):
            continue
        watched += 1
        observing = [act for act in scenario.acts if act.kind == OBSERVE]
        assert observing
        assert all(set(act.groups) <= strict for act in observing)
        # All that was drawn is done at its time, by members or observers.
        as_members = Counter(
            replace(act, kind=JOIN) if act.kind == OBSERVE else act for act in scenario.acts
        )
        assert Counter(drawn.acts) <= as_members
    chances = sum(Order.STRICT in draw_groups(seed).orders for seed in SEEDS)
    assert 0.7 * OBSERVED * chances < watched < 1.3 * OBSERVED * chances


def test_observers_come_of_a_stream_of_their_own() -> None:
    drawn = next(one for one in map(draw_groups, SEEDS) if with_observers(one) != one)
    assert with_observers(drawn) == with_observers(drawn)
    assert replace(with_observers(drawn), acts=()) == replace(drawn, acts=())


def test_members_come_and_go_up_to_twenty_times_a_second() -> None:
    changes = [
        sum(act.kind in (JOIN, LEAVE, CLOSE) for act in draw_groups(seed).acts) for seed in SEEDS
    ]
    assert max(changes) > 80


def test_minimising_leaves_the_acts_that_a_failure_needs() -> None:
    needed = Act(1_500_000_000, SEND, 0, groups=(0,), sizes=(24,))
    scenario = replace(draw_groups(3), acts=(*draw_groups(3).acts[:20], needed))

    def fails(smaller: Scenario) -> bool:
        assert isinstance(smaller, GroupScenario)
        return needed in smaller.acts

    smallest = minimise(scenario, fails)
    assert isinstance(smallest, GroupScenario)
    assert smallest.acts == (needed,)
    assert smallest.faults == ()
    assert smallest.nodes == 1


def test_a_description_has_the_acts_when_they_are_few_and_their_numbers_otherwise() -> None:
    act = Act(1_500_000_000, SEND, 1, 2, (3, 4), (24, 30), depth=1)
    few = replace(draw_groups(3), acts=(act,))
    assert few.describe()[-1] == "1.500 s b/2 send g3 g4 2 messages, answered 1 times"
    many = replace(few, acts=(act,) * 50)
    assert many.describe()[-1] == "50 send"
