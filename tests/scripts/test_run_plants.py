"""`make plants` fails unless every planted bug is caught."""

from subprocess import CompletedProcess

import pytest

from scripts import run_plants

LISTING = "gap  a gap is delivered\ntwins  two coordinators\n"


def simulator(caught: set[str]) -> object:
    """A stand-in for the simulator that complains about the plants in `caught`."""

    def simulate(*arguments: str) -> CompletedProcess[str]:
        if arguments == ("--list-plants",):
            return CompletedProcess(arguments, 0, LISTING, "")
        if arguments[-1] in caught:
            return CompletedProcess(arguments, 1, "SIM FAIL seed=1 invariant=1 rerun: …\n{}\n", "")
        return CompletedProcess(arguments, 0, '{"violations": 0}\n', "")

    return simulate


def test_all_plants_caught_is_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_plants, "simulate", simulator({"gap", "twins"}))
    assert run_plants.main() == 0


def test_one_plant_missed_is_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_plants, "simulate", simulator({"gap"}))
    assert run_plants.main() == 1
    assert "MISSED  twins" in capsys.readouterr().out


def test_a_crash_is_not_a_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*arguments: str) -> CompletedProcess[str]:
        if arguments == ("--list-plants",):
            return CompletedProcess(arguments, 0, LISTING, "")
        return CompletedProcess(arguments, 1, "", "Traceback")

    monkeypatch.setattr(run_plants, "simulate", crash)
    assert run_plants.main() == 1


def test_no_plants_at_all_is_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: CompletedProcess[str] = CompletedProcess((), 0, "", "")
    monkeypatch.setattr(run_plants, "simulate", lambda *_: nothing)
    assert run_plants.main() == 1
