"""What the pipeline has measured behind plans is told to the nodes that keep these.

Idea. The measures are a file that the pipeline's next run writes anew, at one node that has its
results; what a plan has brought is to be known as long as the plan is. So that node looks at the
file now and then, and whoever has carried a plan out keeps what was measured beside it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from server.console.colleagues import Colleagues, Shown
from server.console.outcome import latest, outcomes
from server.console.results import measured_windows
from server.errors import BadMessageError

logger = logging.getLogger("server")

EVERY_S = 60.0


async def plans_of(colleagues: Colleagues) -> tuple[list[Shown], list[str]]:
    """The plans of all nodes, the newest first, and the nodes that do not answer."""
    told = await colleagues.gather("plans")
    plans = [one for said in told.values() if said is not None for one in said["plans"]]
    plans.sort(key=lambda one: one["began_s"], reverse=True)
    return plans, sorted(node for node, one in told.items() if one is None)


class Measuring:
    """At a node with the pipeline's `results`; `bearer` is the node that keeps a plan."""

    def __init__(
        self, results: Path | None, colleagues: Colleagues, bearer: Callable[[str], str]
    ) -> None:
        self._results = results
        self._colleagues = colleagues
        self._bearer = bearer

    async def run(self) -> None:
        """Until it is cancelled; a node without results has nothing to do."""
        while self._results is not None:
            await asyncio.sleep(EVERY_S)
            await self.look()

    async def look(self) -> None:
        """Tell what is newer than what is kept."""
        windows = await measured_windows(self._results)
        if not windows:
            return
        plans, _ = await plans_of(self._colleagues)
        found = outcomes(plans, windows)
        for plan in plans:
            id, kept = plan["id"], plan.get("measured")
            measured = latest(kept, found.get(id))
            if measured is None or measured == kept:
                continue
            try:
                bearer = self._bearer(id)
                await self._colleagues.ask(bearer, "plan_measured", plan=id, measured=measured)
            except BadMessageError as error:
                logger.debug("what plan %s has brought is not kept: %s", id, error)
