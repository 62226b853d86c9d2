"""Batches of views that are not installed here yet: kept within a bound until they are.

A plain container, no time and no messages.
"""

from __future__ import annotations

from groupcore.batch import Batch

OVERHEAD_BYTES = 512
"""What keeping a batch costs beside its body."""


class Early:
    """Batches by the number of their view, up to `bytes_max` together."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.size_bytes = 0
        self.batches: dict[int, list[Batch]] = {}

    def keep(self, view: int, batch: Batch) -> bool:
        """Keep the batch; False when there is no room."""
        if self.size_bytes >= self.bytes_max:
            return False
        self.batches.setdefault(view, []).append(batch)
        self.size_bytes += OVERHEAD_BYTES + batch.size_bytes
        return True

    def take(self, view: int) -> list[Batch]:
        """The batches of the view that is installed now; those of former ones are dropped."""
        taken = self.batches.get(view, [])
        for number in [number for number in self.batches if number <= view]:
            for batch in self.batches.pop(number):
                self.size_bytes -= OVERHEAD_BYTES + batch.size_bytes
        return taken
