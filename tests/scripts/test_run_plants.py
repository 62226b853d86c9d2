"""`make plants` fails unless every planted bug is caught."""

from __future__ import annotations

import pytest

from groupcore.sim.sensitivity import Hunt
from scripts import run_plants

GAP = Hunt("gap", 0, frozenset())


def run(monkeypatch: pytest.MonkeyPatch, *hunts: Hunt) -> int:
    monkeypatch.setattr(run_plants, "hunts", lambda: hunts)
    return run_plants.main()


def test_all_plants_caught_is_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, GAP, Hunt("duplicate", 3, frozenset())) == 0
    assert "--seed 1 --only 3 --plant duplicate" in capsys.readouterr().out


def test_one_plant_missed_is_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, GAP, Hunt("duplicate", None, frozenset())) == 1
    assert "MISSED  duplicate" in capsys.readouterr().out


def test_a_plant_that_breaks_something_unrelated_is_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, Hunt("duplicate", None, frozenset({8})), GAP) == 1
    assert "broke invariants [8]" in capsys.readouterr().out


def test_no_plants_at_all_is_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch) == 1
