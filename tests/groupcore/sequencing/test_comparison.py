"""Whole runs of the service on simulated nodes, against the rules as the paper has them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import pytest

from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.jobs import Job, without_collector
from groupcore.sim.run import Verdict
from groupcore.sim.trace_groups import GroupDelivered
from tests.groupcore.sequencing.comparison import compare

pytestmark = pytest.mark.slow

SCHEDULES = [(seed, index) for seed in (5, 11) for index in range(20)]
DRAWN = 20
"""So many more schedules are others for each commit."""
VARIABLE = "COMPARISON_SEED"
"""The environment variable that says which these are, to have a failure again."""
ACTS_MAX = 120
"""The obvious rules keep whole contexts, so only so much of a schedule's workload is played."""
LOOKED_INTO = 4
"""Of so many runs it is seen that they deliver something, before they are compared."""


@lru_cache(maxsize=LOOKED_INTO)
def play(seed: int, index: int) -> Verdict:
    job = Job("sequencing", seed, index, "")
    scenario = job.scenario
    assert isinstance(scenario, GroupScenario)
    with without_collector():
        return job.verdict(replace(scenario, acts=scenario.acts[:ACTS_MAX]))


@cache
def drawn_seed() -> int:
    """That of the environment, else one of the sources as they are committed."""
    said = os.environ.get(VARIABLE)
    script = Path(__file__).resolve().parents[3] / "scripts" / "print_seed"
    return int(said or subprocess.run([script], capture_output=True, check=True).stdout)


def check(seed: int, index: int) -> None:
    verdict = play(seed, index)
    again = f"schedule {index} of seed {seed}: {VARIABLE}={seed} plays it again"
    assert verdict.violations == [], again
    assert compare(verdict.trace) == [], again


def test_the_runs_that_are_compared_deliver_something() -> None:
    runs = [play(*schedule) for schedule in SCHEDULES[:LOOKED_INTO]]
    assert sum(len(run.trace.of(GroupDelivered)) for run in runs) > 100


@pytest.mark.parametrize(("seed", "index"), SCHEDULES)
def test_a_run_of_the_service_gives_nobody_what_the_obvious_rules_forbid(
    seed: int, index: int
) -> None:
    check(seed, index)


@pytest.mark.parametrize("index", range(DRAWN))
def test_nor_does_a_run_that_nobody_has_chosen(index: int) -> None:
    check(drawn_seed(), index)
