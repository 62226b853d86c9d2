"""Puts mutants to tests: each in a copy of a process in which all tests were read before.

Starting a process and reading the tests takes longer than most tests do. So they are read once;
then a copy is made for each mutant, takes its code, and runs the tests that run its line until the
first fails.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Protocol

import pytest

from scripts.mutants import schedules
from scripts.mutants.judging import ROOT
from scripts.mutants.mutant import Mutant
from scripts.mutants.patching import Functions
from scripts.mutants.reach import FOLDER, Reach, passes

TIMES, LEAST_S = 3.0, 5.0
"""A test that takes so many times as long as recorded, and this longer, has failed."""
QUICK_S = 0.5
"""New tests that take less go first: somebody may have written them for this mutant."""
MEMORY = 3 << 30
"""Bytes of memory a mutant may take."""
SCHEDULES = str(Path(schedules.__file__).relative_to(ROOT))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant.

    `found_by`: the test that failed, empty if none did; `how`: `failed`, `crashed` (also what took
    too long) or `survived`; `tests`: how many it was put to; `of`: how many run its line;
    `budget_s`: CPU time that it might have.
    """

    mutant: str
    found_by: str
    how: str
    tests: int
    of: int
    cpu_s: float
    budget_s: float


class Panel(Protocol):
    """Who judges which mutant."""

    broken: list[str]
    """Tests that fail without any mutant."""

    def prepare(self, items: dict[str, pytest.Item]) -> None:
        """The tests were read; judging begins."""

    def tests(self, mutant: Mutant, budget_s: float) -> list[str]:
        """Those that the mutant is put to, in this order; none takes longer than this."""

    def limit_s(self, test: str) -> float:
        """CPU time behind which a test has failed."""

    def found(self, mutant: Mutant, test: str) -> None:
        """This one has found it."""


class Runners:
    """All tests that run a line of the mutant, as far as is recorded; what is not is recorded now.

    `hints`: who is likely to find a mutant, by its name.
    """

    def __init__(self, hints: dict[str, str]) -> None:
        self.broken: list[str] = []
        self._hints = hints
        self._items: dict[str, pytest.Item] = {}
        self._finders: Counter[tuple[str, str]] = Counter()

    def prepare(self, items: dict[str, pytest.Item]) -> None:
        """Record what is missing, in a copy, so that nothing has run here yet."""
        self._items = items
        self._reach = Reach()
        self._new = items.keys() - self._reach.former
        if missing := self._reach.missing(items.values()):
            print(f"recording what {len(missing)} tests run", flush=True)
            in_copy(lambda tell: self._reach.record(missing))
            self._reach = Reach()
        self.broken = sorted(test for test in self._reach.failed if test in items)

    def tests(self, mutant: Mutant, budget_s: float) -> list[str]:
        """Who has found it before, new tests, three cases of each rule, quick ones first; so on."""
        seconds = self._reach.seconds
        runners = [test for test in self._reach.runners(mutant) if test in self._items]
        cases: Counter[str] = Counter()
        ranked = []
        for test in sorted(runners, key=lambda test: (seconds[test], test)):
            rule = _rule(test)
            cost = seconds[test] / (1 + self._finders[mutant.file, rule])
            is_new = test in self._new and seconds[test] < QUICK_S
            first = (test != self._hints.get(mutant.name), not is_new)
            ranked.append((first, test.startswith(SCHEDULES), cases[rule] // 3, cost, test))
            cases[rule] += 1
        return [test for *_, test in sorted(ranked) if seconds[test] < budget_s]

    def limit_s(self, test: str) -> float:
        """Many times what it took."""
        return LEAST_S + TIMES * self._reach.seconds[test]

    def found(self, mutant: Mutant, test: str) -> None:
        """Its rule goes first for other mutants of the file."""
        self._finders[mutant.file, _rule(test)] += 1


class Named:
    """One test for each mutant, by the mutant's name."""

    def __init__(self, finders: dict[str, str]) -> None:
        self.broken: list[str] = []
        self._finders = finders

    def prepare(self, items: dict[str, pytest.Item]) -> None:
        """All of them pass without a mutant, or nothing is said by their failing."""

        def run_all(tell: Callable[[str], None]) -> None:
            for test, item in items.items():
                if not passes(item):
                    tell(test)

        self.broken, _ = in_copy(run_all)
        self.broken += sorted(set(self._finders.values()) - set(items))

    def tests(self, mutant: Mutant, budget_s: float) -> list[str]:
        """The one."""
        return [self._finders[mutant.name]]

    def limit_s(self, test: str) -> float:
        """The same for each."""
        return LEAST_S

    def found(self, mutant: Mutant, test: str) -> None:
        """As it should be."""


class Jury:
    """A plugin that judges mutants by the tests that were read, and does not run these.

    `budget_s`: CPU time for a mutant; `say` is told of each verdict.
    """

    def __init__(
        self,
        mutants: Sequence[Mutant],
        panel: Panel,
        budget_s: float,
        say: Callable[[Mutant, Verdict], None],
    ) -> None:
        self._mutants = mutants
        self._panel = panel
        self._budget_s = budget_s
        self._say = say

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of running the tests."""
        items = {item.nodeid: item for item in session.items}
        self._panel.prepare(items)
        if not session.testsfailed:  # a file could not be read
            functions = Functions(sorted({mutant.file for mutant in self._mutants}))
            for mutant in self._mutants:
                self._say(mutant, self._judge(mutant, functions, items))
        return True

    def _judge(
        self, mutant: Mutant, functions: Functions, items: dict[str, pytest.Item]
    ) -> Verdict:
        tests = [test for test in self._panel.tests(mutant, self._budget_s) if test in items]

        def judge(tell: Callable[[str], None]) -> None:
            functions.patch(mutant)
            for test in tests:
                if process_time() > self._budget_s:
                    break
                tell(test)
                signal.setitimer(signal.ITIMER_VIRTUAL, self._panel.limit_s(test))
                if not passes(items[test]):
                    tell("failed")
                    return
            tell("survived")

        told, cpu_s = in_copy(judge)
        how = told.pop() if told and told[-1] in ("failed", "survived") else "crashed"
        assert told or how != "crashed", f"{mutant.name}: the copy died before its first test"
        found_by = told[-1] if how != "survived" else ""
        if found_by:
            self._panel.found(mutant, found_by)
        return Verdict(
            mutant.name, found_by, how, len(told), len(tests), round(cpu_s, 2), self._budget_s
        )


def _rule(test: str) -> str:
    """A test's name without its parameters."""
    return test.partition("[")[0]


def in_copy(work: Callable[[Callable[[str], None]], None]) -> tuple[list[str], float]:
    """Do this in a copy of the process; what it tells, line by line, and the CPU time it took."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _be_copy()
        try:
            work(lambda line: _write(writer, line))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as told:
        lines = told.read().splitlines()
    _, _, usage = os.wait4(child, 0)
    return lines, usage.ru_utime + usage.ru_stime


def _be_copy() -> None:
    """Say nothing, leave no examples behind, and end where memory does."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if (examples := sys.modules.get("hypothesis.configuration")) is not None:
        examples.set_hypothesis_home_dir(FOLDER / "examples")


def _write(writer: int, line: str) -> None:
    os.write(writer, f"{line}\n".encode())
