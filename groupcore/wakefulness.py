"""Whether a member has slept, as it is told or its own clock shows, and been awake since.

A plain value with its rule. What gathered in the buffer of a sleeper may be of a view that the
others have left meanwhile by way of their disks; so for a while it concludes nothing from it.
"""

from __future__ import annotations


class Wakefulness:
    """One member's. `wary_s`: how long it is wary after a sleep; half of that is a sleep."""

    __slots__ = ("awake_until", "wary_s", "wary_until")

    def __init__(self, wary_s: float) -> None:
        self.wary_s = wary_s
        self.wary_until = 0.0
        self.awake_until = float("inf")

    @property
    def tick_s(self) -> float:
        """How often `tick` has to be called, in seconds."""
        return self.wary_s / 6

    def begin(self) -> None:
        """Nobody calls `tick` until it is called again."""
        self.awake_until = float("inf")

    def tick(self, now: float) -> None:
        """A timer that comes late shows a sleep."""
        self.is_wary(now)
        self.awake_until = now + self.wary_s / 2

    def sleep(self, now: float) -> None:
        """This process was not scheduled before this moment, and its clock leaves that out."""
        self.wary_until = now + self.wary_s
        self.awake_until = now + self.wary_s / 2

    def is_wary(self, now: float) -> bool:
        """Whether this member has slept, or did lately."""
        if now > self.awake_until:
            self.wary_until = now + self.wary_s
            self.awake_until = now + self.wary_s / 2
        return now < self.wary_until
