"""Planted bugs: each is found, by the invariant that is meant for it, and by no unrelated one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tomllib import loads

import pytest

from groupcore.sim import sensitivity
from groupcore.sim.jobs import Job
from groupcore.sim.plants import PLANTS
from groupcore.sim.sensitivity import SEED, Hunt, hunt

LEADS: dict[str, int] = loads((Path(__file__).parent / "leads.toml").read_text(encoding="utf-8"))
SCHEDULES = 200
"""So many are looked through where the lead shows nothing; then the test fails."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_found_by_the_invariant_that_is_meant_for_it(name: str) -> None:
    done = hunt(name, SCHEDULES, LEADS.get(name))
    assert done.caught, str(done)


def test_every_lead_is_of_a_plant() -> None:
    assert set(LEADS) <= set(PLANTS)


def test_a_lead_is_looked_at_first_and_the_others_if_it_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    def note(*given: object) -> Job:
        job = Job(*given)  # type: ignore[arg-type]
        looked.append(job.index)
        return job

    monkeypatch.setattr(sensitivity, "Job", note)
    assert hunt("tail-lost", schedules=1, lead=LEADS["tail-lost"]).index == LEADS["tail-lost"]
    assert looked == [LEADS["tail-lost"]]
    assert hunt("gap", lead=LEADS["tail-lost"]).caught  # shown by all
    assert hunt("tail-lost", schedules=2, lead=0).index is None
    assert looked[-3:] == [0, 0, 1]


def test_a_plant_that_is_not_shown_is_not_found() -> None:
    assert hunt("gap", schedules=0) == Hunt("gap", None, frozenset())


def test_a_breach_that_has_nothing_to_do_with_the_plant_is_a_stray(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sensitivity, "CONSEQUENCES", frozenset({25}))
    monkeypatch.setitem(PLANTS, "gap", replace(PLANTS["gap"], caught_by=(4,)))
    done = hunt("gap", schedules=1)
    assert done.strays == {5, 17}
    assert not done.caught


def test_a_plant_is_gone_when_its_context_ends() -> None:
    clean = Job("stack", SEED, 0, "").verdict().trace.hash()
    assert Job("stack", SEED, 0, "duplicate").verdict().trace.hash() != clean
    assert Job("stack", SEED, 0, "").verdict().trace.hash() == clean


def test_the_five_bugs_of_the_issue_are_among_the_plants() -> None:
    asked = {"gap", "duplicate", "two-coordinators", "tail-lost", "received-table-forgotten"}
    assert asked <= set(PLANTS)
