"""A member's own ordered messages until they come back: waited for, missed, stopped for.

It joins the forward-table to what both ordering layers do with it: tell the application to wait,
say that the order is late, drain at stop(). It starts the layer's timers `watch` and `stop`; the
layer hands them back, and the events that `hears` names.

The order is late as `forward_watch` says. Only a member that waits for another, in a view that it
is primary in, awake and read by its application, says so; it counts anew with each view, and
during a view change it says nothing new.
"""

from __future__ import annotations

from groupcore.effects import Effect, Notify, StartTimer, StopTimer
from groupcore.events import (
    Backlog,
    Drained,
    Event,
    FlushStarted,
    Leave,
    OrderLate,
    PrimaryLost,
    PrimaryRegained,
)
from groupcore.forward_table import ForwardTable
from groupcore.forward_watch import ForwardWatch


class OwnMessages:
    """One member's, on behalf of `layer`. `ordered_cost`: cost in bytes of all seen ordered."""

    hears = (FlushStarted, Leave, Backlog, PrimaryLost, PrimaryRegained)

    def __init__(self, layer: str, table: ForwardTable, watch: ForwardWatch, stop_s: float) -> None:
        self.layer = layer
        self.table = table
        self.watch = watch
        self.stop_s = stop_s
        self.stopping = self.watching = self.frozen = self.unread = False
        self.elsewhere = False
        self.primary = True
        self.ordered_cost = 0
        self.numbers = {"abandoned": 0, "late": 0}

    def counters(self) -> dict[str, int]:
        """What stop() gave up, how often the order was late, what is in the table."""
        size = {"forward_table": len(self.table), "forward_bytes": self.table.size_bytes}
        return {**self.numbers, **size}

    def congestion(self) -> list[Effect]:
        """Say when the table is full, and when half of it has come back."""
        changed = self.table.congestion(self.layer)
        return [] if changed is None else [Notify(changed)]

    def take_back(self, seqno: int) -> list[Effect]:
        """One of my messages has come back; the last one lets me go."""
        if not self.table.take_back(seqno):
            return []
        effects = self.congestion()
        if self.stopping and not self.table:
            effects += [StopTimer("stop"), Notify(Drained())]
        return effects

    def begin_view(self, elsewhere: bool, now: float) -> list[Effect]:
        """A view begins; `elsewhere`: another member orders, of which nothing is known yet."""
        self.elsewhere, self.frozen = elsewhere, False
        self.watch.begin()
        return [] if self.watching else self.keep_watching(now)

    def keep_watching(self, now: float) -> list[Effect]:
        """Look again a little later, as long as something is waited for."""
        self.watching = bool(self.table) and self.elsewhere
        return [StartTimer("watch", self.watch.plan(now))] if self.watching else []

    def on_event(self, event: Event) -> list[Effect]:
        """stop(), and what keeps this member from saying that the order is late."""
        match event:
            case FlushStarted():
                self.frozen = True
            case PrimaryLost() | PrimaryRegained():
                self.primary = isinstance(event, PrimaryRegained)
            case Backlog(cost_bytes):
                self.unread = cost_bytes > 0
            case Leave():
                self.stopping = True
                return [StartTimer("stop", self.stop_s)] if self.table else [Notify(Drained())]
        return []

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`watch`; `stop`: the rest has not come back in time, the member leaves without."""
        if timer == "watch":
            return self.look(now)
        self.numbers["abandoned"] = len(self.table)
        return [Notify(Drained())]

    def look(self, now: float) -> list[Effect]:
        """Say that the order is late, or that it is so no more."""
        if self.frozen:
            return self.keep_watching(now)
        was_late = self.watch.late
        if not self.table or self.unread or not self.primary:
            self.watch.begin()
        else:
            oldest, newest = next(iter(self.table.batches)), self.table.next_seqno - 1
            self.watch.look(oldest, newest, self.ordered_cost, now)
        effects = self.keep_watching(now)
        if self.watch.late == was_late:
            return effects
        self.numbers["late"] += self.watch.late
        return [*effects, Notify(OrderLate(self.watch.late))]
