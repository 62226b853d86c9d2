"""A shared counter in ten lines."""

import asyncio

from groupcore.aio import Node
from groupcore.shared.types import Counter


async def main() -> None:
    nodes = [Node("votes", node_id=name) for name in "abc"]
    async with nodes[0], nodes[1], nodes[2]:
        votes = [await node.open(Counter, "yes") for node in nodes]
        sums = await asyncio.gather(*(counter.add() for counter in votes * 3))
        print("each caller has its own sum:", *sorted(sums))


asyncio.run(main())
