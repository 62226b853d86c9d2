"""Catching up: one transfer at a time, for the newest fresh view."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from groupcore.events import ViewInstalled
from groupcore.view import Address, View
from server.peers import EVERYTHING
from server.recovery.joiner import Joiner
from server.replication import Replication

logger = logging.getLogger("server")


class CatchUp:
    """Fetches what this node lacks and puts it into its order.

    `members()` are those of the present view without this node; `on_done(view, replaced)` is
    called when everything up to the view is here, `on_bug` when this program is wrong.
    """

    def __init__(
        self,
        joiner: Joiner,
        order: Replication,
        members: Callable[[], Sequence[Address]],
        on_done: Callable[[View, bool], None],
        on_bug: Callable[[BaseException], None],
    ) -> None:
        self._joiner = joiner
        self._order = order
        self._members = members
        self._on_done = on_done
        self._on_bug = on_bug
        self._task: asyncio.Task[None] | None = None

    def start(self, event: ViewInstalled) -> None:
        """Fetch what the view says that there is."""
        self.stop()
        self._task = asyncio.get_running_loop().create_task(self._run(event))
        self._task.add_done_callback(self._on_end)

    def stop(self) -> None:
        """Give up what is under way; nothing of it has been used."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self, event: ViewInstalled) -> None:
        _, position, chain = await self._order.journal.flushed()
        received = await self._joiner.fetch(
            lambda: self._holders(event),
            self._order.epoch,
            position if position <= event.position else EVERYTHING,
            chain,
            event.position,
            lambda holder, why: logger.warning("no state from %s: %s", holder, why),
        )
        self._task = None
        self._on_done(event.view, self._order.take(received))

    def _holders(self, event: ViewInstalled) -> list[Address]:
        """The holders that are still in the view; all its members when none of them is."""
        others = list(self._members())
        return [member for member in others if member in event.holders] or others

    def _on_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_bug(error)
