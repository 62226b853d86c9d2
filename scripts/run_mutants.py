"""Mutation score of the protocol: single edits, drawn by a seed, each put to tests and schedules.

Every mutant meets the tests that run its line, the quick ones first, then simulated schedules that
do, until one fails. Who passes all, or as many as `--budget` seconds of CPU allow, has survived:
either it is no change of behaviour, or a test is missing. Those that may survive stand in
`scripts/mutants/accepted.toml` with the reason; they are judged with `--fresh` only.

`--sample` puts a fixed few, those of `scripts/mutants/sample.toml`, to the one test each that is
known to find it; `--draw-sample N` writes that list anew out of the results.

What each test runs is recorded first (`.cache/mutants`; remove that to record all anew), and again
when a test changes; of a module that has changed since, all tests count that ran any of it. Results
are kept there, too: a run that was broken off goes on, `--fresh` judges all again.

The last line is JSON: `mutants`, how many were judged; `found`, how many a test has found;
`packages`, the same for each; `survivors`, those that nobody has accepted. 1 if there are any, or
a test fails without a mutant.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import pytest

from scripts.mutants.judging import ROOT
from scripts.mutants.jury import SCHEDULES, Jury, Named, Panel, Runners, Verdict
from scripts.mutants.lists import accepted, sample, write_sample
from scripts.mutants.mutant import PACKAGES, Mutant, all_mutants, drawn, package_of
from scripts.mutants.reach import FOLDER, hash_of

TESTS = (
    "tests/groupcore/sequencing",
    "tests/groupcore/membership",
    "tests/groupcore/layers",
    "tests/groupcore/shared",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/groupcore/test_*.py")),
    "tests/groupcore/sim/rows",
    "tests/groupcore/sim/groups",
    "tests/groupcore/sim/test_run.py",
    SCHEDULES,
)
"""What mutants are put to: unit tests, named scenarios, schedules."""
FOLDERS = ("groupcore", "tests/groupcore")
"""Where a change lets no result count any more."""
RESULTS = FOLDER / "results.jsonl"
SAMPLE_S = 30.0
"""CPU seconds for a mutant of the sample, far more than its one test takes."""
SAMPLE_LEAST = 10
"""So many of the sample have to be left."""
OPTIONS = ("-q", "-s", "--no-header", "-p", "no:cacheprovider", "--hypothesis-seed=1")


def state() -> str:
    """All sources and tests, in short: a result counts as long as they are the same."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sha256("".join(map(hash_of, paths)).encode()).hexdigest()[:16]


def kept_results() -> list[dict[str, Any]]:
    """All results so far, the newest last."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


class Book:
    """Prints what becomes of each mutant, and keeps it in a file, unless told otherwise."""

    def __init__(self, kept: bool = True) -> None:
        self._kept = kept
        self.state = state()
        self.found: dict[str, bool] = {}

    def note(self, mutant: Mutant, verdict: Verdict) -> None:
        """A mutant was judged."""
        if self._kept:
            row = {"state": self.state, **asdict(verdict)}
            FOLDER.mkdir(parents=True, exist_ok=True)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        self.say(mutant, verdict.found_by)
        print(f"          {verdict.cpu_s} s, {verdict.tests} of {verdict.of} tests", flush=True)

    def say(self, mutant: Mutant, found_by: str) -> None:
        """What became of it, for people."""
        self.found[mutant.name] = bool(found_by)
        print("found    " if found_by else "SURVIVED ", mutant.edit.line, mutant.name, flush=True)
        if found_by:
            print(f"          {found_by}", flush=True)


def ask(mutants: list[Mutant], panel: Panel, tests: list[str], budget_s: float, book: Book) -> int:
    """Read these tests and judge by them; the exit code of pytest."""
    jury = Jury(mutants, panel, budget_s, book.note)
    return int(pytest.main([*OPTIONS, *tests], plugins=[jury]))


def judge(mutants: list[Mutant], budget_s: float, fresh: bool, book: Book) -> list[str]:
    """Judge those without a result; the tests that fail without any mutant."""
    kept = kept_results()
    known = {
        row["mutant"]: row
        for row in kept
        if not fresh
        and row["state"] == book.state
        and (row["found_by"] or row["budget_s"] >= budget_s)
    }
    for mutant in mutants:
        if mutant.name in known:
            book.say(mutant, known[mutant.name]["found_by"])
        elif mutant.name in accepted() and not fresh:
            book.say(mutant, "")
    hints = {row["mutant"]: row["found_by"] for row in kept if row["found_by"]}
    left = [mutant for mutant in mutants if mutant.name not in book.found]
    left.sort(key=lambda mutant: mutant.name in hints)  # what nobody has found yet goes first
    panel = Runners(hints)
    if left:
        ask(left, panel, list(TESTS), budget_s, book)
    return panel.broken


def judge_sample(book: Book) -> tuple[list[Mutant], list[str]]:
    """Judge the fixed few, those whose code is still the same; and what is wrong with the list."""
    finders = sample()
    mutants = [one for one in all_mutants(list(PACKAGES)) if one.name in finders]
    panel = Named(finders)
    ask(mutants, panel, sorted({finders[one.name] for one in mutants}), SAMPLE_S, book)
    if len(mutants) < SAMPLE_LEAST:
        panel.broken.append(f"the code of all but {len(mutants)} has changed: draw the sample anew")
    return mutants, panel.broken


def outdated() -> list[str]:
    """What may survive and is no mutant any more."""
    names = {mutant.name for mutant in all_mutants(list(PACKAGES))}
    return [f"take this out of accepted.toml: {name}" for name in accepted() if name not in names]


def draw_sample(number: int, mutants: list[Mutant]) -> None:
    """Of each package as many that a unit test has found quickly, of different files."""
    finders = {row["mutant"]: row["found_by"] for row in kept_results() if row["tests"]}
    chosen: dict[str, str] = {}
    left = Counter({package: number // len(PACKAGES) for package in PACKAGES})
    files = set()
    for mutant in mutants:
        finder, package = finders.get(mutant.name, ""), package_of(mutant.file)
        quick = finder and "/sim/" not in finder and not finder.startswith(SCHEDULES)
        if quick and left[package] and mutant.file not in files:
            chosen[mutant.name] = finder
            left[package] -= 1
            files.add(mutant.file)
    write_sample(chosen)


def report(mutants: list[Mutant], found: dict[str, bool], allowed: dict[str, str]) -> str:
    """The last line."""
    packages: dict[str, dict[str, int]] = defaultdict(lambda: {"mutants": 0, "found": 0})
    for mutant in mutants:
        package = packages[package_of(mutant.file)]
        package["mutants"] += 1
        package["found"] += found[mutant.name]
    survivors = [one.name for one in mutants if not found[one.name]]
    return json.dumps(
        {
            "mutants": len(mutants),
            "found": len(mutants) - len(survivors),
            "packages": packages,
            "accepted": sum(name in allowed for name in survivors),
            "survivors": [name for name in survivors if name not in allowed],
        }
    )


def main(arguments: list[str]) -> int:
    """Draw mutants, judge them, say what became of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=300, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which")
    parser.add_argument("--budget", type=float, default=40.0, help="CPU seconds for each")
    parser.add_argument("--package", action="append", choices=sorted(PACKAGES), default=None)
    parser.add_argument("--only", default="", help="those in whose names this stands, all of them")
    parser.add_argument("--fresh", action="store_true", help="judge again what was judged before")
    parser.add_argument("--sample", action="store_true", help="only the fixed few")
    parser.add_argument("--draw-sample", type=int, default=0, help="write that list anew")
    options = parser.parse_args(arguments)
    packages = options.package or list(PACKAGES)
    book = Book(not options.sample)
    if options.sample:
        mutants, broken = judge_sample(book)
    elif options.only:
        mutants = [one for one in all_mutants(packages) if options.only in one.name]
        broken = judge(mutants, options.budget, options.fresh, book)
    else:
        mutants = drawn(packages, options.mutants, options.seed)
        broken = [*judge(mutants, options.budget, options.fresh, book), *outdated()]
    for complaint in broken:
        print(f"without any mutant something is wrong already: {complaint}")
    if options.draw_sample:
        draw_sample(options.draw_sample, mutants)
    line = report([one for one in mutants if one.name in book.found], book.found, accepted())
    print(line)
    return int(bool(broken or json.loads(line)["survivors"] or len(book.found) < len(mutants)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
