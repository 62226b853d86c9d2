"""Groups that migrate behind the backs of the tests that share a cluster, all the time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from random import Random

import aiohttp

from tests.end_to_end.cluster import NAMES, Cluster

PAUSE_S = 1.0
AT_ONCE = 6
"""Groups that are moved at a time."""
ENOUGH = 20
"""Behind so many turns each node has got some."""


class Wanderers:
    """What has been moved where; groups that a test has placed stay where they are.

    They rest while no test uses the cluster: it would judge nothing, and take of the others' time.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.moved: Counter[str] = Counter()
        self.turns = 0
        self.over = asyncio.Event()
        self._is_used = False
        self._chance = Random(1)

    @contextmanager
    def used(self) -> Iterator[Cluster]:
        """While a test uses the cluster."""
        self._is_used = True
        try:
            yield self.cluster
        finally:
            self._is_used = False

    async def run(self) -> None:
        """Move some groups, again and again, until it is over."""
        while not await self._is_over_soon():
            if not self._is_used:
                continue
            self.turns += 1
            asked, target = NAMES[self.turns % len(NAMES)], self._chance.choice(NAMES)
            # While tests run on another loop, this one stands still, and what it asked is too late.
            with suppress(TimeoutError, aiohttp.ClientError):
                await self._move(asked, target)

    async def _is_over_soon(self) -> bool:
        try:
            return await asyncio.wait_for(self.over.wait(), PAUSE_S)
        except TimeoutError:
            return False

    async def _move(self, asked: str, target: str) -> None:
        cluster = self.cluster
        groups = (await cluster.status(asked))["groups"]
        free = [
            name
            for name, group in groups.items()
            if name not in cluster.placed and group["members"] and group["sequencer"] != target
        ]
        chosen = self._chance.sample(free, min(AT_ONCE, len(free)))
        if not chosen:
            return
        async with cluster.placing:
            plan = {"plan": 1, "groups": dict.fromkeys(chosen, target)}
            code, answer = await cluster.admin(asked, "migrate", plan)
        # A group may have gone since, or another one may be bound to it: the plan is refused then.
        if code == 200:
            self.moved[target] += answer["done"]


@asynccontextmanager
async def wandering(cluster: Cluster) -> AsyncIterator[Wanderers]:
    """Groups of this cluster migrate until the end; then each node has sequenced some."""
    wanderers = Wanderers(cluster)
    running = asyncio.create_task(wanderers.run())
    try:
        yield wanderers
    finally:
        wanderers.over.set()
        await running
    if wanderers.turns >= ENOUGH:
        assert set(wanderers.moved) == set(NAMES), wanderers.moved
