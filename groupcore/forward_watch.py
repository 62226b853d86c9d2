"""Whether the order is late: a member's own messages do not come back, and little else does.

A plain value with its rule, no messages. It looks at the forward-table every `LOOK_S` and marks how
far the table reached then, so the age of the oldest message is known without a time for each.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

LOOK_S = 0.1
"""How often `look` has to be called while something is in the forward-table."""
ASLEEP_S = 0.3
"""A look that comes so much late shows that this member has slept."""
MARKS_MAX = 256
PATIENCE = 1.2
"""Stall timeouts of flow control for which the order is waited for.

More than one, because flow control knows better whom the coordinator waits for: it speaks first,
two looks earlier. Not much more, because until then nothing is ordered (fault matrix row 8).
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """What was seen at a look: the newest own message, and the cost of all ordered so far."""

    at: float
    newest: int
    ordered_cost: int


class ForwardWatch:
    """One member's. Late: waiting for `timeout_s`, less than `pace_bytes_s` of anything ordered."""

    __slots__ = ("due_at", "late", "marks", "pace_bytes_s", "timeout_s")

    def __init__(self, timeout_s: float = 1.8, pace_bytes_s: int = 64 << 10) -> None:
        self.timeout_s = timeout_s
        self.pace_bytes_s = pace_bytes_s
        self.marks: deque[Mark] = deque()
        self.late = False
        self.due_at = 0.0

    def begin(self) -> None:
        """Nothing is known of what is in the table, and nothing is late."""
        self.marks.clear()
        self.late = False

    def plan(self, now: float) -> float:
        """The next look is planned; in how many seconds."""
        self.due_at = now + LOOK_S
        return LOOK_S

    def look(self, oldest: int, newest: int, ordered_cost: int, now: float) -> bool:
        """The table reaches from `oldest` to `newest`; whether the order is late now.

        `ordered_cost` is the cost in bytes of all that this member has seen ordered.
        """
        marks = self.marks
        if now - self.due_at > ASLEEP_S:
            marks.clear()
        while marks and marks[0].newest < oldest:
            marks.popleft()
        if not marks or (marks[-1].newest < newest and len(marks) < MARKS_MAX):
            marks.append(Mark(now, newest, ordered_cost))
        waited_s = now - marks[0].at
        little = ordered_cost - marks[0].ordered_cost < self.pace_bytes_s * waited_s
        self.late = waited_s > self.timeout_s and little
        return self.late
