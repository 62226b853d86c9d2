"""What is done at the console over HTTP, to a cluster of three nodes, and what is written of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from server.main import main
from tests.management import credentials
from tests.server.accounts.people import Browser, hire
from tests.server.console.stores import certified
from tests.server.support import Cluster, Page, eventually

pytestmark = pytest.mark.slow

Json = Any
SOON_S = 10.0
"""What is to happen at all nodes has happened by then, on a busy machine, too."""


async def asked(ann: Browser, method: str, path: str, body: object = None, want: int = 200) -> Json:
    status, answer = await ann.ask(method, f"/admin{path}", body)
    assert status == want, answer
    return answer


async def noted(ann: Browser, what: str) -> list[str]:
    """What the audit log says this was done to."""
    entries = (await ann.ask("GET", "/audit"))[1]["entries"]
    return [one["about"] for one in entries if one["what"] == what]


async def owner_of(ann: Browser, name: str) -> str:
    found = await asked(ann, "GET", f"/groups?search={name}")
    (row,) = [one for one in found["groups"] if one["name"] == name]
    return str(row["sequencer"])


async def new_group(ann: Browser, cluster: Cluster, name: str = "wanderer") -> str:
    """A group that a sequences."""
    await cluster.nodes["a"].node.objects.groups.create(name)
    await asked(ann, "POST", "/migrations", {"group": name, "to": "a"}, 201)

    async def is_there() -> bool:
        return await owner_of(ann, name) == "a"

    await eventually(is_there, f"{name} is at a")
    return name


async def test_a_group_goes_where_it_is_sent_and_the_timeline_says_how(
    ann: Browser, cluster: Cluster
) -> None:
    name = await new_group(ann, cluster)
    begun = await asked(ann, "POST", "/migrations", {"group": name, "to": "c"}, 201)
    assert begun["total"] == 1

    async def is_told() -> bool:
        found = await asked(ann, "GET", "/migrations")
        assert found["silent"] == []
        newest = found["migrations"][0]
        return (newest["target"], newest["phase"]) == ("c", "resumed")

    await eventually(is_told, "the move is told whole")
    move = (await asked(ann, "GET", "/migrations"))["migrations"][0]
    assert (move["source"], move["reason"], move["count"]) == ("a", "plan", 1)
    assert move["groups"][0]["name"] == name
    assert isinstance(move["groups"][0]["last"], int)
    assert move["pause_ms"] > 0
    assert move["stopped_s"] is not None
    after = move["after_ms"]
    assert after["stopped"] >= 0
    assert after["ended"] >= 0
    assert after["resumed"] == move["pause_ms"]
    assert not move["can_cancel"]
    assert await owner_of(ann, name) == "c"
    assert f"{name} to c" in await noted(ann, "group.moved")
    gone = await asked(ann, "POST", f"/migrations/{move['move']}/cancel", None, 404)
    assert gone["code"] == "unknown_move"
    wrong = await asked(ann, "POST", "/migrations", {"group": name, "to": "zebra"}, 404)
    assert wrong["code"] == "unknown_node"


async def test_a_move_that_does_not_end_is_cancelled_and_the_group_goes_on_where_it_was(
    ann: Browser, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source cannot say where the group ended, and so the order does not move it."""
    doc = await ann.create()
    name = f"doc/{doc}"
    await asked(ann, "POST", "/migrations", {"group": name, "to": "a"}, 201)

    async def is_at_a() -> bool:
        return await owner_of(ann, name) == "a"

    await eventually(is_at_a, f"{name} is at a")
    ownership = cluster.nodes["a"].node.objects.groups.service.sequencer.ownership
    monkeypatch.setattr(ownership, "stopped_at", lambda groups: None)

    async def newest() -> Json:
        return (await asked(ann, "GET", "/migrations"))["migrations"][0]

    async with await ann.page() as page:
        assert (await page.open("DocumentOutline", name))["t"] == "snapshot"
        plan = await asked(ann, "POST", "/migrations", {"group": name, "to": "b"}, 201)

        async def is_under_way() -> bool:
            move = await newest()
            return (move["target"], move["phase"], move["can_cancel"]) == ("b", "began", True)

        ann.go(cluster.nodes["c"])  # whichever node is asked
        await eventually(is_under_way, "the move is under way")
        move = await newest()
        renaming = asyncio.create_task(page.call(name, "rename", "Later"))
        await asked(ann, "POST", f"/migrations/{move['move']}/cancel", None, 202)

        async def is_called_off() -> bool:
            return bool((await newest())["phase"] == "cancelled")

        await eventually(is_called_off, "the move is called off")
        async with asyncio.timeout(SOON_S):
            assert (await renaming)["t"] == "result"  # it gets numbers again
    assert await owner_of(ann, name) == "a"
    assert await noted(ann, "migration.cancelled") == [str(move["move"])]
    over = await newest()  # it was not asked for again
    assert (over["move"], over["can_cancel"]) == (move["move"], False)
    assert (over["after_ms"]["stopped"], over["pause_ms"]) == (None, None)
    (step,) = (await asked(ann, "GET", f"/plans/{plan['id']}"))["steps"]
    assert (step["state"], step["why"]) == ("failed", "its move was called off")
    again = await asked(ann, "POST", f"/migrations/{move['move']}/cancel", None, 404)
    assert again["code"] == "unknown_move"


async def test_a_plan_is_looked_at_carried_out_and_seen_from_every_node(
    ann: Browser, cluster: Cluster
) -> None:
    name = await new_group(ann, cluster)
    plan = {"plan": 1, "groups": {name: "b"}}
    looked = await asked(ann, "POST", "/plans?dry_run=true", plan)
    assert [one["to"] for one in looked["moves"]] == ["b"]
    assert {one["node"]: one["groups"][1] - one["groups"][0] for one in looked["nodes"]} == {
        "a": -1,
        "b": 1,
        "c": 0,
    }
    assert len(looked["imbalance"]) == 2
    assert await owner_of(ann, name) == "a"
    given = await asked(ann, "POST", "/plans", plan, 201)
    ann.go(cluster.nodes["c"])

    async def is_done() -> bool:
        found = await asked(ann, "GET", f"/plans/{given['id']}")
        return bool(found["state"] == "done")

    await eventually(is_done, "the plan is done")
    steps = (await asked(ann, "GET", f"/plans/{given['id']}"))["steps"]
    assert [(one["name"], one["state"]) for one in steps] == [(name, "done")]
    found = await asked(ann, "GET", "/plans")
    assert given["id"] in {one["id"] for one in found["plans"]}
    assert {one["node"] for one in found["nodes"]} == {"a", "b", "c"}
    assert await noted(ann, "plan.given") == [f"{given['id']}, groups: 1"]
    bad = await asked(ann, "POST", "/plans", {"plan": 1, "groups": {"no such": "b"}}, 422)
    assert bad["refused"]["item"] == "'no such'"
    assert (await asked(ann, "GET", "/plans/nothing", None, 404))["code"] == "unknown_plan"
    await asked(ann, "POST", f"/plans/{given['id']}/cancel")
    assert await noted(ann, "plan.cancelled") == [given["id"]]


async def test_the_pipeline_s_plan_is_shown(ann: Browser, cluster: Cluster, tmp_path: Path) -> None:
    assert (await asked(ann, "GET", "/plans"))["proposed"] is None
    settings = cluster.nodes["a"].settings
    object.__setattr__(settings, "results", tmp_path)
    for text in ("[]", "{", json.dumps({"plan": 1})):
        (tmp_path / "plan.json").write_text(text, encoding="utf-8")
        assert (await asked(ann, "GET", "/plans"))["proposed"] is None
    plan = {"plan": 1, "groups": {"1": "b", "2": "c"}}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    proposed = (await asked(ann, "GET", "/plans"))["proposed"]
    assert (proposed["plan"], proposed["groups"]) == (plan, 2)
    assert (proposed["infeasible"], proposed["supposes"]) == ([], [])
    plan = {"plan": 1, "groups": {}, "infeasible": ["Add nodes.", 7], "supposes": ["a", "d"]}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    proposed = (await asked(ann, "GET", "/plans"))["proposed"]
    assert (proposed["groups"], proposed["infeasible"]) == (0, ["Add nodes."])
    assert proposed["supposes"] == ["a", "d"]


async def test_a_node_is_drained_revived_and_sent_away(ann: Browser, cluster: Cluster) -> None:
    await asked(ann, "POST", "/nodes/b/drain")

    async def is_empty() -> bool:
        nodes = (await asked(ann, "GET", "/overview"))["nodes"]
        (b,) = [one for one in nodes if one["node"] == "b"]
        return bool(b["draining"] and b["standing"]["groups_sequenced"] == 0)

    await eventually(is_empty, "b sequences nothing")
    codes = {one["code"] for one in (await asked(ann, "GET", "/overview"))["alerts"]}
    assert "draining" in codes
    await asked(ann, "POST", "/nodes/b/revive")

    async def is_revived() -> bool:
        nodes = (await asked(ann, "GET", "/overview"))["nodes"]
        return not any(one["draining"] for one in nodes)

    await eventually(is_revived, "b is revived")
    await asked(ann, "POST", "/nodes/zebra/drain", None, 404)
    await asked(ann, "POST", "/nodes/c/leave", None, 202)
    await eventually(lambda: cluster.nodes["c"].leaving.done(), "c is told to leave")
    assert not cluster.nodes["a"].leaving.done()
    for what in ("node.drained", "node.revived"):
        assert await noted(ann, what) == ["b"]
    assert await noted(ann, "node.left") == ["c"]


async def test_sessions_of_all_nodes_are_shown_and_one_is_ended(
    ann: Browser, cluster: Cluster
) -> None:
    await hire(ann, "bob")
    async with Browser(cluster.nodes["b"]) as bob:
        await bob.sign_in("bob@example.org")
        async with await ann.page(), await bob.page() as page:
            found = await asked(ann, "GET", "/sessions")
            assert {one["name"] for one in found["sessions"]} == {"Ann", "bob"}
            assert found["counts"] == {"a": 1, "b": 1, "c": 0}
            found = await asked(ann, "GET", "/sessions?search=BO")
            (row,) = found["sessions"]
            assert (row["node"], row["connected"], row["withheld"]) == ("b", True, 0)
            await asked(ann, "POST", "/sessions/end", {"session": row["session"]}, 204)
            await page.closed()
            assert page.close_code == 4403
            assert (await bob.ask("GET", "/me"))[0] == 401  # the sign-in is over, too
            again = await asked(ann, "POST", "/sessions/end", {"session": row["session"]}, 404)
            assert again["code"] == "no_such_session"
            assert len(await noted(ann, "session.ended")) == 1


async def test_all_sessions_of_a_person_are_ended_at_all_nodes(
    ann: Browser, cluster: Cluster
) -> None:
    """Those of programs with a token, too; the token stays good."""
    bob = await hire(ann, "bob")
    b, c = cluster.nodes["b"], cluster.nodes["c"]
    async with Browser(b) as browser, Browser(c) as program:
        await browser.sign_in("bob@example.org")
        wanted = {"name": "robot", "scopes": ["documents:write"]}
        status, token = await browser.ask("POST", "/tokens", wanted)
        assert status == 201, token
        bearer = {"Authorization": f"Bearer {token['secret']}"}

        async def opened() -> Page:
            status, made = await program.ask("POST", "/ticket", **bearer)
            assert status == 201, made
            return Page(c.url, ticket=made["ticket"])

        async with await ann.page() as anns, await browser.page() as page, await opened() as robot:
            found = await asked(ann, "GET", "/sessions?search=bob")
            assert {(one["node"], one["user"]) for one in found["sessions"]} == {
                ("b", bob),
                ("c", bob),
            }
            assert (await ann.ask("DELETE", f"/users/{bob}/sessions"))[0] == 204
            async with asyncio.timeout(SOON_S):
                await asyncio.gather(page.closed(), robot.closed())
            assert (page.close_code, robot.close_code) == (4403, 4403)
            assert anns.close_code is None
            assert (await asked(ann, "GET", "/sessions?search=bob"))["sessions"] == []
            assert (await browser.ask("GET", "/me"))[0] == 401
            async with await opened() as again:
                assert again.welcome["t"] == "welcome"


async def test_who_is_no_owner_does_nothing(ann: Browser, cluster: Cluster) -> None:
    await hire(ann, "bob")
    async with Browser(cluster.nodes["b"]) as bob:
        await bob.sign_in("bob@example.org")
        for path in ("/nodes/b/drain", "/nodes/b/leave", "/keys/rotate", "/plans/x/cancel"):
            await asked(bob, "POST", path, None, 403)
        await asked(bob, "POST", "/migrations", {"group": "1", "to": "b"}, 403)
        await asked(bob, "POST", "/sessions/end", {"session": "a#1/1"}, 403)
    assert not cluster.nodes["b"].leaving.done()


async def test_the_same_is_done_on_the_management_address(cluster: Cluster, ann: Browser) -> None:
    url = f"{cluster.nodes['b'].admin_url}/admin/nodes/c/drain"
    async with (
        aiohttp.ClientSession(headers=credentials(url)) as http,
        http.post(url) as answer,
    ):
        assert answer.status == 200, await answer.text()
    assert await noted(ann, "node.drained") == ["c"]


async def test_the_certificate_is_shown_and_its_signature_looked_at(
    ann: Browser, cluster: Cluster, tmp_path: Path
) -> None:
    assert await asked(ann, "GET", "/order") == {"audit": None}
    object.__setattr__(cluster.nodes["a"].settings, "results", tmp_path)
    said = {"result": "kept", "deliveries": 7, "rules": {}, "nodes": {}}
    document = certified(said)
    (tmp_path / "order.json").write_text(json.dumps(document), encoding="utf-8")
    found = (await asked(ann, "GET", "/order"))["audit"]
    assert (found["certificate"], found["signed"]) == (said, True)
    forged = {**document, "certificate": {**said, "deliveries": 8}}
    for wrong in (forged, {"certificate": said}, {**document, "key": "?"}):
        (tmp_path / "order.json").write_text(json.dumps(wrong), encoding="utf-8")
        assert not (await asked(ann, "GET", "/order"))["audit"]["signed"]
    for text in (b"{", b"[]", b"{}"):
        (tmp_path / "order.json").write_bytes(text)
        assert (await asked(ann, "GET", "/order"))["audit"] is None


async def test_a_broken_or_forged_certificate_raises_an_alarm(
    ann: Browser, cluster: Cluster, tmp_path: Path
) -> None:
    object.__setattr__(cluster.nodes["a"].settings, "results", tmp_path)

    async def alarms(document: object) -> Json:
        (tmp_path / "order.json").write_text(json.dumps(document), encoding="utf-8")
        found = await asked(ann, "GET", "/overview")
        assert (found["health"] == "bad") == bool(found["alerts"]), found["alerts"]
        return found["alerts"]

    kept = certified({"result": "kept", "deliveries": 7, "rules": {}})
    assert await alarms(kept) == []
    rules = {"gap": {"violations": 2}, "twice": {"violations": 1}}
    broken = certified({"result": "broken", "rules": rules})
    about = {"violations": 3}
    assert await alarms(broken) == [{"level": "bad", "code": "order_broken", "about": about}]
    forged = {**broken, "certificate": kept["certificate"]}
    for document in (forged, {"certificate": kept["certificate"]}):
        (alarm,) = await alarms(document)
        assert (alarm["level"], alarm["code"]) == ("bad", "certificate_forged")
    for odd in ({"result": "broken", "rules": []}, {"result": "broken", "rules": {"gap": 1}}):
        assert [one["about"] for one in await alarms(certified(odd))] == [{"violations": 0}]


async def test_a_backup_is_taken_at_the_console_and_verified(
    ann: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await ann.create("Kept")
    file = tmp_path / "backup.tar"
    async with ann.http.get(f"{ann.node.url}/api/v1/admin/backup") as answer:
        assert answer.status == 200
        assert "attachment" in answer.headers["content-disposition"]
        file.write_bytes(await answer.read())
    assert await asyncio.to_thread(main, ["backup", "verify", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 1
    await eventually_noted(ann, "backup.taken")


async def eventually_noted(ann: Browser, what: str) -> None:
    async def is_noted() -> bool:
        return bool(await noted(ann, what))

    await eventually(is_noted, f"{what} is in the log")
