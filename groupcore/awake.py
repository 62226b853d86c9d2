"""A clock that stands still while this process does not run.

Idea. Time-outs say what others have left undone. A process that was not scheduled, was stopped, or
stood in one turn of its loop for long has not listened meanwhile; what came lies unread, and its
own timers are all late at once. So it takes its time from here: what it slept is left out, every
time-out is longer by that, and it is told that it slept. It slept when a turn begins much later
than the next timer was due.

Place. Values; read by whoever drives an endpoint, a loop or the simulator. No clock here.
Source. Fault matrix, rows 12 and 13.
"""

from __future__ import annotations

from collections import deque

NAPS_MAX = 1_024
SLEEP_S = 0.25
"""What a turn may be late without having slept: a collector, a large turn, a busy core."""


class AwakeClock:
    """`slept_s`: what is left out until now; `sleeps`, `longest_s`: how often, how long at most."""

    __slots__ = ("_due_s", "_naps", "longest_s", "sleeps", "slept_s")

    def __init__(self) -> None:
        self.slept_s = 0.0
        self.sleeps = 0
        self.longest_s = 0.0
        self._due_s: float | None = None
        self._naps: deque[tuple[float, float]] = deque(maxlen=NAPS_MAX)

    def begin_turn(self, monotonic_s: float) -> float:
        """A turn begins; for how many seconds the process has slept before it, or 0.0."""
        if self._due_s is None or monotonic_s - self._due_s <= SLEEP_S:
            return 0.0
        slept_s = monotonic_s - self._due_s
        self._due_s = None
        self.slept_s += slept_s
        self.sleeps += 1
        self.longest_s = max(self.longest_s, slept_s)
        self._naps.append((monotonic_s, slept_s))
        return slept_s

    def end_turn(self, wake_s: float | None, now_s: float = float("-inf")) -> None:
        """A turn that began at `now_s` ends; the next timer is due at `wake_s`, None: none is.

        Both are times of this clock. What was due before the turn is due when it ends.
        """
        self._due_s = None if wake_s is None else max(wake_s, now_s) + self.slept_s

    def seconds(self, monotonic_s: float) -> float:
        """This clock's time at that monotonic time, between `begin_turn` and `end_turn`."""
        return monotonic_s - self.slept_s

    def slept_lately_s(self, monotonic_s: float, within_s: float) -> float:
        """For how long it slept in the last so many seconds, as far as it remembers."""
        return sum(nap_s for at_s, nap_s in self._naps if at_s >= monotonic_s - within_s)

    def monotonic(self, seconds: float) -> float:
        """The monotonic time at which this clock shows so much, unless the process sleeps."""
        return seconds + self.slept_s
