"""Mutation score of the protocol: single edits drawn by a seed, each put to tests and schedules.

Every mutant goes through stages until one complains: the tests that import its module, all unit
tests of its package, then simulated schedules. Who passes all of them has survived: either it is
no change of behaviour, or a test is missing. `docs/proof.md` lists survivors with the reason.

The last line is JSON: `mutants`, how many were tried; `found`, how many of them some stage found;
`survivors`, where they are and what they do. 1 if what is not mutated fails, else 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from scripts.mutants.edits import Edit, edits
from scripts.mutants.judging import ROOT, complains, module_of, program_command, pytest_command

TESTS = "tests/groupcore"
PACKAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "groupcore/sequencing": ("tests/groupcore/sequencing", ("strict-churn", "durable")),
    "groupcore/membership": ("tests/groupcore/membership", ("stack", "durable")),
    "groupcore/layers": ("tests/groupcore/layers", ("stack", "total", "gossip")),
    "groupcore/shared/documents": ("tests/groupcore/shared", ("documents",)),
}
"""What is edited, where its unit tests are, and the profiles in whose schedules it runs."""
SCHEDULES = 40
"""Schedules of each profile that a mutant has to pass."""
SEED = 20_261_123
"""Of those schedules."""
LIMIT_S = 300.0
"""For each stage; an edit that makes something endless has been found."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit of one file of the work tree."""

    file: str
    edit: Edit

    def source(self) -> str:
        """The file with the edit."""
        return self.edit.apply((ROOT / self.file).read_text())

    def __str__(self) -> str:
        data = (ROOT / self.file).read_bytes()
        was = " ".join(data[self.edit.start : self.edit.end].decode().split())
        return f"{self.file}:{self.edit.line} {self.edit.kind}: {was} -> {self.edit.text}"


def all_mutants(packages: list[str]) -> list[Mutant]:
    """Every mutant of these packages, in the order of files and lines."""
    files = sorted(
        str(path.relative_to(ROOT))
        for package in packages
        for path in (ROOT / package).glob("*.py")
        if path.name != "__init__.py"
    )
    return [Mutant(file, edit) for file in files for edit in edits((ROOT / file).read_text())]


@cache
def tests_of(file: str) -> tuple[str, ...]:
    """The unit tests that import the module of this file, or are named after it."""
    wanted = f"from {module_of(file)} import"
    stem = Path(file).stem
    folder = ROOT / _package(file)[0]
    found = [
        path
        for path in sorted(folder.rglob("test_*.py"))
        if path.stem == f"test_{stem}" or wanted in path.read_text()
    ]
    return tuple(str(path.relative_to(ROOT)) for path in found)


def _package(file: str) -> tuple[str, tuple[str, ...]]:
    return PACKAGES[str(Path(file).parent)]


def stages(file: str) -> Iterator[list[str]]:
    """What a mutant of this file is put to, the quick things first."""
    folder, profiles = _package(file)
    if tests_of(file):
        yield pytest_command(tests_of(file))
    yield pytest_command([folder])
    for profile in profiles:
        drawn = ("--profile", profile, "--schedules", str(SCHEDULES), "--seed", str(SEED))
        yield program_command("groupcore.sim", *drawn)


def is_found(mutant: Mutant) -> bool:
    """Whether some stage complains."""
    source = mutant.source()
    return any(complains(mutant.file, source, stage, LIMIT_S) for stage in stages(mutant.file))


def complaint_of_unmutated(packages: list[str]) -> str:
    """A stage that fails without any edit; empty if none does."""
    for package in packages:
        file = next(iter(all_mutants([package]))).file
        for stage in list(stages(file))[-1 - len(PACKAGES[package][1]) :]:
            if complains(file, (ROOT / file).read_text(), stage, LIMIT_S):
                return " ".join(stage)
    return ""


def report(judged: list[tuple[Mutant, bool]]) -> str:
    """The last line."""
    survivors = [str(mutant) for mutant, found in judged if not found]
    done = {"mutants": len(judged), "found": len(judged) - len(survivors), "survivors": survivors}
    return json.dumps(done)


def main(arguments: list[str]) -> int:
    """Draw mutants, judge them, say what became of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which")
    parser.add_argument("--jobs", type=int, default=1, help="at a time")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin none behind that")
    parser.add_argument("--package", action="append", choices=sorted(PACKAGES), default=None)
    options = parser.parse_args(arguments)
    packages = options.package or list(PACKAGES)
    if wrong := complaint_of_unmutated(packages):
        print(f"without any mutant this fails already: {wrong}")
        return 1
    pool = all_mutants(packages)
    drawn = Random(options.seed).sample(pool, min(options.mutants, len(pool)))
    end = time.monotonic() + options.minutes * 60 if options.minutes else float("inf")

    def judge(mutant: Mutant) -> bool | None:
        return None if time.monotonic() > end else is_found(mutant)

    judged: list[tuple[Mutant, bool]] = []
    with ThreadPoolExecutor(options.jobs) as threads:
        for mutant, found in zip(drawn, threads.map(judge, drawn), strict=True):
            if found is not None:
                judged.append((mutant, found))
                print("found   " if found else "SURVIVED", mutant, flush=True)
    print(report(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
