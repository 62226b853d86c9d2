"""Mutants: what is edited, that the edited module is the one that runs, and who finds it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from groupcore.sequencing.names import Process
from groupcore.sequencing.overlap import Overlap
from groupcore.view import Address
from scripts import run_mutants
from scripts.mutants.edits import edits
from scripts.mutants.judging import ROOT, complains, pytest_command
from scripts.mutants.jury import in_copy
from scripts.mutants.lists import accepted
from scripts.mutants.mutant import PACKAGES, all_mutants, drawn, mutants_of, package_of
from scripts.mutants.patching import Functions

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_every_mutant_can_be_compiled_and_differs() -> None:
    for mutant in all_mutants(list(PACKAGES))[::25]:
        source = mutant.source()
        compile(source, mutant.file, "exec")
        assert source != (ROOT / mutant.file).read_text()


def test_every_mutant_has_a_name_of_its_own() -> None:
    names = [mutant.name for mutant in all_mutants(list(PACKAGES))]
    assert len(set(names)) == len(names)


def test_what_is_drawn_of_a_package_follows_from_its_own_code_and_the_seed() -> None:
    together = drawn(list(PACKAGES), 50, 7)
    alone = drawn(["groupcore/layers"], 10, 7)
    assert [one for one in together if package_of(one.file) == "groupcore/layers"] == alone
    assert drawn(["groupcore/layers"], 10, 8) != alone


@pytest.mark.parametrize("beside", [False, True], ids=["edited", "with what was there beside it"])
def test_a_mutant_without_a_call_of_super_is_loaded_in_its_place(beside: bool) -> None:
    source = "class A(B):\n    def f(self):\n        super().f()\n        return 1\n"
    (edit,) = (one for one in edits(source) if one.kind == "dropped statement")
    edited = edit.apply_beside(source) if beside else edit.apply(source)
    names: dict[str, type] = {"B": object}
    exec(compile(edited, "edited", "exec"), names)
    a = names["A"]
    assert a().f() == 1
    assert bool(a.__dict__["f"].__code__.co_freevars) is beside


def test_a_loaded_module_takes_the_mutant_in_a_copy_of_the_process_only() -> None:
    (mutant,) = (
        one
        for one in mutants_of("groupcore/sequencing/overlap.py")
        if "count >= STRONG -> (count < STRONG)" in one.name
    )
    functions = Functions([mutant.file])

    def component() -> str:
        overlap = Overlap()
        for process in (Process(Address("a", 0), 1), Process(Address("a", 0), 2)):
            overlap.enter(process, 1)
            overlap.enter(process, 2)
        return str(overlap.component(1))

    def ask(tell: Callable[[str], None]) -> None:
        tell(component())
        functions.patch(mutant)
        tell(component())

    said, _ = in_copy(ask)
    assert said == ["(1, 2)", "(1,)"]
    assert component() == "(1, 2)"


def test_the_edited_module_runs_in_the_place_of_the_file() -> None:
    file = "groupcore/sequencing/overlap.py"
    source = (ROOT / file).read_text()
    ask = ["-c", "import scripts.mutants.hook, groupcore.sequencing.overlap as o; 1 / o.STRONG"]
    assert not complains(file, source, ask, LIMIT_S)
    assert complains(file, source.replace("STRONG = 2", "STRONG = 0"), ask, LIMIT_S)


def test_an_endless_mutant_is_found() -> None:
    file = "groupcore/sequencing/overlap.py"
    assert complains(file, (ROOT / file).read_text(), ["-c", "import time; time.sleep(60)"], 0.2)


def test_each_mutant_that_may_survive_has_a_reason_and_is_in_an_edited_package() -> None:
    assert all(reason.endswith(".") for reason in accepted().values())
    assert {package_of(name.partition(" ")[0]) for name in accepted()} <= set(PACKAGES)


@pytest.mark.slow
def test_each_of_a_fixed_sample_is_found() -> None:
    command = [sys.executable, "-m", "scripts.run_mutants", "--sample"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = json.loads(ran.stdout.splitlines()[-1])
    assert said["mutants"] == said["found"] >= run_mutants.SAMPLE_LEAST


def test_who_survives_without_a_reason_is_a_failure() -> None:
    mutants = all_mutants(["groupcore/membership"])[:3]
    first, second, third = (mutant.name for mutant in mutants)
    found = {first: True, second: False, third: False}
    said = json.loads(run_mutants.report(mutants, found, {third: "It may."}))
    assert said == {
        "mutants": 3,
        "found": 1,
        "packages": {"groupcore/membership": {"mutants": 3, "found": 1}},
        "accepted": 1,
        "survivors": [second],
    }
