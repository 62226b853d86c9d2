"""Asks pages to slow down while this node does not keep up.

Idea. A node that is behind with its disk, its share of the order or its own loop only gets further
behind when pages go on at their own rate: each call waits longer, and pages send more of them. So
the node names a pause: least time between two rounds of calls of a page. It doubles while the node
is behind, and is let go of slowly, a quarter for each second: a loop that has turned in time once
does so because of the pause. A page composes what it has to send meanwhile, so nothing is lost by
it and much is saved.

Invariants.
  B1  The pause is 0, or from PAUSE_LEAST_MS to PAUSE_MAX_MS.
  B2  Pages are told when it changes, and again every SAY_AGAIN_S while it is not 0: a page that
      hears nothing for longer forgets it.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.shared.runtime import Runtime

TICK_S = 0.25
"""How often the node looks at itself."""
LATE_S = 0.2
"""A loop that turns so late is behind."""
QUEUED_BYTES_MOST = 4 << 20
"""With so much that is not on the disk yet, the node is behind."""
PAUSE_LEAST_MS = 100
PAUSE_MAX_MS = 2_000
SAY_AGAIN_S = 2.0
RELAX_S = 1.0
"""A node that is not behind for so long asks for less."""
RELAXED = 0.75
"""That much of the pause is left then."""


class Brake:
    """`is_behind` is asked; `tell` is called with the pause, ms, that pages shall keep."""

    def __init__(
        self, runtime: Runtime, is_behind: Callable[[], bool], tell: Callable[[int], None]
    ) -> None:
        self.pause_ms = 0
        self._runtime = runtime
        self._is_behind = is_behind
        self._tell = tell
        self._call_off: Callable[[], None] | None = None
        self._due_s = self._told_s = 0.0
        self._eased_s = 0.0

    def start(self) -> None:
        """There are pages: look from now on."""
        if self._call_off is None:
            self._schedule()

    def stop(self) -> None:
        """There are none."""
        if self._call_off is not None:
            self._call_off()
            self._call_off = None
        self.pause_ms = 0

    def _schedule(self) -> None:
        self._due_s = self._runtime.steady_s + TICK_S
        self._call_off = self._runtime.alarm(TICK_S, self._tick)

    def _tick(self) -> None:
        now_s = self._runtime.steady_s
        self.look(now_s - self._due_s, now_s)
        self._schedule()

    def look(self, late_s: float, now_s: float) -> None:
        """Look once; the loop turns so late."""
        before = self.pause_ms
        if late_s > LATE_S or self._is_behind():
            self.pause_ms = min(PAUSE_MAX_MS, max(PAUSE_LEAST_MS, 2 * before))
            self._eased_s = now_s
        elif before and now_s >= self._eased_s + RELAX_S:
            less = int(before * RELAXED)
            self.pause_ms = less if less >= PAUSE_LEAST_MS else 0
            self._eased_s = now_s
        if self.pause_ms != before or (before and now_s >= self._told_s + SAY_AGAIN_S):
            self._told_s = now_s
            self._tell(self.pause_ms)
