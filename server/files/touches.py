"""Tells who changed which document last: soon, and then not more than now and then."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from groupcore.errors import GroupcoreError
from server.files.activity import TOUCHES_MAX, Activity

logger = logging.getLogger("server")

SOON_S = 1.0
"""So long changes are gathered before they are told."""
QUIET_S = 30.0
"""For so long a node then tells nothing more of the same document."""


class Touches:
    """What this node's pages have changed; `begin` starts telling."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity
        self._waiting: dict[str, str] = {}
        self._told_s: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, document: str, by: str) -> None:
        """A page has changed a document on behalf of this principal."""
        self._waiting[document] = by
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        """Until nothing waits any more."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            await asyncio.sleep(SOON_S)
            now_s = loop.time()
            self._told_s = {
                doc: at_s for doc, at_s in self._told_s.items() if now_s - at_s < QUIET_S
            }
            due = [doc for doc in self._waiting if doc not in self._told_s][:TOUCHES_MAX]
            if not due:
                continue
            told = [(doc, self._waiting.pop(doc)) for doc in due]
            self._told_s.update(dict.fromkeys(due, now_s))
            try:
                await self._activity.touch(told)
            except GroupcoreError as error:
                logger.debug("not told who changed what: %s", error)
        self._task = None

    async def close(self) -> None:
        """Stop; what was not told is not told."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
