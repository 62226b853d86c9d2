"""What the console shows over HTTP, gathered from three nodes."""

from __future__ import annotations

from typing import Any

import pytest

from server.console import colleagues
from server.console.groups import PAGE
from tests.server.accounts.people import Browser, hire
from tests.server.support import Cluster, eventually, get

pytestmark = pytest.mark.slow

Json = Any


async def shown(ann: Browser, path: str) -> Json:
    status, answer = await ann.ask("GET", f"/admin{path}")
    assert status == 200, answer
    return answer


async def test_the_overview_has_all_nodes_as_they_say_themselves(ann: Browser) -> None:
    found = await shown(ann, "/overview")
    assert [one["node"] for one in found["nodes"]] == ["a", "b", "c"]
    for one in found["nodes"]:
        assert one["standing"]["state"] == "serving"
        assert one["standing"]["view"] == found["views"][0]["id"]
        assert one["url"].startswith("http://127.0.0.1:")
    assert found["health"] == "good", found["alerts"]
    assert sum(one["standing"]["groups_sequenced"] for one in found["nodes"]) == found["groups"]
    assert found["views"][0]["members"] == ["a", "b", "c"] or len(found["views"][0]["members"]) == 3


async def test_a_node_that_does_not_answer_is_said_to_be_silent(
    ann: Browser, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(colleagues, "ANSWER_S", 0.2)

    async def never(node: str, asked: bytes) -> bytes | None:
        return None

    monkeypatch.setattr(cluster.nodes["a"].console.colleagues._line, "ask", never)
    found = await shown(ann, "/overview")
    assert [one["standing"] is None for one in found["nodes"]] == [False, True, True]
    assert found["health"] == "bad"
    assert {alert["about"]["node"] for alert in found["alerts"]} == {"b", "c"}


async def test_a_node_that_has_gone_is_missed(ann: Browser, cluster: Cluster) -> None:
    await cluster.stop("c")

    async def is_missed() -> bool:
        found = await shown(ann, "/overview")
        return {"node_away", "nodes_missing"} <= {alert["code"] for alert in found["alerts"]}

    await eventually(is_missed, "c is missed")


async def test_the_load_of_each_node_moves_on(ann: Browser) -> None:
    await ann.create()

    async def has_samples() -> bool:
        nodes = (await shown(ann, "/load"))["nodes"]
        return all(nodes[name] for name in "abc")

    await eventually(has_samples, "samples of all", 0.1)
    nodes = (await shown(ann, "/load"))["nodes"]
    newest = max(sample[0] for samples in nodes.values() for sample in samples)
    again = (await shown(ann, f"/load?since={newest}"))["nodes"]
    assert all(sample[0] > newest for samples in again.values() for sample in samples)
    assert all(len(sample) == 7 for samples in nodes.values() for sample in samples)


async def test_groups_are_found_sorted_and_paged(ann: Browser, cluster: Cluster) -> None:
    groups = cluster.nodes["b"].node.objects.groups
    for number in range(PAGE + 5):
        await groups.create(f"zoo-{number:03}")
    found = await shown(ann, "/groups?search=ZOO&sort=name")
    assert (found["count"], found["pages"], len(found["groups"])) == (PAGE + 5, 2, PAGE)
    assert [one["name"] for one in found["groups"][:2]] == ["zoo-000", "zoo-001"]
    rest = await shown(ann, "/groups?search=zoo&sort=name&page=2")
    assert [one["name"] for one in rest["groups"]] == [f"zoo-{n:03}" for n in range(PAGE, PAGE + 5)]
    assert found["all"] > found["count"]
    one = found["groups"][0]
    by_node = await shown(ann, f"/groups?search=zoo&sequencer={one['sequencer']}")
    assert {row["sequencer"] for row in by_node["groups"]} == {one["sequencer"]}
    assert (await ann.ask("GET", "/admin/groups?sort=colour"))[0] == 400
    assert (await ann.ask("GET", "/admin/groups?page=0"))[0] == 400


async def test_one_group_says_who_is_in_it_and_how_far_each_node_is(
    ann: Browser, cluster: Cluster
) -> None:
    doc = await ann.create()
    async with await ann.page() as page:
        await page.open("DocumentOutline", f"doc/{doc}")
        found = await shown(ann, "/groups?search=doc/")
        (row,) = [one for one in found["groups"] if one["name"] == f"doc/{doc}"]
        assert row["members"] > 0
        one = await shown(ann, f"/groups/{row['group']}")
        assert {node["node"] for node in one["nodes"]} == {"a", "b", "c"}
        assert any(node["position"] == one["head"] for node in one["nodes"])
        assert "Ann" in {person["name"] for person in one["people"]}
        title = (await ann.ask("GET", f"/documents/{doc}"))[1]["title"]
        assert (row["title"], one["title"]) == (title, title)
        titled = await shown(ann, f"/groups?search={title.upper()}")
        assert row["name"] in {one["name"] for one in titled["groups"]}
    assert (await ann.ask("GET", "/admin/groups/nothing"))[1]["code"] == "unknown_group"


async def test_a_node_shows_its_settings_but_no_secret(ann: Browser, cluster: Cluster) -> None:
    for name in "ab":
        found = await shown(ann, f"/nodes/{name}")
        settings = {one["flag"]: one for one in found["settings"]}
        assert settings["--node-id"]["value"] == name
        assert settings["--k"]["default"]
        assert not settings["--http"]["default"]
        assert settings["--key-file"] == {**settings["--key-file"], "value": "", "masked": False}
        assert isinstance(found["drops"], dict)
    assert (await ann.ask("GET", "/admin/nodes/zebra"))[1]["code"] == "unknown_node"


async def test_who_is_no_owner_is_told_nothing(ann: Browser, cluster: Cluster) -> None:
    await hire(ann, "bob")
    async with Browser(cluster.nodes["b"]) as bob:
        assert (await bob.ask("GET", "/admin/overview"))[0] == 401
        await bob.sign_in("bob@example.org")
        for path in ("/overview", "/load", "/groups", "/groups/1", "/nodes/a"):
            assert (await bob.ask("GET", f"/admin{path}"))[0] == 403, path


async def test_the_same_is_on_the_management_address(cluster: Cluster) -> None:
    status, found = await get(f"{cluster.nodes['b'].admin_url}/admin/overview")
    assert (status, found["asked"]) == (200, "b")
    assert len(found["nodes"]) == 3
