"""docs/operations.md and the program say the same."""

from __future__ import annotations

from pathlib import Path

from server.metrics import COUNTERS, GAUGES
from server.settings import SETTINGS

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text("utf-8")


def test_the_guide_has_every_setting_as_the_program_has_it() -> None:
    for row in SETTINGS:
        default = f"`{row.default}`" if row.default else "-"
        line = f"| `{row.flag}` | `{row.variable}` | {row.unit or '-'} | {default} | {row.text} |"
        assert line in GUIDE


def test_the_guide_names_every_metric() -> None:
    for name in (*GAUGES, *COUNTERS):
        assert f"`groupcore_{name}" in GUIDE
