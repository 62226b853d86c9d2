"""What the advisory check makes of its tools' answers: no answer is never a good one."""

import json

from scripts.check_advisories import Checked, last_line, of_page, of_python, outcome

PACKAGES = [
    {"name": "aiohttp", "version": "3.14.5", "vulns": []},
    {
        "name": "pillow",
        "version": "13.0.0",
        "vulns": [{"id": "PYSEC-1", "fix_versions": ["13.0.1"]}, {"id": "X-2", "fix_versions": []}],
    },
]
SKIPPED = {"name": "yarl", "skip_reason": "not found: yarl"}


def test_each_advisory_is_named_with_the_version_that_mends_it() -> None:
    checked = of_python("dev", json.dumps({"dependencies": PACKAGES}), "")
    assert checked.lines() == [
        "dev: pillow 13.0.0: PYSEC-1, mended in 13.0.1",
        "dev: pillow 13.0.0: X-2, mended in no version",
        "dev: 2 packages checked, 2 advisories",
    ]
    assert outcome([checked]) == 1


def test_packages_that_the_source_does_not_know_are_not_checked() -> None:
    """pip-audit says that no vulnerabilities are known then, and ends well."""
    some = of_python("dev", json.dumps({"dependencies": [PACKAGES[0], SKIPPED]}), "none found")
    assert (some.checked, some.unchecked, some.why_not) == (1, 1, "not found: yarl")
    assert outcome([some]) == 3
    assert "dev: 1 packages not checked: not found: yarl" in some.lines()


def test_no_answer_says_what_the_tool_complained_of() -> None:
    assert of_python("dev", "", "trace\nno route to host\n\n").why_not == "no route to host"
    assert of_python("dev", "[]", "").why_not == "pip-audit gave no answer"
    assert of_page("", "offline").why_not == "offline"
    assert of_page('{"message": "405", "statusCode": 405}', "").why_not == "405"
    assert outcome([of_page("", "")]) == 3
    assert last_line("") == ""


def test_the_page_is_checked_by_what_npm_says_of_it() -> None:
    said = {
        "vulnerabilities": {"left": {"range": "<2", "severity": "high"}},
        "metadata": {"dependencies": {"total": 17}},
    }
    checked = of_page(json.dumps(said), "")
    assert (checked.checked, checked.found) == (17, ["left <2: high"])


def test_what_was_found_weighs_more_than_what_was_not_checked() -> None:
    found, silent = Checked("dev", 1, ["a 1: X"]), Checked("page", why_not="offline")
    assert (outcome([found, silent]), outcome([silent]), outcome([Checked("dev", 3)])) == (1, 3, 0)
