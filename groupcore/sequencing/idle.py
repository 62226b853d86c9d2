"""Idle turns: a service to which nothing has come has nothing to do before its next time.

Idea. Most turns of a quiet node are the control plane's: heartbeats and their timers, some fifty a
second. The service is asked in each what is due, at every node, and mostly nothing is. When a turn
has caused nothing and left nothing for the next one, those that follow are left out, until
something comes, or it is time for something that was planned.

Invariants.
  I1  What is left out would have done nothing: traces are the same with it and without.
  I2  Everything that comes from outside ends it, whatever it is, but a digest that says nothing
      new: most do, and they leave everything as it was.
"""

from __future__ import annotations

from math import inf


class Idle:
    """Whether turns are left out: `is_on`. `wake_at` is the next time that was planned then."""

    __slots__ = ("_until", "is_on", "wake_at")

    def __init__(self) -> None:
        self.is_on = False
        self.wake_at: float | None = None
        self._until = -inf

    def begin(self, wake_at: float | None, look_at: float) -> None:
        """A turn has left nothing. At `look_at` a turn, if there is one, has something to do."""
        self.is_on = True
        self.wake_at = wake_at
        self._until = look_at if wake_at is None else min(wake_at, look_at)

    def end(self) -> None:
        """Something has come (I2)."""
        self.is_on = False

    def lasts(self, now: float) -> bool:
        """Whether there is still nothing to do; else it ends."""
        if self.is_on and now >= self._until:
            self.is_on = False
        return self.is_on
