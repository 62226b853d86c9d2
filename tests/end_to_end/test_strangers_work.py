"""A text that takes long to read keeps one worker busy, and neither the node nor its view."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.end_to_end.cluster import Cluster, running_cluster

pytestmark = [pytest.mark.process, pytest.mark.slow]

PATHOLOGICAL = "![" * 70_000 + "\n\n" + "![" * 70_000
"""Some ten seconds of a core; before there were workers 16 KB took the node's loop for seconds."""


@pytest_asyncio.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(tmp_path, "a", "b") as cluster:
        yield cluster


async def imported(url: str, source: str, address: str = "127.0.0.1") -> tuple[int, Any]:
    """Who has no account is known by the address."""
    connector = aiohttp.TCPConnector(local_addr=(address, 0))
    timeout = aiohttp.ClientTimeout(total=300)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=timeout) as http,
        http.post(
            f"{url}/api/v1/documents/import",
            data=source.encode(),
            headers={"Content-Type": "text/markdown"},
        ) as answer,
    ):
        return answer.status, await answer.json()


async def test_while_a_pathological_text_is_read_the_node_answers_and_stays_in_its_view(
    pair: Cluster,
) -> None:
    before = (await pair.status("a"))["view"]
    node = pair.nodes["a"]
    importing = asyncio.create_task(imported(node.url, PATHOLOGICAL))
    answered = 0
    while not importing.done():
        status, _ = await pair.get(f"{node.admin_url}/livez")
        assert status == 200
        if answered == 5:
            await pair.create("b", "written meanwhile")
            status, _ = await imported(node.url, "- a *small* one\n" * 40, "127.0.0.2")
            assert status == 201
            assert not importing.done(), "another's small text takes the other worker"
        answered += not importing.done()
    status, problem = importing.result()
    assert (status, problem["code"]) in ((413, "too_large"), (422, "too_complex"))
    assert "Traceback" not in str(problem)
    assert answered > 10
    assert (await pair.status("a"))["view"] == before
    for name in ("a", "b"):
        await pair.view_of(name, "a", "b")
