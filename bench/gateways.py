"""Nodes with a gateway for pages, in processes of their own, and where their pages connect.

The application is an embedder's: Starlette, `groupcore.web` and uvicorn on one port of loopback.
Its shared text `NAME` is sequenced by the first node; all nodes keep a log.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from bench.hosting import AT_ONCE, place, together, until
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import Node
from groupcore.gateway.limits import PROTOCOL
from groupcore.sequencing.names import Order
from groupcore.shared.types import Presence, Text
from groupcore.web import SharedObjects
from groupcore.web.fanout import FanoutProtocol

NAME = "note"
SUBPROTOCOL = PROTOCOL
PATH = "/objects/"
RATE = 1_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """A node's process, and where its pages connect."""

    pid: int
    url: str


@asynccontextmanager
async def serving(app: Starlette) -> AsyncIterator[int]:
    """The application on a port of its own."""
    config = uvicorn.Config(
        app, port=0, ws=FanoutProtocol, lifespan="off", log_level="warning", backlog=2048
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    port: int = server.servers[0].sockets[0].getsockname()[1]
    yield port
    server.should_exit = True
    await task


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where the nodes keep their logs, and which texts they have open themselves."""

    folder: str
    held: Sequence[str]


async def hold(node: Node, names: Sequence[str]) -> None:
    """Have the node itself open these texts, as a server does with a document."""
    for at in range(0, len(names), AT_ONCE):
        await asyncio.gather(*(node.open(Text, name) for name in names[at : at + AT_ONCE]))


async def serve(index: int, cluster: Cluster, wanted: Wanted, pipe: Pipe) -> None:
    """One node and its application."""
    node = Node(
        "bench",
        node_id=f"n{index}",
        multicast=cluster.multicast,
        key=cluster.key,
        cluster_size=cluster.nodes,
        data_dir=Path(wanted.folder) / f"n{index}",
    )
    async with node:
        objects = SharedObjects(
            node, {"Text": Text, "Presence": Presence[str]}, rate=RATE, burst=RATE
        )
        async with serving(Starlette(routes=[Mount("/objects", objects)])) as port:
            await together(node.groups, cluster.nodes)
            if index == 0:
                group = await node.groups.create(NAME, Order.CAUSALLY_TOTAL)
                await place(node.groups, [group], 1)
            await hold(node, wanted.held)
            pipe.tell(Place(os.getpid(), f"ws://127.0.0.1:{port}{PATH}"))
            await pipe.ask()
            await objects.close()


@contextmanager
def gateways(count: int, held: Sequence[str] = ()) -> Iterator[list[Place]]:
    """So many nodes that have these texts open; the first one sequences the text `NAME`."""
    with (
        tempfile.TemporaryDirectory(prefix="groupcore-bench-") as folder,
        Processes(serve, Wanted(folder, held), count) as processes,
    ):
        places = processes.answers()
        yield [place for place in places if isinstance(place, Place)]
