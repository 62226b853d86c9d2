"""docs/operations.md and the program say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from server.metrics import COUNTERS, GAUGES
from server.settings import SETTINGS
from tests.server.support import Cluster, get

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text("utf-8")


def test_the_guide_has_every_setting_as_the_program_has_it() -> None:
    for row in SETTINGS:
        default = f"`{row.default}`" if row.default else "-"
        line = f"| `{row.flag}` | `{row.variable}` | {row.unit or '-'} | {default} | {row.text} |"
        assert line in GUIDE


def test_the_guide_names_every_metric() -> None:
    for name in (*GAUGES, *COUNTERS):
        assert f"`groupcore_{name}" in GUIDE


@pytest.mark.slow
async def test_the_guide_has_all_that_a_node_says_at_metrics_with_its_type(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        node = await cluster.start("a")
        _, text = await get(f"{node.admin_url}/metrics")
    finally:
        await cluster.close()
    said = re.findall(r"^# TYPE (\S+) (\w+)$", text, re.MULTILINE)
    rows = re.findall(r"^\| `(groupcore_\w+)(?:\{[\w,]+\})?` \| (\w+) \|", GUIDE, re.MULTILINE)
    assert set(rows) == {one for one in said if not one[0].startswith("groupcore_channel_")}
    assert "| `groupcore_channel_…` | gauge |" in GUIDE
