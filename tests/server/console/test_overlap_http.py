"""The overlap map over HTTP, of a cluster of three nodes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from groupcore.sequencing.names import Order
from tests.server.accounts.people import Browser, hire
from tests.server.console.stores import COMPONENT, DELIVERY, VIEW, VIOLATION, keep
from tests.server.support import Cluster, eventually

pytestmark = pytest.mark.slow

Json = Any


async def shown(ann: Browser, path: str) -> Json:
    status, answer = await ann.ask("GET", f"/admin{path}")
    assert status == 200, answer
    return answer


async def test_documents_that_two_people_have_open_hang_together_and_are_free(
    ann: Browser, cluster: Cluster
) -> None:
    await hire(ann, "bob", "editor")
    docs = [await ann.create(f"Plan {number}") for number in range(3)]
    async with Browser(cluster.nodes["b"]) as bob:
        await bob.sign_in("bob@example.org")
        async with await ann.page() as one, await bob.page() as other:
            for page in (one, other):
                for doc in docs[:2]:
                    await page.open("DocumentOutline", f"doc/{doc}")

            async def hang_together() -> bool:
                return bool((await shown(ann, "/overlap"))["components"])

            await eventually(hang_together, "two documents hang together")
            found = await shown(ann, "/overlap")
            (component,) = found["components"]
            assert sorted(component["names"]) == sorted(f"doc/{doc}" for doc in docs[:2])
            assert (component["groups"], component["bound"]) == (2, 0)
            assert found["alone"] == found["groups"] - 2
            assert sum(home["groups"] for home in component["homes"]) == 2
            assert found["observers"] == []
            closely = await shown(ann, f"/overlap/{component['component']}")
            assert [row["name"] for row in closely["rows"]] == [
                row["name"] for row in closely["drawn"]
            ]
            (edge,) = closely["edges"]
            assert (edge["common"], edge["bound"]) == (2, False)
            assert closely["cost"]["split"] is None
            assert closely["cost"]["count"] == 1


async def test_strict_groups_are_bound_and_it_is_said_what_a_move_and_a_split_cost(
    ann: Browser, cluster: Cluster
) -> None:
    groups = cluster.nodes["a"].node.objects.groups
    ids = [await groups.create(f"strict-{name}", Order.STRICT) for name in "xyz"]
    first, second, third = (groups.open_process() for _ in range(3))
    for process, joined in ((first, ids), (second, ids[:2]), (third, ids[1:])):
        for group in joined:
            await groups.join(process, group)
    name = "strict-y"
    found = await shown(ann, f"/overlap/{name}")
    assert (found["groups"], found["bound"], found["units"]) == (3, 3, 1)
    assert {(edge["common"], edge["bound"]) for edge in found["edges"]} == {(2, True)}
    cost = found["cost"]
    assert (cost["name"], cost["count"], cost["processes"]) == (name, 3, 3)
    assert sorted(cost["unit"]) == ["strict-x", "strict-y", "strict-z"]
    assert len(cost["targets"]) == 2
    for target in cost["targets"]:
        before, after = target["load_us"]
        assert after == before + cost["load_us"]
    who = {one["process"]: one for one in cost["split"]["who"]}
    assert set(who) == {first.number, second.number, third.number}
    assert (who[first.number]["parts"], who[first.number]["largest"]) == (3, 1)
    assert (who[second.number]["parts"], who[second.number]["largest"]) == (2, 2)
    home = cost["from"]
    target = cost["targets"][0]["node"]
    assert (await ann.ask("POST", "/admin/migrations", {"group": name, "to": target}))[0] == 201

    async def have_moved() -> bool:
        moved = await shown(ann, f"/overlap/{name}")
        return bool(moved["homes"] == [{"node": target, "groups": 3}] and moved["cost"]["pause_ms"])

    await eventually(have_moved, f"all three go from {home} to {target}")


async def test_what_the_pipeline_has_left_is_shown(
    ann: Browser, cluster: Cluster, tmp_path: Path
) -> None:
    assert (await shown(ann, "/overlap"))["pipeline"] is None
    assert await shown(ann, "/order/violations") == {"audited": False}
    settings = cluster.nodes["a"].settings
    object.__setattr__(settings, "results", tmp_path / "results")
    group = (await shown(ann, "/groups?search=accounts"))["groups"][0]["group"]
    violation = {"rule": "gap", "gid": group, "seq": 4, "node": "a#1", "message": "a#1/2:3"}
    delivery = {"t": datetime(2026, 1, 1, tzinfo=UTC), "node": "a#1", "dno": 1, "gid": group}
    delivery |= {"seq": 4, "count": 1, "what": 0, "sender": "a#1/2", "first": 3}
    tables = {
        "overlap_component": (COMPONENT, [{"gid": group, "component": group}]),
        "audit_violation": (VIOLATION, [violation]),
        "delivery": (DELIVERY, [delivery]),
    }
    (tmp_path / "results").mkdir()
    keep(tmp_path / "results" / "store", 1, tables, {"audit": {}})
    view = {"t": datetime(2026, 1, 1, tzinfo=UTC), "number": 1, "epoch": 0, "primary": True}
    keep(
        tmp_path / "results" / "store",
        2,
        {**tables, "view": (VIEW, [{**view, "members": ["old#1"]}])},
        {"audit": {}},
    )
    views = (await shown(ann, "/views"))["views"]
    assert views[-1]["members"] == ["old"]  # of before all nodes' lives
    assert len(views[0]["members"]) == 3
    pipeline = (await shown(ann, "/overlap"))["pipeline"]
    assert pipeline["largest"][0]["name"] == "accounts"
    found = await shown(ann, "/order/violations?rule=gap")
    (one,) = found["violations"]
    assert (one["group"], one["group2"], one["seq"]) == ("accounts", "", 4)
    one_alone = await shown(ann, f"/order/violations/{one['id']}")
    (around,) = one_alone.pop("around")
    assert one_alone == one
    assert (around["group"], [node["node"] for node in around["nodes"]]) == ("accounts", ["a#1"])
    status, answer = await ann.ask("GET", "/admin/order/violations/9-9")
    assert (status, answer["code"]) == (404, "unknown_violation")
