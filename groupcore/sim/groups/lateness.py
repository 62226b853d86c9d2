"""A node that hears late what is ordered, while the data plane's packets arrive as they do.

The control plane promises one order, and not when each node is told of it. So a node's service may
be told of commands later than others are. It has heard of all of them before the view is stopped or
another one installed, as the channel beneath delivers a view's messages before the view ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random

from groupcore.digest import Digest
from groupcore.events import Event
from groupcore.sequencing.options import ServiceOptions
from groupcore.sim.clock import Clock
from groupcore.sim.fault import Fault
from groupcore.sim.groups.observer import RestingService, Watcher
from groupcore.sim.groups.promises import Promise
from groupcore.sim.trace import Trace
from groupcore.view import Address

LATE_ORDER = "late-order"
"""The fault: for its duration the node hears of commands `factor` milliseconds late."""


@dataclass(slots=True)
class Lateness:
    """How late a node hears now: the longest of the faults that are on."""

    delays_s: list[float] = field(default_factory=list)

    @property
    def delay_s(self) -> float:
        """Seconds between the order and the service."""
        return max(self.delays_s, default=0.0)

    def begin(self, fault: Fault, clock: Clock) -> None:
        """From now on, until the fault ends."""
        delay_s = fault.factor / 1_000
        self.delays_s.append(delay_s)
        clock.after(fault.duration_ns, self._end, delay_s)

    def _end(self, delay_s: float) -> None:
        if delay_s in self.delays_s:
            self.delays_s.remove(delay_s)

    def heal(self) -> None:
        """Nothing is late any more."""
        self.delays_s.clear()


class LateService(RestingService):
    """One that is told of commands as late as `lateness` says, in their order."""

    def __init__(
        self,
        me: Address,
        options: ServiceOptions,
        random: Random,
        clock: Clock,
        trace: Trace,
        watchers: list[Watcher],
        log: Sequence[bytes] = (),
        promise: Promise | None = None,
        lateness: Lateness | None = None,
    ) -> None:
        self._late: deque[tuple[float, Callable[[float], None]]] = deque()
        self._lateness = lateness or Lateness()
        super().__init__(me, options, random, clock, trace, watchers, log, promise)

    def on_order(self, by: Address, payload: bytes, now: float, position: int = 0) -> None:
        """See `Service`; behind what has come before it, and is still to be told."""
        due = now + self._lateness.delay_s
        if due <= now and not self._late:
            super().on_order(by, payload, now, position)
            return
        tell = super().on_order
        last = self._late[-1][0] if self._late else due
        self._late.append((max(due, last), lambda at: tell(by, payload, at, position)))

    def _release(self, until: float, now: float) -> None:
        while self._late and self._late[0][0] <= until:
            self._late.popleft()[1](now)

    def on_event(self, event: Event, now: float) -> None:
        """See `Service`; a view is behind all that was ordered before it."""
        self._release(inf, now)
        super().on_event(event, now)

    def stop_acknowledging(self, view: int) -> Digest:
        """See `Service`; a view is stopped behind all that was ordered in it."""
        self._release(inf, self._now)
        return super().stop_acknowledging(view)

    def end_turn(self, now: float) -> None:
        """See `Service`."""
        self._release(now, now)
        super().end_turn(now)

    def next_wake(self) -> float | None:
        """See `Service`; or when the next command is told."""
        wake = super().next_wake()
        if not self._late:
            return wake
        due = self._late[0][0]
        return due if wake is None else min(wake, due)
