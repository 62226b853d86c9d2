"""Whole runs of the service on simulated nodes, against the rules as the paper has them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.jobs import Job, without_collector
from groupcore.sim.run import Verdict
from groupcore.sim.trace_groups import GroupDelivered
from tests.groupcore.sequencing.comparison import compare

SCHEDULES = [(seed, index) for seed in (5, 11) for index in range(20)]
ACTS_MAX = 120
"""The obvious rules keep whole contexts, so only so much of a schedule's workload is played."""


def play(seed: int, index: int) -> Verdict:
    job = Job("sequencing", seed, index, "")
    scenario = job.scenario
    assert isinstance(scenario, GroupScenario)
    with without_collector():
        return job.verdict(replace(scenario, acts=scenario.acts[:ACTS_MAX]))


@pytest.mark.parametrize(("seed", "index"), SCHEDULES)
def test_a_run_of_the_service_gives_nobody_what_the_obvious_rules_forbid(
    seed: int, index: int
) -> None:
    verdict = play(seed, index)
    assert verdict.violations == []
    assert compare(verdict.trace) == []


def test_the_runs_that_are_compared_deliver_something() -> None:
    assert sum(len(play(*schedule).trace.of(GroupDelivered)) for schedule in SCHEDULES[:4]) > 100
