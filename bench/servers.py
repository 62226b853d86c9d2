"""Nodes of the server, and a document in which pages type; the first one sequences its block."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.gateways import Place
from bench.pages import Page, Subject
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.page import BLOCK

SUBPROTOCOL = "groupcore.v1.msgpack"
RATE = 1_000_000
SESSIONS_MAX = 10_000


@asynccontextmanager
async def servers(count: int) -> AsyncIterator[tuple[Subject, list[Place]]]:
    """So many nodes with data in a folder that goes away, and the block that is typed into."""
    names = [f"n{number}" for number in range(count)]
    flags = {"rate": RATE, "burst": RATE, "sessions_max": SESSIONS_MAX}
    with tempfile.TemporaryDirectory(prefix="groupcore-bench-") as folder:
        async with Cluster(Path(folder), size=count, **flags) as cluster:
            await cluster.start(*names)
            doc = await cluster.create(names[0])
            subject = Subject(f"doc/{doc}/{BLOCK}", "Block", SUBPROTOCOL)
            nodes = [cluster.nodes[name] for name in names]
            places = [
                Place(node.process.pid, node.url.replace("http", "ws", 1) + "/ws") for node in nodes
            ]
            async with Page(places[0].url, subject) as page:
                await page.open()
                await cluster.place(names[0], subject.name)
                yield subject, places
