"""Planted bugs: each is found, by the invariant that is meant for it, and by no unrelated one."""

from __future__ import annotations

import pytest

from groupcore.sim.jobs import Job
from groupcore.sim.plants import PLANTS

SCHEDULES_MAX = 200
"""Within so many schedules a plant is found; most within the first five."""
SEED = 1
CONSEQUENCES = frozenset({7, 13, 14, 15, 16, 17, 18, 25})
"""What breaks with the order or the views, whatever it was that broke them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_found_by_the_invariant_that_is_meant_for_it(name: str) -> None:
    plant = PLANTS[name]
    for index in range(SCHEDULES_MAX):
        found = {v.number for v in Job(plant.profile, SEED, index, name).verdict().violations}
        assert found <= set(plant.caught_by) | CONSEQUENCES, f"schedule {index}"
        if plant.caught_by[0] in found:
            return
    pytest.fail(f"{name} went unnoticed in {SCHEDULES_MAX} schedules")


def test_a_plant_is_gone_when_its_context_ends() -> None:
    clean = Job("stack", SEED, 0, "").verdict().trace.hash()
    assert Job("stack", SEED, 0, "duplicate").verdict().trace.hash() != clean
    assert Job("stack", SEED, 0, "").verdict().trace.hash() == clean


def test_the_five_bugs_of_the_issue_are_among_the_plants() -> None:
    asked = {"gap", "duplicate", "two-coordinators", "tail-lost", "received-table-forgotten"}
    assert asked <= set(PLANTS)


@pytest.mark.parametrize(
    "name", ["own-maximum", "own-disk-suffices", "too-few-disks", "nonces-again", "wiped-votes"]
)
def test_a_bug_that_shows_soon_is_found_in_every_run_of_the_tests(name: str) -> None:
    plant = PLANTS[name]
    for index in range(20):
        if plant.caught_by[0] in {
            v.number for v in Job(plant.profile, SEED, index, name).verdict().violations
        }:
            return
    pytest.fail(f"{name} went unnoticed in 20 schedules")


@pytest.mark.parametrize("name", [plant.name for plant in PLANTS.values() if plant.schedule])
def test_a_schedule_that_is_made_for_a_bug_is_clean_without_it(name: str) -> None:
    scenario = Job("stack", SEED, 0, name).scenario
    assert Job("stack", SEED, 0, "").verdict(scenario).violations == []
