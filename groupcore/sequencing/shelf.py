"""Where a node puts what it must have and seldom looks at: out of memory, if its driver can.

What lies there is in the node's log, too: after a restart it is put there again from that.
"""

from __future__ import annotations

from typing import Protocol


class Shelf(Protocol):
    """Keeps bytes by number, for one life of a node."""

    def put(self, data: bytes) -> int:
        """Keep this; gives its number, above 0."""

    def get(self, number: int) -> bytes:
        """What is kept under this number."""

    def drop(self, number: int) -> None:
        """Keep it no longer."""


class MemoryShelf:
    """A shelf of who has no other place."""

    def __init__(self) -> None:
        self._kept: dict[int, bytes] = {}
        self._given = 0

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, data: bytes) -> int:
        """Keep this; gives its number."""
        self._given += 1
        self._kept[self._given] = data
        return self._given

    def get(self, number: int) -> bytes:
        """What is kept under this number."""
        return self._kept[number]

    def drop(self, number: int) -> None:
        """Keep it no longer."""
        del self._kept[number]
