"""A placement plan that a node carries out, as an async program follows it.

async for progress in node.run_plan(text):
    print(progress.done, "of", progress.total)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from groupcore.sequencing.plan_run import PlanProgress


class RunningPlan:
    """One plan on its way; iterate over its progress: the newest state each time, to its end.

    GroupRefusedError (`left`) when the node's life ends before: what has moved stays where it is,
    and another node can take the same plan up.
    """

    def __init__(self, call_off: Callable[[], None]) -> None:
        self._call_off = call_off
        self._changed = asyncio.Event()
        self._progress: PlanProgress | None = None
        self._error: Exception | None = None
        self._ended = False

    def cancel(self) -> None:
        """Ask for no further moves, and call off those under way, as far as S2 allows.

        The iteration goes on until these have ended; groups that have moved stay where they are.
        """
        if self._error is None and not self._ended:
            self._call_off()

    def tell(self, progress: PlanProgress) -> None:
        """How far it is now, from the node's side."""
        self._progress = progress
        self._changed.set()

    def fail(self, error: Exception) -> None:
        """The node's life has ended, from its side."""
        self._error = error
        self._changed.set()

    def __aiter__(self) -> RunningPlan:
        return self

    async def __anext__(self) -> PlanProgress:
        if self._ended:
            raise StopAsyncIteration
        await self._changed.wait()
        self._changed.clear()
        progress, self._progress = self._progress, None
        if progress is not None:
            self._ended = progress.finished
            if self._error is not None:
                self._changed.set()  # what has been told comes first
            return progress
        assert self._error is not None
        self._ended = True
        raise self._error
