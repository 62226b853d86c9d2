"""Simulated schedules as tests, which mutants are put to behind the unit tests.

No test of the product is here: `make mutants` names this file to pytest.
"""

from __future__ import annotations

import pytest

from groupcore.sim.jobs import Job, work

SEED = 20_261_123
SCHEDULES = 24
"""Of each profile."""
PROFILES = ("strict-churn", "durable", "documents", "access", "stack", "total", "gossip")


@pytest.mark.parametrize("index", range(SCHEDULES))
@pytest.mark.parametrize("profile", PROFILES)
def test_a_schedule_breaks_no_invariant(profile: str, index: int) -> None:
    assert work(Job(profile, SEED, index, "")).violations == []
