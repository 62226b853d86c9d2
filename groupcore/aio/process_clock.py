"""The awake clock of a process, which knows why the process slept: starved, or stopped.

Idea. A process that wanted to run and was given no core, or that was busy in one turn of its loop,
will be late again; one that was stopped, or whose machine was, will not. Linux counts for a thread
how long it ran and how long it waited for a core. What of a sleep was neither, nobody wanted.

Source. `/proc/thread-self/schedstat`: nanoseconds run, nanoseconds waited, time slices.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from groupcore.awake import AwakeClock

SCHEDSTAT = Path("/proc/thread-self/schedstat")
SAMPLE_S = 1.0
"""How often it is looked up how long the thread has wanted to run."""


def wanted_s() -> float | None:
    """For how long this thread has run or waited for a core; None where nobody counts that."""
    try:
        run_ns, waited_ns, _ = SCHEDSTAT.read_text(encoding="ascii").split()
        return (int(run_ns) + int(waited_ns)) / 1e9
    except (OSError, ValueError):
        return None


class ProcessClock(AwakeClock):
    """`starved`: how often it slept because it was given no core, or was busy."""

    __slots__ = ("_read", "_sampled_s", "_wanted_s", "starved")

    def __init__(self, read: Callable[[], float | None] = wanted_s) -> None:
        super().__init__()
        self.starved = 0
        self._read = read
        self._sampled_s = float("-inf")
        self._wanted_s: float | None = None

    def begin_turn(self, monotonic_s: float) -> float:
        """A turn begins; for how many seconds the process has slept before it, or 0.0."""
        slept_s = super().begin_turn(monotonic_s)
        if slept_s or monotonic_s >= self._sampled_s + SAMPLE_S:
            before_s, self._wanted_s = self._wanted_s, self._read()
            self._sampled_s = monotonic_s
            if slept_s:
                self.starved += _is_most(before_s, self._wanted_s, slept_s)
        return slept_s


def _is_most(before_s: float | None, now_s: float | None, slept_s: float) -> bool:
    """Whether it wanted to run for most of the sleep, as far as that is known."""
    return before_s is None or now_s is None or now_s - before_s >= slept_s / 2
