"""A real node that is excluded and comes back again and again while people type keeps its size."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from tests.end_to_end.cluster import eventually
from tests.robust.history import Calls
from tests.robust.network import Network
from tests.robust.run import Client
from tests.robust.spaces import Spaces

NAMES = "abc"
TIMES, FIRST = 9, 3
GROWS_MB = 24
"""What a node may grow by between the first few returns and the last."""
LIMIT_S = 30.0
DOCUMENTS, PARAGRAPHS = 6, 800
AT_ONCE = (
    "-c",
    "import sys, groupcore.aio.lives as lives; lives.REJOIN_INTERVAL_S = 0.0;"
    "lives.STARVED_INTERVAL_S = 0.0; from server.main import main; sys.exit(main(sys.argv[1:]))",
)
"""The server, whose nodes do not wait longer with each return."""


async def be_away(cluster: Spaces, name: str) -> None:
    """Stop a node until the others go on without it, and wait until it is one of them again."""
    others = NAMES.replace(name, "")
    node = cluster.nodes[name]
    node.signal(signal.SIGSTOP)
    await cluster.view_of(others[0], *others)
    node.signal(signal.SIGCONT)

    async def back() -> bool:
        try:
            said = [await cluster.status(one) for one in NAMES]
        except (aiohttp.ClientError, TimeoutError):
            return False
        views = {one["view"]["id"] for one in said if one["view"] and one["view"]["primary"]}
        whole = all(one["view"] and len(one["view"]["members"]) == len(NAMES) for one in said)
        serving = all(one["state"] == "serving" and not one["taking"] for one in said)
        return len(views) == 1 and whole and serving

    await eventually(back, f"{name} is back", LIMIT_S)


async def sizes_of_returns(folder: Path) -> list[dict[str, int]]:
    """The size of each node behind each return of c, in megabytes."""
    found: list[dict[str, int]] = []
    with Network(len(NAMES)) as network:
        async with Spaces(folder, network) as cluster, AsyncExitStack() as stack:
            cluster.program = AT_ONCE
            await cluster.start(*NAMES)
            for name in NAMES:
                await cluster.view_of(name, *NAMES)
            for number in range(DOCUMENTS):
                text = "\n\n".join(f"{number} {at} " + "words " * 60 for at in range(PARAGRAPHS))
                await cluster.create("a", text)
            doc = await cluster.create("a")
            for seed, letter in enumerate("pq"):
                urls = [cluster.nodes["ab"[seed]].url]
                client = Client(Calls(), letter, doc, lambda urls=urls: urls, seed)  # type: ignore[misc]
                await stack.enter_async_context(client)
                client.start_typing(0.2)
            for _ in range(TIMES):
                await be_away(cluster, "c")
                nodes = cluster.nodes.items()
                found.append({name: one.resident_mb() for name, one in nodes})
            assert (await cluster.status("c"))["counters"]["rejoins.exclusions"] >= TIMES
    return found


@pytest.mark.process
@pytest.mark.slow
def test_a_node_that_is_away_again_and_again_does_not_grow(tmp_path: Path) -> None:
    """Neither does any other. Without root this fails with what is missing."""
    found = asyncio.run(sizes_of_returns(tmp_path))
    for name in NAMES:
        sizes = [one[name] for one in found]
        assert max(sizes) - sizes[FIRST - 1] < GROWS_MB, f"{name}: {sizes} MB"
