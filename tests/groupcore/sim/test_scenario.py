"""Schedules as data, and how failing ones are made smaller."""

from __future__ import annotations

from dataclasses import replace

from groupcore.sim.fault import COORDINATOR, Fault, Send
from groupcore.sim.menu import LOSES_DISK, MENU, SETS_CLOCK
from groupcore.sim.minimise import minimise
from groupcore.sim.network import CALM
from groupcore.sim.scenario import Scenario, draw_large_scenario, draw_scenario


def test_a_seed_always_gives_the_same_schedule() -> None:
    assert draw_scenario(5) == draw_scenario(5)
    assert draw_scenario(5) != draw_scenario(6)


def test_schedules_differ_in_size_and_in_kinds_of_faults() -> None:
    scenarios = [draw_scenario(seed) for seed in range(400)]
    assert {scenario.nodes for scenario in scenarios} == {1, 2, 3, 4, 5}
    kinds = {fault.kind for scenario in scenarios for fault in scenario.faults}
    assert kinds == {dish.kind for dish in MENU}
    assert any(scenario.network.loss == 0 for scenario in scenarios)
    assert any(not scenario.faults for scenario in scenarios)
    assert any(not scenario.multicast for scenario in scenarios)


def test_larger_groups_are_drawn_for_stacks_that_are_made_for_them() -> None:
    assert {draw_large_scenario(seed).nodes for seed in range(200)} == {2, 3, 5, 8, 12}
    names = [str(fault) for seed in range(600) for fault in draw_large_scenario(seed).faults]
    assert any(" l for " in name for name in names)


def test_faults_and_sends_name_nodes_that_exist() -> None:
    for scenario in map(draw_scenario, range(200)):
        for fault in scenario.faults:
            assert fault.at_ns <= scenario.safety_ns
            assert all(COORDINATOR <= node < scenario.nodes for node in fault.nodes)
        for send in scenario.sends:
            assert 0 <= send.node < scenario.nodes
            assert send.to is None or 0 <= send.to < scenario.nodes


def test_a_description_has_the_options_and_one_line_a_fault() -> None:
    scenario = draw_scenario(7)
    assert len(scenario.describe()) == len(scenario.faults) + 2
    assert str(Fault(1_500_000_000, "crash", (COORDINATOR,), 20_000_000)) == (
        "1.500 s crash coordinator for 0.020 s"
    )


def test_minimising_leaves_only_what_the_failure_needs() -> None:
    needed = Fault(2_000_000_000, "crash", (0,), 5)
    scenario = replace(
        draw_scenario(3),
        nodes=3,
        starts_ns=(0, 0, 0),
        faults=(Fault(1, "pause", (2,), 5), needed, Fault(3_000_000_000, "deaf", (1,), 5)),
        sends=tuple(Send(number, 0, (24,)) for number in range(9)),
    )

    def fails(candidate: Scenario) -> bool:
        return needed in candidate.faults and Send(4, 0, (24,)) in candidate.sends

    smallest = minimise(scenario, fails)
    assert smallest.faults == (needed,)
    assert smallest.sends == (Send(4, 0, (24,)),)
    assert (smallest.nodes, smallest.network) == (1, CALM)


def test_minimising_stops_when_its_runs_are_used_up() -> None:
    runs: list[Scenario] = []

    def fails(candidate: Scenario) -> bool:
        runs.append(candidate)
        return False

    scenario = draw_scenario(3)
    assert minimise(scenario, fails, runs_max=4) == scenario
    assert len(runs) == 4


def test_where_a_disk_is_lost_no_clock_is_set() -> None:
    for scenario in map(draw_scenario, range(600)):
        kinds = {fault.kind for fault in scenario.faults}
        assert not (kinds & LOSES_DISK and kinds & SETS_CLOCK)
