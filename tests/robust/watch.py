"""What the nodes of a run say all the while: views, and how soon all are one again."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, Self

import aiohttp

from tests.end_to_end.cluster import ended
from tests.robust.spaces import Spaces

ANSWERS_S = 1.0
MEMORY_S = 30.0
"""So often it is noted what the nodes take."""


class Watch:
    """Asks every node's status. Use it in `async with`.

    A recovery runs from the end of a fault to when all nodes say that they are in one primary view
    of all, and serve; one that a further fault interrupts is not counted.
    """

    def __init__(self, cluster: Spaces, every_s: float = 0.2) -> None:
        self._cluster = cluster
        self._every_s = every_s
        self._task: asyncio.Task[None] | None = None
        self._kind = ""
        self._healed_at: float | None = None
        self._was_whole = False
        self.recoveries: dict[str, list[float]] = {}
        self._views: set[str] = set()
        self._memory_mb: list[list[int]] = []

    async def __aenter__(self) -> Self:
        """Begin to ask."""
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ask no more."""
        assert self._task is not None
        await ended(self._task)

    def begin(self, kind: str) -> None:
        """A fault begins."""
        self._kind, self._healed_at = kind, None

    def healed(self) -> None:
        """It has ended."""
        self._healed_at = time.monotonic()

    async def is_whole(self) -> bool:
        """Whether all nodes were one view when they were asked last, behind the last fault."""
        return self._healed_at is None and self._was_whole

    def summary(self) -> dict[str, Any]:
        """Views, the slowest recovery of each kind, in seconds, and memory now and then.

        A row of `memory_mb` has seconds since the beginning, and megabytes of each node.
        """
        slowest = {kind: round(max(all_s), 1) for kind, all_s in sorted(self.recoveries.items())}
        return {"views": len(self._views), "slowest_s": slowest, "memory_mb": self._memory_mb}

    async def _run(self) -> None:
        first = time.monotonic()
        while True:
            began = time.monotonic()
            if began - first >= MEMORY_S * len(self._memory_mb):
                sizes = (node.resident_mb() for _, node in sorted(self._cluster.nodes.items()))
                self._memory_mb.append([round(began - first), *sizes])
            names = list(self._cluster.nodes)
            found = await asyncio.gather(*(self._status(name) for name in names))
            self._note(began, [one for one in found if one is not None], len(names))
            await asyncio.sleep(self._every_s)

    async def _status(self, name: str) -> dict[str, Any] | None:
        node = self._cluster.nodes[name]
        if not node.running or not node.listens:
            return None
        try:
            async with asyncio.timeout(ANSWERS_S):
                return await self._cluster.status(name)
        except (aiohttp.ClientError, TimeoutError, AssertionError):
            return None

    def _note(self, began: float, found: list[dict[str, Any]], count: int) -> None:
        views = [one["view"] for one in found if one["view"]]
        self._views.update(view["id"] for view in views)
        whole = {one["view"]["id"] for one in found if _serves(one, count)}
        if len(found) < count or len(whole) != 1 or not all(_serves(one, count) for one in found):
            return
        if self._healed_at is not None and began >= self._healed_at:
            took_s = time.monotonic() - self._healed_at
            self.recoveries.setdefault(self._kind, []).append(took_s)
            self._healed_at, self._was_whole = None, True


def _serves(status: dict[str, Any], count: int) -> bool:
    """Whether a node serves in a primary view of so many."""
    view = status["view"]
    return bool(
        status["state"] == "serving" and view and view["primary"] and len(view["members"]) == count
    )
