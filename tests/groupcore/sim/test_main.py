"""The command: what it prints, its exit code, and that nothing depends on how it is run."""

from __future__ import annotations

import os
import subprocess
import sys
from json import loads
from pathlib import Path

import pytest

from groupcore.sim.__main__ import main
from groupcore.sim.plants import PLANTS
from groupcore.sim.probes import PROBES

pytestmark = pytest.mark.slow


def simulate(*arguments: str, hash_seed: str = "0") -> str:
    """Run the command in a process of its own; what it prints."""
    command = [sys.executable, "-m", "groupcore.sim", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, timeout=600
    )
    assert done.stderr == ""
    return done.stdout


def summary(output: str) -> dict[str, object]:
    result: dict[str, object] = loads(output.splitlines()[-1])
    return result


def test_the_trace_hash_depends_neither_on_the_hash_seed_nor_on_the_number_of_processes() -> None:
    arguments = ("--schedules", "6", "--seed", "5")
    one = summary(simulate(*arguments, "--jobs", "1", hash_seed="1"))
    two = summary(simulate(*arguments, "--jobs", "2", hash_seed="2"))
    assert one.pop("schedules_per_s") != 0
    two.pop("schedules_per_s")
    assert one == two


def test_a_clean_run_ends_with_zero_and_one_line_of_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--profile", "stack", "--schedules", "2", "--jobs", "1"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert set(loads(line)) == {
        "profile",
        "schedules",
        "simulated_s",
        "deliveries",
        "violations",
        "schedules_per_s",
        "trace_hash",
    }


def test_a_failure_prints_the_command_that_repeats_it_and_a_smaller_schedule(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "trace.jsonl"
    arguments = ["--profile", "stack", "--plant", "gap", "--jobs", "1", "--seed", "1"]
    assert main([*arguments, "--schedules", "3", "--trace", str(file)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("SIM FAIL seed=1 profile=stack schedule=")
    assert "invariant=5-gap-freedom" in lines[0]
    rerun = lines[0].split("rerun: python -m groupcore.sim ")[1]
    assert main([*rerun.split(), "--jobs", "1"]) == 1
    assert loads(lines[-1])["violations"] > 0
    assert {loads(line)["ev"] for line in file.read_text().splitlines()} >= {"view", "send", "dlv"}


def test_the_plants_are_listed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-plants"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(PLANTS)


def test_one_schedule_can_be_traced_without_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    assert main(["--only", "0", "--trace", str(file), "--jobs", "1"]) == 0
    assert file.stat().st_size > 0


def test_the_probes_are_counted_and_the_ledger_gets_a_line_a_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.jsonl"
    command = ["--schedules", "2", "--jobs", "1", "--probes", "--ledger", str(ledger)]
    for commit in ("one", "two"):
        assert main([*command, "--commit", commit]) == 0
    lines = [loads(line) for line in ledger.read_text().splitlines()]
    assert [(line["commit"], line["schedules"], line["failed"]) for line in lines] == [
        ("one", 2, 0),
        ("two", 2, 0),
    ]
    printed = capsys.readouterr().out.splitlines()
    assert {line.split()[1] for line in printed if line[:8].strip().isdigit()} == set(PROBES)
