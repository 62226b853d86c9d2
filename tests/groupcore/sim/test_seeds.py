"""Schedules that once failed: each must stay clean. `seeds.toml` says what each had found."""

from __future__ import annotations

from pathlib import Path
from tomllib import loads
from typing import Any

import pytest

from groupcore.sim.jobs import Job
from groupcore.sim.profiles import PROFILES

SEEDS = loads((Path(__file__).parent / "seeds.toml").read_text(encoding="utf-8"))["schedule"]


def played(entry: dict[str, Any]) -> object:
    """An entry; one that is `open` fails until that is cured, and must then lose the word."""
    marks = [pytest.mark.xfail(strict=True, reason=entry["open"])] if "open" in entry else []
    return pytest.param(entry["profile"], entry["seed"], entry["index"], marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "seed", "index"), [played(entry) for entry in SEEDS])
def test_a_schedule_that_once_failed_stays_clean(profile: str, seed: int, index: int) -> None:
    assert Job(profile, seed, index, "").verdict().violations == []


def test_every_entry_names_a_profile_and_says_what_it_found() -> None:
    for entry in SEEDS:
        assert entry["profile"] in PROFILES
        assert len(entry["found"].split()) > 4
