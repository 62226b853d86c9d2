"""Calls of a page that have no answer yet, and what comes behind their answers.

Idea. A page that is told that it may not have an object any more keeps what has no answer as
drafts. A call that has been sent to the order may still be done. So the page is told the results of
its calls first, and of the revocation behind them, within `WAIT_S`.

Invariants.
  W1  What waits happens once: when the calls that were under way have their answers, or `WAIT_S`
      later, or when the session ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from groupcore.shared.runtime import Runtime

WAIT_S = 0.5
"""Longest that a revocation waits for results: a node outside the primary view gets none."""


class Owed:
    """The calls of one session."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._last = 0
        self._calls: set[int] = set()
        self._waiting: dict[Callable[[], None], tuple[set[int], Callable[[], None]]] = {}

    def __len__(self) -> int:
        """How many calls are not answered."""
        return len(self._calls)

    def begin(self) -> int:
        """A call is under way; give the number to `end` when it is answered."""
        self._last += 1
        self._calls.add(self._last)
        return self._last

    def end(self, call: int) -> None:
        """The page has been told what has become of this call."""
        self._calls.discard(call)
        for action, (calls, _) in list(self._waiting.items()):
            calls.discard(call)
            if not calls:
                self._act(action)

    def behind(self, action: Callable[[], None]) -> None:
        """Do this behind the answers of all calls that are under way now (W1)."""
        if not self._calls:
            action()
            return
        call_off = self._runtime.alarm(WAIT_S, partial(self._act, action))
        self._waiting[action] = (set(self._calls), call_off)

    def _act(self, action: Callable[[], None]) -> None:
        waited = self._waiting.pop(action, None)
        if waited is not None:
            waited[1]()
            action()

    def finish(self) -> None:
        """The session ends: what waits happens now."""
        for action in list(self._waiting):
            self._act(action)
