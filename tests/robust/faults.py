"""The faults of a robustness run, each with its end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from random import Random

from tests.end_to_end.cluster import NodeProcess
from tests.robust.disks import Disks
from tests.robust.spaces import NAMES, Spaces

LASTS_S = (0.3, 4.0)
"""How long a fault lasts."""
LOSSES = (1, 5, 20)
"""Percent of the datagrams to a node and from it, each."""
GIVES_UP_S = 15.0
"""Within so long a node ends whose disk has failed: calls of clients make it write."""
KILLED_WHILE_FULL = 0.4

FAULTS = {
    "cut": "its cable is pulled",
    "deaf": "it gets no unicasts of the others, and hears their multicasts",
    "loss": "datagrams to it and from it are lost",
    "kill": "the process is killed",
    "stop": "the process is stopped and goes on",
    "full": "the disk is full, in part of the cases while the process is killed",
    "disk": "the disk fails: what was not synced is lost, and every call is an I/O error",
    "power": "the process is killed, and what it has not synced is lost",
}
"""The kinds, and what happens to a node."""


class Faults:
    """Plays one at a time. `ended` is called when what hurt is over, before a node starts again."""

    def __init__(
        self,
        cluster: Spaces,
        random: Random,
        lasts_s: tuple[float, float],
        ended: Callable[[], None],
    ) -> None:
        assert cluster.disks is not None, "disks fail, too"
        self._cluster = cluster
        self._disks: Disks = cluster.disks
        self._random = random
        self._lasts_s = lasts_s
        self._ended = ended
        self._kinds: dict[str, Callable[[int, NodeProcess], Awaitable[list[str]]]] = {
            "cut": self._cut,
            "deaf": self._deafen,
            "loss": self._lose,
            "kill": self._kill,
            "stop": self._stop,
            "full": self._fill,
            "disk": self._break,
            "power": self._power,
        }
        assert self._kinds.keys() == FAULTS.keys(), "every kind has its play"

    async def play(self, kind: str, name: str) -> list[str]:
        """Have it happen to a node, and end; what the node did wrong meanwhile."""
        return await self._kinds[kind](NAMES.index(name), self._cluster.nodes[name])

    async def _lasts(self) -> None:
        await asyncio.sleep(self._random.uniform(*self._lasts_s))

    async def _cut(self, number: int, node: NodeProcess) -> list[str]:
        del node
        self._cluster.network.cut(number, on=True)
        await self._lasts()
        self._cluster.network.cut(number, on=False)
        self._ended()
        return []

    async def _deafen(self, number: int, node: NodeProcess) -> list[str]:
        del node
        self._cluster.network.deafen(number, on=True)
        await self._lasts()
        self._cluster.network.deafen(number, on=False)
        self._ended()
        return []

    async def _lose(self, number: int, node: NodeProcess) -> list[str]:
        del node
        self._cluster.network.lose(number, self._random.choice(LOSSES))
        await self._lasts()
        self._cluster.network.lose(number, 0)
        self._ended()
        return []

    async def _kill(self, number: int, node: NodeProcess) -> list[str]:
        del number
        await node.kill()
        await self._lasts()
        self._ended()
        await self._cluster.start(node.name)
        return []

    async def _stop(self, number: int, node: NodeProcess) -> list[str]:
        del number
        node.signal(signal.SIGSTOP)
        await self._lasts()
        node.signal(signal.SIGCONT)
        self._ended()
        return []

    async def _fill(self, number: int, node: NodeProcess) -> list[str]:
        self._disks.fill(number)
        killed = self._random.random() < KILLED_WHILE_FULL
        await self._lasts()
        if killed:
            await node.kill()
        problems = [] if killed or node.running else [f"{node.name} ended as its disk was full"]
        self._disks.free(number)
        self._ended()
        if not node.running:
            await self._cluster.start(node.name)
        return problems

    async def _break(self, number: int, node: NodeProcess) -> list[str]:
        self._disks.fail(number)
        problems = []
        try:
            async with asyncio.timeout(GIVES_UP_S):
                await node.process.wait()
        except TimeoutError:
            problems.append(f"{node.name} went on for {GIVES_UP_S:g} s with a disk that fails")
        await self._again(number, node)
        return problems

    async def _power(self, number: int, node: NodeProcess) -> list[str]:
        self._disks.fail(number)
        await node.kill()
        await self._lasts()
        await self._again(number, node)
        return []

    async def _again(self, number: int, node: NodeProcess) -> None:
        """A process and a disk as they come back from a failure of the disk, or of the power."""
        await node.kill()
        self._disks.unmount(number)
        self._disks.mount(number)
        self._ended()
        await self._cluster.start(node.name)
