"""The window of one sender's numbered batches: what is held, what has been delivered.

A plain container, no time and no messages. Numbers start at `first`. Everything up to `received` is
held without a gap; `delivered` never exceeds it; `purged` never exceeds `delivered`. Batches
between are kept so that any member can repair what another lacks.
"""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.batch import Batch

AHEAD_MAX = 65_536
"""How far ahead of the last delivered number a batch is kept."""


class Window:
    """Batches of one sender in one view."""

    __slots__ = ("batches", "delivered", "first", "highest", "purged", "received")

    def __init__(self, first: int = 1) -> None:
        self.batches: dict[int, Batch] = {}
        self.first = first
        self.received = self.delivered = self.purged = self.highest = first - 1

    def add(self, seqno: int, batch: Batch) -> bool:
        """Keep the batch; False when it is a duplicate or too far ahead to be kept."""
        if seqno <= self.received or seqno in self.batches:
            return False
        if seqno > self.delivered + AHEAD_MAX:
            return False
        self.batches[seqno] = batch
        if seqno > self.highest:
            self.highest = seqno
        if seqno == self.received + 1:
            received = seqno
            while received + 1 in self.batches:
                received += 1
            self.received = received
        return True

    def announce(self, seqno: int) -> None:
        """The sender is known to have got this far, whether or not its batches are here."""
        self.highest = max(self.highest, seqno)

    def deliverable(self, limit: int | None = None) -> Iterator[Batch]:
        """The next batches in order, up to `limit`; each counts as delivered when it is taken."""
        end = self.received if limit is None else min(self.received, limit)
        while self.delivered < end:
            self.delivered += 1
            yield self.batches[self.delivered]

    def missing(self, limit: int | None = None) -> list[tuple[int, int]]:
        """The gaps up to `limit` (default: the highest number known), as (first, last)."""
        end = self.highest if limit is None else limit
        gaps: list[tuple[int, int]] = []
        first = self.received + 1
        for seqno in sorted(seqno for seqno in self.batches if self.received < seqno <= end):
            if seqno > first:
                gaps.append((first, seqno - 1))
            first = seqno + 1
        if first <= end:
            gaps.append((first, end))
        return gaps

    def has(self, seqno: int) -> bool:
        """Whether the batch of this number has arrived, held still or not."""
        return seqno <= self.received or seqno in self.batches

    def get(self, seqno: int) -> Batch | None:
        """The batch of this number, if it is still held."""
        return self.batches.get(seqno)

    def purge(self, stable: int) -> None:
        """Drop what every member holds, as far as it has been delivered here."""
        end = min(stable, self.delivered)
        while self.purged < end:
            self.purged += 1
            del self.batches[self.purged]
