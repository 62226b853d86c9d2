"""docs/faults.md names alerts, metrics, codes and commands that there are, and all alerts."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from server import (
    certificates_cli,
    console_cli,
    export_cli,
    logs,
    operation_cli,
    people_cli,
    plan_cli,
    rebuild_cli,
    recover_cli,
)
from server.backup import cli as backup_cli
from server.errors import SettingsProblem
from server.metrics import GAUGES
from server.routes.problems import STATUS
from server.settings import SETTINGS
from server.trace import cli as trace_cli
from tests.server.test_problem_words import AREAS, words

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "faults.md").read_text("utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")
ALERTS = (ROOT / "docs" / "operations" / "alerts.yml").read_text("utf-8")
HEALTH = (ROOT / "server" / "console" / "health.py").read_text("utf-8")
COMMAND = re.compile(r"python -m server ([a-z-]+)((?: [^\s`|#]+)*)")
PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "backup": backup_cli.make_parser,
    "dump-log": logs.make_parser,
    "export-log": export_cli.make_parser,
    "node-cert": certificates_cli.make_parser,
    "operation": operation_cli.make_parser,
    "plan": plan_cli.make_parser,
    "rebuild": rebuild_cli.make_parser,
    "recover": recover_cli.make_parser,
    "trace": trace_cli.make_parser,
}
"""Of commands whose parsers take what stands behind their name; the others take it, too."""
OF_PEOPLE = ("user", "token", "audit")


def test_every_alert_has_its_place_and_each_that_is_named_is_one() -> None:
    known = set(re.findall(r"alert: (\w+)", ALERTS))
    assert set(re.findall(r"`(Groupcore[A-Z]\w+)`", GUIDE)) == known
    codes = set(re.findall(r'(?:Alert|add)\("\w+", "(\w+)"', HEALTH))
    assert {"views_flap", "slow", "order_broken"} <= codes
    first = GUIDE.partition("## What a person sees")[0]
    missing = {code for code in codes if f"`{code}`" not in first}
    assert not missing, f"add {sorted(missing)} to the table of docs/faults.md"


def test_every_metric_that_is_named_is_one() -> None:
    named = set(re.findall(r"`(groupcore_(?!channel_)\w+)", GUIDE))
    assert {"groupcore_queue_wait_seconds", "groupcore_disk_full"} <= named
    listed = set(re.findall(r"^\| `(groupcore_\w+)", OPERATIONS, re.MULTILINE))
    assert listed >= {f"groupcore_{name}" for name in GAUGES}
    assert named <= listed


def test_every_command_is_one() -> None:
    found = COMMAND.findall(GUIDE)
    assert {"status", "recover", "plan", "user", "verify-log"} <= {topic for topic, _ in found}
    for topic, rest in found:
        if topic == "verify-log":
            assert topic in logs.COMMANDS
            continue
        given = rest.split()
        parser = PARSERS.get(topic)
        if parser is None:
            parser = people_cli.make_parser if topic in OF_PEOPLE else console_cli.make_parser
            given = [topic, *given]
        try:
            parser().parse_args(given)
        except (SystemExit, SettingsProblem):
            pytest.fail(f"docs/faults.md: python -m server {topic}{rest}")


def test_every_setting_is_one() -> None:
    flags = {row.flag for row in SETTINGS}
    of_commands = {"--days", "--dry-run", "--without", "--name", "--group", "--against"}
    outside_code = re.sub(r"`[a-z][^`]* [^`]*`", "", GUIDE)
    assert set(re.findall(r"`(--[a-z-]+)", outside_code)) - of_commands <= flags


def test_every_exit_code_has_a_line() -> None:
    table = GUIDE.partition("## A node does not start")[2].partition("## Accounts")[0]
    codes = set(re.findall(r"^\| (\d) \|", table, re.MULTILINE))
    assert codes == set(re.findall(r"^\| (\d) \| \w", OPERATIONS, re.MULTILINE)) == set("01234567")


@pytest.mark.parametrize("section", ["A document does not open", "Sign-in is refused"])
def test_every_code_of_a_refusal_is_one(section: str) -> None:
    table = GUIDE.partition(f"### {section}\n\n")[2]
    codes = re.findall(r"`(\w+)`(?=[^|]*\|)", "\n".join(_first_cells(table)))
    assert len(codes) >= 5
    known = {*STATUS, *(word for area in AREAS for word in words(area))}
    assert set(codes) <= known


def test_what_the_page_says_stands_in_its_words() -> None:
    table = GUIDE.partition("## What a person sees")[2].partition("\n## ")[0]
    said = re.findall(r"^\| \*(.+?)\*", table, re.MULTILINE)
    assert len(said) >= 10
    files = (ROOT / "webui" / "src" / "words" / "en").glob("*.ts")
    catalogue = "\n".join(file.read_text("utf-8") for file in files)
    parts = {part.strip() for one in said for part in re.split(r" · |\b2\b|\bb\b| …", one)}
    assert not {part for part in parts if part not in catalogue}


def test_every_line_of_a_log_is_one() -> None:
    said = [one for one in re.findall(r"`([^`\n]+)`", GUIDE) if "…" in one and " " in one]
    lines = [one for one in said if not one.startswith(("-", "python"))]
    assert len(lines) >= 6
    files = [file for name in ("server", "groupcore") for file in (ROOT / name).rglob("*.py")]
    code = "\n".join(file.read_text("utf-8") for file in files)
    code = re.sub(r'"\n\s*f?"', "", code)
    parts = {part.strip() for one in lines for part in one.split("…")}
    assert not {part for part in parts if part not in code}


def test_every_reason_of_waiting_has_a_line() -> None:
    listed, known = (
        set(re.findall(r"`(\w+)`", "\n".join(_first_cells(text.partition("| `reason` |")[2]))))
        for text in (GUIDE, OPERATIONS)
    )
    assert listed == known >= {"first", "quorum", "bound", "foreign", "taking"}


def _first_cells(text: str) -> list[str]:
    """The first cells of the rows that begin with code, up to the end of the table."""
    rows = [row for row in text.partition("\n\n")[0].splitlines() if row.startswith("| `")]
    return [f"{row.split('|')[1]}|" for row in rows]
