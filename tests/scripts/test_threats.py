"""The threat model has each threat once, and names files that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "threats.md").read_text(encoding="utf-8")
SOURCES = [path for top in ("groupcore", "server") for path in (ROOT / top).rglob("*.py")]


NUMBERS = range(1, 30)


def test_each_threat_has_a_number_of_its_own_without_a_gap() -> None:
    found = re.findall(r"^\| T(\d+) \|", TEXT, re.M)
    assert sorted(map(int, found)) == [*NUMBERS]


def test_what_it_names_is_there() -> None:
    named = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert [name for name in named if not (ROOT / "docs" / name).is_file()] == []
    files = re.findall(r"`([a-z_/]+\.py)`", TEXT)
    known = {path.name for path in SOURCES} | {path.name for path in (ROOT / "tests").rglob("*.py")}
    assert [name for name in files if Path(name).name not in known] == []


def test_what_code_cites_of_it_is_in_it() -> None:
    cited = {
        number
        for path in SOURCES
        for cites in re.findall(r"docs/threats\.md,((?:[ ,]*(?:and |to )?T\d+)+)", path.read_text())
        for number in re.findall(r"T(\d+)", cites)
    }
    assert {"1", "8", "9", "18", "25"} <= cited
    assert {int(number) for number in cited} <= set(NUMBERS)
