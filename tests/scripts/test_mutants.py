"""Mutants: what is edited, that the edited module is the one that runs, and who finds it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts import run_mutants
from scripts.mutants.edits import edits
from scripts.mutants.judging import ROOT, complains, pytest_command

LIMIT_S = 120.0


@dataclass(frozen=True)
class Known:
    """A mutant that has survived once: `was` in the file becomes `to`, and these tests fail."""

    name: str
    file: str
    was: str
    to: str
    tests: tuple[str, ...]

    def source(self) -> str:
        text = (ROOT / self.file).read_text()
        assert text.count(self.was) == 1, f"{self.was!r} does not stand once in {self.file}"
        return text.replace(self.was, self.to)


def known() -> list[Known]:
    table = tomllib.loads(Path(__file__).with_name("known_mutants.toml").read_text())
    return [
        Known(one["name"], one["file"], one["was"], one["is"], tuple(one["tests"]))
        for one in table["mutant"]
    ]


@pytest.mark.parametrize("mutant", known(), ids=lambda mutant: mutant.name)
def test_a_mutant_that_has_survived_once_is_found(mutant: Known) -> None:
    assert complains(mutant.file, mutant.source(), pytest_command(mutant.tests), LIMIT_S)


SOURCE = '''"""A module."""
LIMIT = 3


def step(one, two):
    """Text."""
    counters["x"] += 1
    if one < two and not one:
        return
    two.take(one + 1)
'''


def edited() -> list[str]:
    return [edit.apply(SOURCE) for edit in edits(SOURCE)]


@pytest.mark.parametrize(
    ("was", "to"),
    [
        ("one < two", "(one <= two)"),
        ("one < two", "(one >= two)"),
        ("one < two and not one", "(one < two or not one)"),
        ("one < two and not one", "(one < two)"),
        ("one < two and not one", "(not one)"),
        ("one < two and not one", "(not (one < two and (not one)))"),
        ("not one:", "(one):"),
        ("return\n", "pass\n"),
        ("two.take(one + 1)", "pass"),
        ("one + 1", "(one)"),
    ],
)
def test_a_mutant_has_one_edit(was: str, to: str) -> None:
    mutants = {mutant.replace(" ", "").replace("(", "").replace(")", "") for mutant in edited()}
    changed = SOURCE.replace(was, to)
    assert changed.replace(" ", "").replace("(", "").replace(")", "") in mutants


def test_what_counts_describes_or_limits_is_left_alone() -> None:
    for mutant in edited():
        assert '"""Text."""' in mutant
        assert 'counters["x"] += 1' in mutant
        assert "LIMIT = 3" in mutant


def test_every_mutant_can_be_compiled_and_differs() -> None:
    for mutant in run_mutants.all_mutants(list(run_mutants.PACKAGES))[::25]:
        source = mutant.source()
        compile(source, mutant.file, "exec")
        assert source != (ROOT / mutant.file).read_text()


def test_the_edited_module_runs_in_the_place_of_the_file() -> None:
    file = "groupcore/sequencing/overlap.py"
    source = (ROOT / file).read_text()
    ask = ["-c", "import scripts.mutants.hook, groupcore.sequencing.overlap as o; 1 / o.STRONG"]
    assert not complains(file, source, ask, LIMIT_S)
    assert complains(file, source.replace("STRONG = 2", "STRONG = 0"), ask, LIMIT_S)


def test_an_endless_mutant_is_found() -> None:
    file = "groupcore/sequencing/overlap.py"
    assert complains(file, (ROOT / file).read_text(), ["-c", "import time; time.sleep(60)"], 0.2)


def test_each_module_has_tests_or_schedules_to_run_against() -> None:
    for package in run_mutants.PACKAGES:
        files = {mutant.file for mutant in run_mutants.all_mutants([package])}
        assert files
        for file in files:
            assert list(run_mutants.stages(file))


def test_the_report_says_who_has_survived() -> None:
    mutants = run_mutants.all_mutants(["groupcore/membership"])[:2]
    said = json.loads(run_mutants.report([(mutants[0], True), (mutants[1], False)]))
    assert said == {"mutants": 2, "found": 1, "survivors": [str(mutants[1])]}
