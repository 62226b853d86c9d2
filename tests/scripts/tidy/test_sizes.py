"""The size rules and their ratchet."""

from scripts.tidy.sizes import FILE_LINES_MAX, FUNCTION_LINES_MAX, long_files, long_functions
from scripts.tidy.sources import Source


def file_of(lines: int) -> Source:
    return Source("groupcore/long.py", "x = 1\n" * lines)


def function_of(lines: int) -> Source:
    body = "        pass\n" * (lines - 1)
    return Source("groupcore/long.py", f"class Layer:\n    def on_up(self):\n{body}")


def test_a_file_of_exactly_the_limit_passes() -> None:
    assert long_files([file_of(FILE_LINES_MAX)], {}) == []


def test_a_file_over_the_limit_is_found() -> None:
    (finding,) = long_files([file_of(FILE_LINES_MAX + 1)], {})
    assert str(finding).startswith("groupcore/long.py:1: groupcore/long.py has 601 lines")


def test_a_listed_file_may_keep_its_length() -> None:
    assert long_files([file_of(700)], {"groupcore/long.py": 700}) == []


def test_a_listed_file_may_not_grow() -> None:
    (finding,) = long_files([file_of(701)], {"groupcore/long.py": 700})
    assert "grew from 700 to 701" in finding.remedy


def test_a_listed_file_that_shrank_lowers_its_entry() -> None:
    (finding,) = long_files([file_of(650)], {"groupcore/long.py": 700})
    assert "lower its entry to 650" in finding.remedy


def test_a_listed_file_within_the_limit_loses_its_entry() -> None:
    (finding,) = long_files([file_of(FILE_LINES_MAX)], {"groupcore/long.py": 700})
    assert "remove its entry" in finding.remedy


def test_an_entry_for_nothing_is_found() -> None:
    (finding,) = long_files([], {"groupcore/gone.py": 700})
    assert "groupcore/gone.py does not exist" in finding.remedy


def test_a_function_of_exactly_the_limit_passes() -> None:
    assert long_functions([function_of(FUNCTION_LINES_MAX)], {}) == []


def test_a_method_over_the_limit_is_found_by_its_full_name() -> None:
    (finding,) = long_functions([function_of(FUNCTION_LINES_MAX + 1)], {})
    assert finding.line == 2
    assert finding.remedy.startswith("groupcore/long.py::Layer.on_up has 71 lines")


def test_a_listed_function_may_keep_its_length() -> None:
    assert long_functions([function_of(90)], {"groupcore/long.py::Layer.on_up": 90}) == []
