"""The dashboard and the alert rules that are shipped ask for metrics that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from server.console import health
from tests.server.support import Cluster, create, eventually, get

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "operations"
BOARD: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
ALERTS = (FOLDER / "alerts.yml").read_text("utf-8")
NAME = re.compile(r"\bgroupcore_\w+")
LABELS = re.compile(r"by \((\w+)\)|\{\{(\w+)\}\}|(\w+)=~?\"")
FROM_OUTSIDE = {"instance", "job", "le"}


def questions() -> list[str]:
    """All that dashboard and rules ask."""
    asked = [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]
    return asked + re.findall(r"^ +expr: '(.+)'$", ALERTS, re.MULTILINE)


async def exported(tmp_path: Path) -> set[str]:
    """What a node that has done a little has; also where there was nothing to count yet."""
    cluster = Cluster(tmp_path)
    try:
        node = await cluster.start("a")
        await create(node)
        await eventually(lambda: bool(node.console.series.samples), "a sample")
        status, text = await get(f"{node.admin_url}/metrics")
        assert status == 200
        helped = re.findall(r"^# (?:HELP|TYPE) (\S+)", text, re.MULTILINE)
        said = re.findall(r"^(groupcore_\w+)", text, re.MULTILINE)
        return {*helped, *said}
    finally:
        await cluster.close()


async def test_every_metric_that_is_asked_for_is_exported(tmp_path: Path) -> None:
    names = await exported(tmp_path)
    asked = {name for question in questions() for name in NAME.findall(question)}
    assert len(asked) > 15
    assert asked <= names, f"nothing exports {sorted(asked - names)}"


def test_every_label_that_is_asked_for_is_known() -> None:
    labels = {
        label
        for question in questions()
        for found in LABELS.findall(question)
        for label in found
        if label
    }
    guide = (FOLDER.parent / "operations.md").read_text("utf-8")
    known = {
        one
        for found in re.findall(r"`groupcore_\w+\{([\w,]+)\}`", guide)
        for one in found.split(",")
    }
    assert labels - FROM_OUTSIDE <= known


def test_every_rule_says_what_is_wrong_and_what_to_do() -> None:
    rules = ALERTS.split("      - alert: ")[1:]
    assert len(rules) >= 10
    for rule in rules:
        name = rule.splitlines()[0]
        assert re.fullmatch(r"Groupcore\w+", name)
        for key in ("expr: '", "for: ", "severity: ", 'summary: "', 'description: "'):
            assert rule.count(key) == 1, (name, key)
        assert re.search(r"severity: (page|warn|info)$", rule, re.MULTILINE)


def test_the_rules_have_the_bounds_of_the_console() -> None:
    assert (
        f'groupcore_queue_wait_seconds{{job="groupcore"}} > {health.WAIT_MS / 1000:g}\'' in ALERTS
    )
    assert f"[2m]) > {health.CPU_PERCENT / 100:g}'" in ALERTS
    assert f"> {health.LOG_QUEUE_BYTES >> 20} * 1024 * 1024'" in ALERTS


def test_panels_do_not_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
