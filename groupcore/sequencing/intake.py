"""Requests on their way into a sequencer: those that wait for the window, or for what they name.

Invariants.
  I1  What waits for the window waits in order.
  I2  A request is handled when this node has received what its context names, and has applied the
      control plane's order up to the place that it names: what the sequencer says rests on that
      (stream, I4). One that names what nobody has is dropped in the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from groupcore.batch import Batch
from groupcore.context import Numbers
from groupcore.sequencing.plane import Plane

EARLY_MAX = 4_096
"""Requests that wait for what they name; more are sent again by their nodes."""
HANDLED_AT_ONCE = 256
"""Requests that have waited for the window and are handled in one turn."""
REQUESTS_MAX = 65_536
"""Requests that wait for the window; more are dropped and sent again by their nodes."""
TRIES_MAX = 64
"""Turns for which a request waits for what it names."""


class Request:
    """A request of a node, which has come at `since`; `tries`: how often it was put off."""

    __slots__ = ("batch", "since", "tries")

    def __init__(self, batch: Batch, since: float) -> None:
        self.batch = batch
        self.since = since
        self.tries = 0


class Intake:
    """`handle` is called with a request that does not wait (any more)."""

    def __init__(self, plane: Plane, handle: Callable[[Request], None]) -> None:
        self._plane = plane
        self._handle = handle
        self._new: list[Request] = []
        self._waiting: deque[Request] = deque()
        self._early: list[Request] = []

    @property
    def waits(self) -> bool:
        """Whether something is looked at again in the next turn."""
        return bool(self._new or self._waiting or self._early)

    def take(self, batch: Batch, now: float) -> None:
        """A request of a node; it is handled when the turn ends, with what else has come."""
        if self._plane.ready:
            self._new.append(Request(batch, now))
        else:
            self._plane.counters["requests_dropped"] += 1

    def handle_new(self) -> None:
        """The requests of this turn; they wait while the window is full or the view changes."""
        if not self._new:
            return
        new, self._new = self._new, []
        for request in new:
            if not self._waiting and not self._plane.numbers_nothing:
                self._handle(request)
            elif len(self._waiting) < REQUESTS_MAX:
                self._waiting.append(request)
                self._plane.counters["window_waits"] += 1
            else:
                self._plane.counters["requests_dropped"] += 1

    def resume(self) -> None:
        """The window may have opened; a turn does not handle more than it should."""
        for _ in range(min(len(self._waiting), HANDLED_AT_ONCE)):
            if self._plane.numbers_nothing:
                break
            self._handle(self._waiting.popleft())

    def knows(self, numbers: Numbers) -> bool:
        """Whether this node has received what a context names."""
        streams = self._plane.streams
        for address, number in numbers.items():
            stream = streams.get(address)
            if stream is not None and max(stream.received, stream.recorded) < number:
                return False
        return True

    def put_off(self, request: Request) -> None:
        """The request names what is still to come (I2)."""
        if request.tries < TRIES_MAX and len(self._early) < EARLY_MAX:
            request.tries += 1
            self._early.append(request)
        else:
            self._plane.counters["dropped.context_ahead"] += 1

    def retry(self) -> None:
        """Another turn: what has been put off is looked at again."""
        if self._early:
            early, self._early = self._early, []
            for request in early:
                self._handle(request)
