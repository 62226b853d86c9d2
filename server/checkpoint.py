"""Snapshots into the journal, so that a start is quick and the log stays short.

Every N operations the documents that have changed are stored one after the other, each as of the
position that it has in its turn. When the last is queued, everything up to the position at which
this began is in the snapshots, and the log may be pruned behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from server.journal import Journal
from server.replica import Replica
from server.settings import Settings


class Checkpointer:
    """Counts operations and stores snapshots in the background."""

    def __init__(
        self, settings: Settings, journal: Journal, replica: Callable[[], Replica]
    ) -> None:
        self._every = settings.snapshot_every
        self._kept = settings.log_kept
        self._journal = journal
        self._replica = replica
        self._count = len(journal.recovered.records)
        self._task: asyncio.Task[None] | None = None
        self.done = 0

    def count(self, operations: int) -> None:
        """So many operations more have been applied."""
        self._count += operations
        if self._count >= self._every and (self._task is None or self._task.done()):
            self._count = 0
            self._task = asyncio.get_running_loop().create_task(self._store())

    def reset(self) -> None:
        """The journal holds a snapshot of everything."""
        if self._task is not None:
            self._task.cancel()
        self._count = 0

    async def _store(self) -> None:
        replica = self._replica()
        start = replica.position
        for doc in replica.take_changed():
            self._journal.put_document(replica.dump(doc))
            await asyncio.sleep(0)
        self._journal.checkpoint(start, max(0, start - self._kept))
        self.done += 1
