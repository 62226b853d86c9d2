"""Schedules of nodes that have certificates: handshakes, group keys and codes under faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.sim.jobs import Job
from groupcore.sim.plants_certificates import APART, FORGED
from groupcore.sim.run import Verdict
from groupcore.sim.scenario import Scenario


def play(scenario: Scenario) -> Verdict:
    return Job("stack", 1, 0, "").verdict(scenario)


@pytest.mark.parametrize("index", range(12))
def test_a_schedule_with_certificates_keeps_all_rules(index: int) -> None:
    job = Job("stack", 2_026, index, "")
    verdict = job.verdict(replace(job.scenario, certificates=True))
    assert verdict.violations == []
    assert verdict.counters["transport.drops.bad_card"] == 0


@pytest.mark.parametrize("index", range(4))
def test_groups_with_certificates_keep_all_rules(index: int) -> None:
    job = Job("sequencing", 2_026, index, "")
    assert job.verdict(replace(job.scenario, certificates=True)).violations == []


def test_a_schedule_with_certificates_is_the_same_each_time() -> None:
    assert play(APART).trace.hash() == play(APART).trace.hash()


def test_a_forger_without_a_key_changes_nothing() -> None:
    assert play(FORGED).violations == []


def test_sides_of_a_cut_that_have_changed_their_keys_find_each_other() -> None:
    verdict = play(APART)
    assert verdict.violations == []
    assert verdict.counters["transport.group_keys"] >= 4
