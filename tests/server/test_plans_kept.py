"""What a node keeps of plans: what they were to bring, and have brought, over a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from server import plans
from server.console.measuring import Measuring
from server.plans import NAME
from server.serve import RunningNode
from tests.server.support import Cluster, eventually, get, post
from tests.server.test_plans import ended, written

pytestmark = pytest.mark.slow

Json = Any


async def test_what_a_plan_has_brought_is_known_behind_a_restart(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "SETTLED_S", 0.05)
    running = await cluster.start("a")
    at = f"{running.admin_url}/admin/plans"
    expects = {"imbalance": [3.0, 1.1], "latency_us": [900, 700.5], "fullest_us": "much"}
    plan = {**written(documents="a"), "expects": expects}
    _, given = await post(at, plan)
    told = {"imbalance": [3.0, 1.1], "latency_us": [900.0, 700.5]}
    assert given["expects"] == told

    async def is_measured() -> bool:
        return (await get(f"{at}/{given['id']}"))[1]["brought"] is not None

    await eventually(is_measured, "it is measured")
    before = (await get(f"{at}/{given['id']}"))[1]
    await cluster.stop("a")
    folder = running.settings.data
    with (folder / NAME).open("a", encoding="utf-8") as file:
        file.write('{"id": "a-1-1", "began_s"')  # the end of a life may cut a line short
    running = await cluster.start("a")
    after = (await get(f"{running.admin_url}/admin/plans/{given['id']}"))[1]
    assert after == before
    listed = (await get(f"{running.admin_url}/admin/plans"))[1]["plans"]
    assert [(one["id"], one["expects"]) for one in listed] == [(given["id"], told)]
    for wrong in ({"imbalance": [1, 2, 3]}, {"imbalance": [True, "x"]}, {"imbalance": [-1, 1e13]}):
        status, looked = await post(
            f"{running.admin_url}/admin/plans?dry_run=true", plan | {"expects": wrong}
        )
        assert (status, looked["expects"]) == (200, {"imbalance": None, "latency_us": None})
    assert (await post(f"{running.admin_url}/admin/plans", plan | {"expects": []}))[0] == 422


async def test_what_the_pipeline_has_measured_stays_with_the_plan(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of measures is written anew by each run of the pipeline, and may go."""
    monkeypatch.setattr(plans, "SETTLED_S", 0.05)
    cluster.size = 2
    a, b = await cluster.start_all("a", "b")
    _, given = await post(f"{a.admin_url}/admin/plans", written(documents="a"))
    ended_s = (await ended(a, given["id"]))["ended_s"]
    results = tmp_path / "results"
    results.mkdir()

    def look(running: RunningNode) -> Measuring:
        console = running.console
        return Measuring(results, console.colleagues, console.bearer)

    async def measured(running: RunningNode) -> Json:
        return (await get(f"{running.admin_url}/admin/plans/{given['id']}"))[1]["measured"]

    def leave(*imbalances: float) -> None:
        windows = [
            {"at_s": ended_s + at, "imbalance": one, "latency_us": 800.0}
            for at, one in enumerate(imbalances, 1)
        ]
        (results / "load.json").write_text(json.dumps({"windows": windows}), encoding="utf-8")

    await look(b).look()  # no file yet
    leave(1.5, 1.3)
    assert await measured(a) is None
    await look(b).look()
    found = {"windows": 2, "imbalance": 1.4, "latency_us": 800.0}
    assert await measured(a) == await measured(b) == found
    leave(9.0)  # of a run that has looked at less
    await look(b).look()
    assert await measured(b) == found
    (results / "load.json").unlink()
    await cluster.stop("a")
    a = await cluster.start("a")
    assert await measured(a) == found
    leave(1.5, 1.3, 1.2)
    await look(b).look()
    assert (await measured(a))["windows"] == 3  # of a plan of a former life, too
    (listed,) = (await get(f"{b.admin_url}/admin/plans"))[1]["plans"]
    assert listed["measured"]["imbalance"] == 1.3
