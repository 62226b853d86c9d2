"""All nodes of a cluster are started alike: whoever is not, is told and ends."""

from __future__ import annotations

import asyncio

import pytest

from server.errors import SettingsProblem
from tests.server.support import LIMIT_S, Cluster


@pytest.mark.parametrize(("first", "second"), [("on", "off"), ("off", "on")])
async def test_a_node_that_is_started_otherwise_than_its_cluster_is_refused(
    cluster: Cluster, first: str, second: str
) -> None:
    cluster.size, cluster.flags = 3, {"accounts": first}
    a, _ = await cluster.start_all("a", "b")
    c = await cluster.begin("c", accounts=second)
    with pytest.raises(SettingsProblem, match=f"--accounts {second}: node [ab] .* all nodes alike"):
        async with asyncio.timeout(LIMIT_S):
            await c.node.ended
    assert a.node.ready


async def test_a_cluster_that_is_stopped_as_a_whole_may_be_started_otherwise(
    cluster: Cluster,
) -> None:
    await cluster.start("a", accounts="off")
    await cluster.stop("a")
    assert (await cluster.start("a", accounts="on")).node.accounts is not None
