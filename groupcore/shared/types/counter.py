"""A counter that all nodes count on."""

from __future__ import annotations

from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation


class Counter(SharedObject):
    """An integer of 64 bits; no increment is ever lost, and each caller gets its own sum."""

    value: int = 0

    @operation
    def add(self, by: int = 1) -> int:
        """Add `by`, which may be negative; gives the sum. FieldError above 64 bits."""
        self.value += by
        return self.value

    @operation
    def reset(self, to: int = 0) -> int:
        """Set the counter; gives what it was."""
        old, self.value = self.value, to
        return old
