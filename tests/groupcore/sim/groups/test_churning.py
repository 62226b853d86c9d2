"""Schedules that churn strict groups, as they are drawn from seeds."""

from __future__ import annotations

from groupcore.sim.groups.churning import SCENE_NS, draw_strict_churn
from groupcore.sim.groups.lateness import LATE_ORDER
from groupcore.sim.groups.scenario import JOIN, LEAVE, MOVE, GroupScenario

SEEDS = range(200)


def is_staged(scenario: GroupScenario) -> bool:
    """Somebody leaves, and enters a group at a late node again, with another one in between."""
    moved = {
        (act.target, group) for act in scenario.acts if act.kind == MOVE for group in act.groups
    }
    for fault in scenario.faults:
        if fault.kind != LATE_ORDER:
            continue
        until_ns = fault.at_ns + SCENE_NS // 2
        acts = [act for act in scenario.acts if fault.at_ns < act.at_ns < until_ns]
        for left in (act for act in acts if act.kind == LEAVE):
            behind = [
                act.groups
                for act in acts
                if act.kind == JOIN
                and act.at_ns > left.at_ns
                and (act.node, act.slot) == (left.node, left.slot)
            ]
            is_late_nodes = (fault.nodes[0], left.groups[0]) in moved
            if is_late_nodes and left.groups in behind[1:] and left.node != fault.nodes[0]:
                return True
    return False


def test_a_seed_always_gives_the_same_schedule() -> None:
    assert draw_strict_churn(5) == draw_strict_churn(5)
    assert draw_strict_churn(5) != draw_strict_churn(6)


def test_a_third_of_the_schedules_asks_a_late_sequencer_to_let_somebody_in_again() -> None:
    staged = sum(is_staged(draw_strict_churn(seed)) for seed in SEEDS)
    assert staged > len(SEEDS) / 3
