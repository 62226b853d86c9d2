"""Groups migrate all the time, and nobody who types notices."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from tests.end_to_end.cluster import NAMES, Cluster, eventually, running_cluster
from tests.end_to_end.page import BLOCK
from tests.end_to_end.test_failover import finish, open_tabs, report_gap

pytestmark = [pytest.mark.process, pytest.mark.slow]

MOVES = 60
TOKENS = 30


async def move_about(cluster: Cluster, groups: list[str]) -> Counter[str]:
    """Have the groups sequenced by one node after the other; where they have been."""
    chance = Random(1)
    visits: Counter[str] = Counter()
    for _ in range(MOVES):
        at = chance.choice(NAMES)
        await cluster.place(at, *chance.sample(groups, chance.randint(1, len(groups))))
        visits[at] += 1
    return visits


async def test_documents_are_the_same_everywhere_while_their_groups_migrate(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        docs = [await cluster.create(name) for name in NAMES[:2]]
        tabs = {doc: await open_tabs(stack, cluster, doc, *NAMES) for doc in docs}
        for doc in docs:
            for tab in tabs[doc]:
                tab.start_typing()
        groups = ["documents", *[f"doc/{doc}{end}" for doc in docs for end in ("", f"/{BLOCK}")]]
        visits = await move_about(cluster, groups)
        assert set(visits) == set(NAMES)
        for doc in docs:
            for tab in tabs[doc]:
                await tab.typed_more(TOKENS)
        gap_s = max(report_gap("groups migrate", tabs[doc]) for doc in docs)
        for doc in docs:
            await finish(cluster, doc, tabs[doc])
        assert gap_s < 1.0
        for name in NAMES:
            status = await cluster.status(name)
            assert all(status["groups"][group]["epoch"] > 5 for group in groups), status["groups"]


async def test_a_node_that_is_drained_sequences_nothing_until_it_is_revived(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a")
        tabs = await open_tabs(stack, cluster, doc, *NAMES)
        for tab in tabs:
            tab.start_typing()
        groups = ["documents", f"doc/{doc}", f"doc/{doc}/{BLOCK}"]
        await cluster.place("a", *groups)
        assert await cluster.admin("b", "drain", {"node": "a"}) == (
            200,
            {"node": "a", "draining": True},
        )
        async with asyncio.timeout(20):
            while "a" in [await cluster.sequencer(group) for group in groups]:
                await tabs[0].typed_more(1)
        code, problem = await cluster.admin(
            "b", "migrate", {"plan": 1, "groups": {f"doc/{doc}": "a"}}
        )
        assert (code, problem["code"]) == (422, "bad_plan")
        await cluster.admin("c", "revive", {"node": "a"})
        await tabs[0].typed_more(5)
        await cluster.place("a", *groups)
        await finish(cluster, doc, tabs)


async def test_a_plan_whose_node_is_killed_leaves_each_group_at_one_living_node(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        docs = [await cluster.create("a", f"Text {number}.") for number in range(12)]
        groups = [f"doc/{doc}" for doc in docs]
        await cluster.place("a", *groups)
        # Turn by turn, so that no two go in one move: b is killed while some have still to go.
        plan = {group: "bc"[number % 2] for number, group in enumerate(groups)}
        code, given = await cluster.admin("b", "plans?at_once=1", {"plan": 1, "groups": plan})
        assert (code, given["state"]) == (201, "running")
        await cluster.nodes["b"].kill()
        for name in ("a", "c"):
            await cluster.view_of(name, "a", "c")
            code, problem = await cluster.admin(name, f"plans/{given['id']}/cancel")
            assert (code, problem["code"]) == (410, "plan_lost")

        async def agree() -> bool:
            found = [(await cluster.status(name))["groups"] for name in ("a", "c")]
            owners = [
                [(one[group]["sequencer"], one[group]["epoch"]) for group in groups]
                for one in found
            ]
            return owners[0] == owners[1] and {owner for owner, _ in owners[0]} <= {"a", "c"}

        await eventually(agree, "each group has one living sequencer")
        for number, doc in enumerate(docs):
            assert await cluster.text("c", doc) == f"Text {number}."
        await cluster.place("c", *groups)  # the plan of another operator is carried out
        assert {await cluster.sequencer(group) for group in groups} == {"c"}
