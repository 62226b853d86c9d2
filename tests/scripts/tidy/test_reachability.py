"""The rule that every module is used."""

import pytest

from scripts.tidy.reachability import imported_names, unreached_modules
from scripts.tidy.sources import Source

LONELY = Source("groupcore/lonely.py", "import groupcore.lonely\n")


def test_a_module_that_only_imports_itself_is_found() -> None:
    (finding,) = unreached_modules([LONELY])
    assert finding.path == "groupcore/lonely.py"


@pytest.mark.parametrize(
    "line",
    ["import groupcore.lonely", "from groupcore import lonely", "from groupcore.lonely import a"],
)
def test_an_imported_module_passes(line: str) -> None:
    assert unreached_modules([LONELY, Source("server/__main__.py", line)]) == []


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("groupcore/layers/a.py", "from . import b", "groupcore.layers.b"),
        ("groupcore/layers/a.py", "from ..view import View", "groupcore.view"),
        ("groupcore/layers/__init__.py", "from .b import B", "groupcore.layers.b"),
    ],
)
def test_relative_imports_are_resolved(path: str, line: str, expected: str) -> None:
    assert expected in imported_names(Source(path, line))


@pytest.mark.parametrize(
    "path",
    [
        "server/__main__.py",
        "tests/test_a.py",
        "tests/conftest.py",
        "bench/order.py",
        "a/__init__.py",
    ],
)
def test_programs_tests_and_benchmarks_are_started_by_name(path: str) -> None:
    assert unreached_modules([Source(path, "")]) == []


def test_a_module_that_runs_as_a_program_passes() -> None:
    text = "if __name__ == '__main__':\n    main()\n"
    assert unreached_modules([Source("server/supervise.py", text)]) == []
