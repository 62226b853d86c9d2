"""How much a reader has not read, counted where it costs nothing a message.

What is put in is counted a delivery at a time; what has been read follows from how many items are
left. Costs are those of flow control, in bytes.
"""

from __future__ import annotations

from collections import deque

BACKLOG_STEP_BYTES = 64 << 10
"""Below this nothing is unread worth speaking of; changes smaller than this are not told."""


class Unread:
    """The ledger of one inbox. `wake_at` items left, the reader says that it gets on."""

    __slots__ = ("_cost_bytes", "_items", "_marks", "_read_bytes", "wake_at")

    def __init__(self) -> None:
        self._marks: deque[tuple[int, int]] = deque()
        self._items = 0
        self._cost_bytes = 0
        self._read_bytes = 0
        self.wake_at = -1

    def add(self, items: int, cost_bytes: int) -> None:
        """So many items were put in, which cost so much together."""
        self._items += items
        self._cost_bytes += cost_bytes
        self._marks.append((self._items, self._cost_bytes))

    def backlog_bytes(self, left: int) -> int:
        """The cost of what is unread when so many items are left; a delivery counts as a whole.

        While that is much, the reader wakes whoever asks when it has read half of it.
        """
        marks = self._marks
        read = self._items - left
        while marks and marks[0][0] <= read:
            self._read_bytes = marks.popleft()[1]
        backlog_bytes = self._cost_bytes - self._read_bytes
        self.wake_at = left // 2 if backlog_bytes >= BACKLOG_STEP_BYTES else -1
        return backlog_bytes
