"""Placement plans over the management address: looked at, carried out, called off, lost."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groupcore.sequencing.commands import Command, Move
from groupcore.sequencing.names import Order
from groupcore.sequencing.plan import PLAN_BYTES_MAX
from server import plans
from server.main import main
from server.plan_cli import lines_of
from server.serve import RunningNode
from tests.management import credentials
from tests.server.support import Cluster, eventually, get, post

pytestmark = pytest.mark.slow

Json = Any
NAMES = ("a", "b", "c")


def written(**groups: str) -> dict[str, object]:
    return {"plan": 1, "groups": groups}


async def some_groups(nodes: list[RunningNode], count: int) -> list[str]:
    """New groups that a sequences, and that all nodes know."""
    names = [f"g{number}" for number in range(count)]
    for name in names:
        await nodes[0].node.objects.groups.create(name)
    status, answer = await post(
        f"{nodes[0].admin_url}/admin/migrate", written(**dict.fromkeys(names, "a"))
    )
    assert (status, answer["done"]) == (200, count)
    for node in nodes:
        await eventually(lambda node=node: places(node, names) == dict.fromkeys(names, "a"), "all")  # type: ignore[misc]
    return names


def places(running: RunningNode, names: list[str]) -> dict[str, str]:
    """Who sequences each group, as a node knows it."""
    state = running.node.objects.groups.service.plane.directory.state
    found = {name: state.owner_of(state.names[name]) for name in names if name in state.names}
    return {name: owner.name for name, owner in found.items() if owner is not None}


async def ended(running: RunningNode, plan: str) -> Json:
    """The plan, when it is over."""
    found: dict[str, Json] = {}

    async def is_over() -> bool:
        found.update((await get(f"{running.admin_url}/admin/plans/{plan}"))[1])
        return found["ended_s"] is not None

    await eventually(is_over, f"plan {plan} is over")
    return found


@contextmanager
def holding(running: RunningNode, held: Callable[[Move], bool]) -> Iterator[list[Move]]:
    """Moves that this node asks for are kept back from the order, until the end."""
    plane, kept = running.node.objects.groups.service.plane, list[Move]()
    propose = plane.propose

    def hold(command: Command) -> None:
        if isinstance(command, Move) and held(command):
            kept.append(command)
        else:
            propose(command)

    plane.propose = hold  # type: ignore[method-assign]
    try:
        yield kept
    finally:
        plane.propose = propose  # type: ignore[method-assign]
        for move in kept:
            propose(move)


async def test_a_plan_is_looked_at_given_and_followed_to_its_end(cluster: Cluster) -> None:
    cluster.size = 3
    nodes = await cluster.start_all(*NAMES)
    names = await some_groups(nodes, 4)
    at = f"{nodes[0].admin_url}/admin/plans"
    plan = written(g0="b", g1="c", g2="b", g3="a")
    status, looked = await post(f"{at}?dry_run=true", plan)
    assert (status, looked["fit"], looked["refused"]) == (200, True, [])
    assert {row["name"]: (row["from"], row["to"]) for row in looked["moves"]} == {
        "g0": ("a", "b"),
        "g1": ("a", "c"),
        "g2": ("a", "b"),
    }
    assert [row["name"] for row in looked["stays"]] == ["g3"]
    assert places(nodes[0], names) == dict.fromkeys(names, "a")
    assert (await get(at))[1]["plans"][0]["state"] == "done"  # that of `some_groups`, no other
    status, given = await post(at, plan)
    assert (status, given["total"]) == (201, 4)
    assert given["left"] <= 3  # the first answer is of how far it is by then: g3 was there before
    found = await ended(nodes[0], given["id"])
    assert (found["state"], found["done"], found["failed"], found["left"]) == ("done", 4, 0, 0)
    steps = {step["name"]: step for step in found["steps"]}
    assert {name: step["state"] for name, step in steps.items()} == dict.fromkeys(names, "done")
    assert steps["g3"]["why"] == "it was there"
    assert steps["g3"]["began_s"] is None
    for name in ("g0", "g1", "g2"):
        times = (found["began_s"], *(steps[name][key] for key in ("began_s", "ended_s")))
        assert times[0] <= times[1] <= times[2] <= found["ended_s"]
    there = {"g0": "b", "g1": "c", "g2": "b", "g3": "a"}
    assert places(nodes[0], names) == there
    for node in nodes[1:]:  # the others hear of the last move when it comes in their order
        await eventually(lambda node=node: places(node, names) == there, "all know")  # type: ignore[misc]
    for node in nodes:  # the newest first, at whichever node
        listed = (await get(f"{node.admin_url}/admin/plans"))[1]["plans"]
        assert listed[0]["id"] == given["id"]


async def test_what_is_wrong_with_a_plan_is_said_for_each_group_and_nothing_moves(
    cluster: Cluster,
) -> None:
    cluster.size = 3
    nodes = await cluster.start_all(*NAMES)
    names = await some_groups(nodes, 3)
    groups = nodes[0].node.objects.groups
    tied = [await groups.create(name, Order.STRICT) for name in ("s0", "s1")]
    for process in (groups.open_process(), groups.open_process()):
        for group in tied:
            await groups.join(process, group)
    home = places(nodes[0], ["s0", "s1"])
    other = next(name for name in ("b", "c") if name not in home.values())
    drained = next(name for name in ("b", "c") if name != other)
    await post(f"{nodes[0].admin_url}/admin/drain", {"node": drained})
    state = groups.service.plane.directory.state
    await eventually(lambda: drained in state.draining, f"{drained} is drained")
    await eventually(lambda: drained not in places(nodes[0], ["s0", "s1"]).values(), "all are off")
    at = f"{nodes[0].admin_url}/admin/plans"
    plan = written(none=other, g0="z", g1=drained, s0=other, g2=other)
    status, looked = await post(f"{at}?dry_run=true", plan)
    assert (status, looked["fit"]) == (200, False)
    assert [(one["item"], one["code"]) for one in looked["refused"]] == [
        ("'none'", "unknown_group"),
        ("'g0'", "unknown_node"),
        ("'g1'", "draining"),
        (f"group {tied[0]}", "breaks_s2"),
    ]
    assert [row["name"] for row in looked["moves"]] == ["g2"]
    assert all(one["problem"] and one["remedy"] for one in looked["refused"])
    before = len((await get(at))[1]["plans"])
    for one, code in (
        (plan, "unknown_group"),
        (written(s0=other, g2=other), "breaks_s2"),
        (["no plan"], "bad_plan"),
        ({"plan": 1, "groups": {"g0": 5}}, "unknown_node"),
    ):
        status, problem = await post(at, one)
        assert (status, problem["code"], problem["refused"]["code"]) == (422, "bad_plan", code)
    async with (
        aiohttp.ClientSession(headers=credentials(at)) as http,
        http.post(at, data=b"{") as answer,
    ):
        assert (answer.status, (await answer.json())["code"]) == (422, "bad_plan")
    for query in ("dry_run=perhaps", "at_once=0", "at_once=many"):
        assert (await post(f"{at}?{query}", plan))[1]["code"] == "bad_request"
    assert len((await get(at))[1]["plans"]) == before
    assert places(nodes[0], names) == dict.fromkeys(names, "a")
    status, _ = await post(at, written(s0=other, s1=other))  # together they may
    assert status == 201
    await eventually(
        lambda: set(places(nodes[0], ["s0", "s1"]).values()) == {other}, "both are there"
    )


async def test_a_plan_that_is_cancelled_in_the_middle_leaves_the_rest_where_it_was(
    cluster: Cluster,
) -> None:
    cluster.size = 3
    nodes = await cluster.start_all(*NAMES)
    names = await some_groups(nodes, 3)
    at = f"{nodes[0].admin_url}/admin/plans"
    c = nodes[2].node.me
    with holding(nodes[0], lambda move: move.target == c) as held:
        _, given = await post(f"{at}?at_once=1", written(g0="b", g1="c", g2="b"))
        plan = f"{at}/{given['id']}"
        await eventually(lambda: len(held) == 1, "the second move is asked for")
        status, found = await get(plan)
        assert (status, found["state"], found["under_way"]) == (200, "running", 1)
        steps = {step["name"]: step["state"] for step in found["steps"]}
        assert steps == {"g0": "done", "g1": "moving", "g2": "waiting"}
        status, found = await post(f"{plan}/cancel")
        assert (status, found["state"]) == (202, "cancelling")
        steps = {one["name"]: one["state"] for one in (await get(plan))[1]["steps"]}
        assert steps == {"g0": "done", "g1": "moving", "g2": "left"}  # g1 is asked for already
    found = await ended(nodes[0], given["id"])
    assert (found["state"], found["done"], found["left"]) == ("cancelled", 2, 1)
    assert places(nodes[0], names) == {"g0": "b", "g1": "c", "g2": "a"}
    assert (await post(f"{plan}/cancel"))[0] == 200  # it is over: nothing
    assert (await get(plan))[1]["state"] == "cancelled"


async def test_a_plan_is_asked_for_at_its_node_and_lost_with_it(cluster: Cluster) -> None:
    cluster.size = 3
    nodes = await cluster.start_all(*NAMES)
    a, b, c = nodes
    names = await some_groups([b, a, c], 3)  # any node may carry out what moves the others' groups
    at = f"{b.admin_url}/admin/plans"
    with holding(b, lambda move: move.target == c.node.me) as held:
        _, given = await post(f"{at}?at_once=1", written(g0="b", g1="c", g2="b"))
        await eventually(lambda: len(held) == 1, "it is in the middle")
        elsewhere = f"{a.admin_url}/admin/plans/{given['id']}"
        status, found = await get(elsewhere)
        assert (status, found["id"], found["state"]) == (200, given["id"], "running")
        held.clear()  # what it has not said in the order by now is never said
        await cluster.stop("b")
    await eventually(lambda: a.node.view is not None and len(a.node.view.names) == 2, "b is gone")
    for method in (get, lambda url: post(f"{url}/cancel")):
        status, problem = await method(elsewhere)
        assert (status, problem["code"]) == (410, "plan_lost")
        assert "give the plan again" in problem["detail"]
    await eventually(lambda: "b" not in places(a, names).values(), "its groups are taken over")
    assert places(a, names)["g1"] == "a"
    again = f"{a.admin_url}/admin/plans"
    _, second = await post(again, written(g0="c", g1="c", g2="a"))
    assert (await ended(a, second["id"]))["state"] == "done"
    b = await cluster.start("b")  # it has kept how far it was
    for running in (a, b):
        status, found = await get(f"{running.admin_url}/admin/plans/{given['id']}")
        assert (status, found["state"], found["done"], found["total"]) == (200, "lost", 1, 3)
        assert {one["name"] for one in found["steps"]} == {"g0", "g1", "g2"}
        status, found = await post(f"{running.admin_url}/admin/plans/{given['id']}/cancel")
        assert (status, found["state"]) == (200, "lost")
    for id, code in (("x", "unknown_plan"), (f"a-{a.node.me.incarnation}-999", "unknown_plan")):
        status, problem = await get(f"{again}/{id}")
        assert (status, problem["code"]) == (404, code)


async def test_plans_are_bounded(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.size = 2
    nodes = await cluster.start_all("a", "b")
    await some_groups(nodes, 1)
    at = f"{nodes[0].admin_url}/admin/plans"
    monkeypatch.setattr(plans, "RUNNING_MAX", 2)
    monkeypatch.setattr(plans, "KEPT_MAX", 2)
    with holding(nodes[0], lambda _: True):
        for _ in range(2):
            assert (await post(at, written(g0="b")))[0] == 201
        status, problem = await post(at, written(g0="b"))
        assert (status, problem["code"]) == (409, "too_many_plans")
    for one in (await get(at))[1]["plans"]:
        assert (await ended(nodes[0], one["id"]))["state"] == "done"
    first = (await get(at))[1]["plans"][-1]["id"]
    for _ in range(4):
        _, given = await post(at, written(g0="a"))
        await ended(nodes[0], given["id"])
    listed = [one["id"] for one in (await get(at))[1]["plans"]]
    assert listed[0] == given["id"]
    assert len(listed) == 3  # two that were over when the last one came
    assert (await get(f"{at}/{first}"))[1]["code"] == "unknown_plan"
    too_long = io.BytesIO(b" " * (PLAN_BYTES_MAX + 1))
    async with (
        aiohttp.ClientSession(headers=credentials(at)) as http,
        http.post(at, data=too_long) as answer,
    ):
        assert (answer.status, (await answer.json())["code"]) == (413, "too_large")


async def test_a_node_that_is_apart_from_the_others_takes_no_plan(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.size = 2
    running = await cluster.begin("a")
    for query in ("", "?dry_run=true"):
        url = f"{running.admin_url}/admin/plans{query}"
        status, problem = await post(url, written(documents="a"))
        assert (status, problem["code"]) == (503, "not_ready")  # it is not in a view yet
    await cluster.start("b")
    await eventually(lambda: running.node.ready, "a is ready")
    monkeypatch.setattr(type(running.node), "primary", False)
    status, problem = await post(url, written(documents="a"))
    assert (status, problem["code"]) == (503, "not_primary")


@pytest.mark.parametrize("task", ["plans", "plans/x/cancel", "migrate", "drain", "leave"])
async def test_no_page_of_the_web_moves_groups(cluster: Cluster, task: str) -> None:
    running = await cluster.start("a")
    for header in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        url = f"{running.admin_url}/admin/{task}"
        async with aiohttp.ClientSession() as http, http.post(url, headers=header) as answer:
            assert (answer.status, (await answer.json())["code"]) == (403, "forbidden_origin")
    assert not running.leaving.done()


# --- the command ----------------------------------------------------------------------------------


class Shell:
    """Runs the command, in a thread: it has a loop of its own."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._url = url
        self._capsys = capsys

    async def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output, errors."""
        self._capsys.readouterr()
        code = await asyncio.to_thread(main, ["plan", *words, "--admin", self._url])
        out, err = self._capsys.readouterr()
        return code, out, err


async def test_a_shell_applies_a_plan_and_asks_how_far_it_is(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.size = 2
    nodes = await cluster.start_all("a", "b")
    names = await some_groups(nodes, 2)
    shell, file = Shell(nodes[0].admin_url, capsys), tmp_path / "plan.json"
    file.write_text(json.dumps(written(g0="b", g1="a")))
    code, out, _ = await shell.run("apply", str(file), "--dry-run")
    assert (code, out.splitlines()) == (0, ["move     g0: a to b", "stays    g1: at a"])
    assert places(nodes[0], names) == {"g0": "a", "g1": "a"}
    code, out, _ = await shell.run("apply", str(file), "--wait", "--at-once", "2", "--json")
    done = json.loads(out)
    assert (code, done["state"], done["done"]) == (0, "done", 2)
    assert places(nodes[0], names) == {"g0": "b", "g1": "a"}
    code, out, _ = await shell.run("status", done["id"])
    assert (code, out.splitlines()[1:]) == (
        0,
        ["  done     g0: a to b", "  done     g1: a to a: it was there"],
    )
    code, out, _ = await shell.run("list", "--json")
    assert (code, json.loads(out)["plans"][0]["id"]) == (0, done["id"])
    (line,) = (await shell.run("list"))[1].splitlines()[:1]
    assert line.startswith(f"{done['id']}  done  total=2")
    assert line.endswith("not measured")
    assert (await shell.run("cancel", done["id"]))[0] == 0
    file.write_text(json.dumps(written(g0="z")))
    code, out, err = await shell.run("apply", str(file), "--dry-run")
    assert (code, "unknown_node" in out, err.count("\n")) == (1, True, 1)
    for words, number, says in (
        (("apply", str(file)), 1, "no node 'z'"),
        (("status", "x"), 1, "no plan has this id"),
        (("apply", str(tmp_path / "none")), 2, "cannot be read"),
        (("apply", str(file), "--at-once", "0"), 2, "invalid choice"),
    ):
        code, _, err = await shell.run(*words)
        assert (code, says in err, err.count("\n")) == (number, True, 1), err


def test_what_a_plan_waits_for_and_why_groups_have_not_moved_is_printed() -> None:
    step = {"state": "failed", "name": "g1", "from": "a", "to": "b", "why": "draining: b"}
    plan = {"id": "a-1-1", "state": "running", "total": 2, "done": 1, "away": ["b", "c"]}
    assert lines_of({**plan, "steps": [step]}) == [
        "a-1-1  running  total=2  done=1  waits for b, c",
        "  failed   g1: a to b: draining: b",
    ]
    assert lines_of({"plans": []}) == ["no plans"]
