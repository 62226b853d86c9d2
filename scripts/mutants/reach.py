"""Which test runs which line, and for how long: recorded once, kept until a file changes.

A mutant can only be noticed by a test that runs its line, so all others are spared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from time import process_time

import pytest
from coverage import Coverage, CoverageData

from scripts.mutants.judging import ROOT
from scripts.mutants.mutant import PACKAGES, Mutant, files_of

FOLDER = ROOT / ".cache" / "mutants"
LINES, TESTS = FOLDER / "lines", FOLDER / "tests.json"
SAVE_EVERY = 200
"""Tests between two writings of what was recorded."""


def hash_of(path: Path) -> str:
    """A file's content, in short."""
    return sha256(path.read_bytes()).hexdigest()[:16]


def _is(file: str, known: str) -> bool:
    path = ROOT / file
    return path.exists() and hash_of(path) == known


class Reach:
    """What was recorded: a test's CPU seconds, and by line of each edited file who runs it.

    `former`: the tests that there were at the last recording.
    """

    def __init__(self) -> None:
        self._files = [file for package in PACKAGES for file in files_of(package)]
        self._hashes: dict[str, str] = {}
        self._by_line: dict[str, dict[int, list[str]]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self._stale: set[str] = set()
        self.former: frozenset[str] = frozenset()
        if TESTS.exists():
            kept = json.loads(TESTS.read_text())
            self._hashes, self.seconds = kept["hashes"], kept["seconds"]
            self.failed = set(kept["failed"])
            self.former = frozenset(self.seconds)
            self._forget_changed()

    def _forget_changed(self) -> None:
        """Tests that have changed are recorded again; of a source, all that ran any of it count."""
        self._stale = {file for file in self._hashes if not _is(file, self._hashes[file])}
        for test in list(self.seconds):
            if test.partition("::")[0] in self._stale:
                del self.seconds[test]
                self.failed.discard(test)

    def _runners(self, file: str) -> dict[int, list[str]]:
        """By line, who runs it; a test that was recorded anew may be named by its former lines."""
        if file not in self._by_line:
            data = CoverageData(str(LINES))
            data.read()
            self._by_line[file] = data.contexts_by_lineno(str(ROOT / file))
        return self._by_line[file]

    def missing(self, items: Iterable[pytest.Item]) -> list[pytest.Item]:
        """Tests of which nothing is known yet."""
        return [item for item in items if item.nodeid not in self.seconds]

    def runners(self, mutant: Mutant) -> set[str]:
        """The tests that run a line of this edit."""
        by_line = self._runners(mutant.file)
        lines: Iterable[int] = range(mutant.edit.line, mutant.edit.last_line + 1)
        if mutant.file in self._stale:
            lines = by_line
        found = {test for line in lines for test in by_line.get(line, ())}
        return {test for test in found if test in self.seconds and test not in self.failed}

    def record(self, items: Sequence[pytest.Item]) -> None:
        """Run these tests, note what they run; for a process of its own, which ends behind it."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        coverage = Coverage(
            data_file=str(LINES),
            config_file=False,
            include=[str(ROOT / one) for one in self._files],
        )
        if self.seconds:
            coverage.load()
        coverage.start()
        for number, item in enumerate(items, 1):
            coverage.switch_context(item.nodeid)
            begin = process_time()
            if not passes(item):
                self.failed.add(item.nodeid)
            self.seconds[item.nodeid] = round(process_time() - begin, 4)
            if number % SAVE_EVERY == 0:
                self._save(coverage)
        coverage.stop()
        self._save(coverage)

    def _save(self, coverage: Coverage) -> None:
        coverage.save()
        tests = {test.partition("::")[0] for test in self.seconds}
        kept = {
            "hashes": {
                file: self._hashes[file] if file in self._stale - tests else hash_of(ROOT / file)
                for file in sorted({*self._files, *tests})
            },
            "seconds": self.seconds,
            "failed": sorted(self.failed),
        }
        beside = TESTS.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(kept))
        beside.replace(TESTS)


class _Failures:
    """A plugin that notes whether something fails."""

    def __init__(self) -> None:
        self.any = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A setup, a test or what clears up behind it."""
        self.any |= report.failed


def passes(item: pytest.Item) -> bool:
    """Run one test, by itself."""
    failures = _Failures()
    plugins = item.config.pluginmanager
    plugins.register(failures)
    try:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    finally:
        plugins.unregister(failures)
    return not failures.any
