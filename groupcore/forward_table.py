"""The forward-table: a member's own ordered messages that have not come back yet.

A plain container, no time and no messages. Seqnos grow by one a batch; what stands here is sent
again when the order gets a new maker. Its size tells the application when to wait.
"""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.events import Congested


class ForwardTable:
    """Own messages by seqno, in increasing order; sizes in bytes."""

    __slots__ = ("batches", "congested", "next_seqno", "size_bytes", "window_bytes")

    def __init__(self, window_bytes: int) -> None:
        self.window_bytes = window_bytes
        self.batches: dict[int, Batch] = {}
        self.next_seqno = 1
        self.size_bytes = 0
        self.congested = False

    def __len__(self) -> int:
        return len(self.batches)

    def add(self, batch: Batch) -> int:
        """Keep the batch under the next seqno, which is returned."""
        seqno = self.next_seqno
        self.next_seqno = seqno + 1
        self.batches[seqno] = batch
        self.size_bytes += len(batch.body)
        return seqno

    def take_back(self, seqno: int) -> bool:
        """Everything up to this seqno has come back; False when that is no news."""
        batches = self.batches
        before = len(batches)
        while batches and (first := next(iter(batches))) <= seqno:
            self.size_bytes -= len(batches.pop(first).body)
        return len(batches) < before

    def renumber(self) -> None:
        """Number what is here from 1: an epoch begins that knows nothing of it."""
        self.batches = dict(enumerate(self.batches.values(), start=1))
        self.next_seqno = len(self.batches) + 1

    def congestion(self, layer: str) -> Congested | None:
        """What `layer` has to tell: the table is full, or half of it has come back."""
        if not self.congested and self.size_bytes >= self.window_bytes:
            self.congested = True
            return Congested(True, layer)
        if self.congested and self.size_bytes <= self.window_bytes // 2:
            self.congested = False
            return Congested(False, layer)
        return None
