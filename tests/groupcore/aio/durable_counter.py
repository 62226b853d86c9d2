"""A program of its own: counts on a shared counter, and says how much of that is saved.

python -m tests.groupcore.aio.durable_counter NODE_ID MULTICAST DATA_DIR
"""

from __future__ import annotations

import asyncio
import sys

from groupcore.aio import Node
from groupcore.shared.types import Counter

CLUSTER = "durable-counter"
SIZE = 3


async def count(node_id: str, multicast: str, data_dir: str) -> None:
    """Add ones until somebody kills this process; a line for each time that they are saved."""
    async with Node(
        CLUSTER, node_id=node_id, multicast=multicast, data_dir=data_dir, cluster_size=SIZE
    ) as node:
        counter = await node.open(Counter, "count")
        print("found", counter.value, flush=True)
        added = 0
        while True:
            await counter.add(1)
            added += 1
            await node.saved()
            print("saved", added, flush=True)


if __name__ == "__main__":
    asyncio.run(count(*sys.argv[1:]))
