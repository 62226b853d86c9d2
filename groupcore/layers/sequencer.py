"""SEQUENCER: total order through the coordinator, which multicasts for everybody.

Idea. A member sends a multicast to the coordinator, which puts the sender's name into a header
and multicasts the message itself. NAKACK keeps the coordinator's multicasts in order, so all
members deliver everything in one order; repairs are asked of the coordinator. At the top the
header comes off and the original sender is put back, on a copy: what is kept for retransmission
stays the coordinator's. What has not come back yet stands in the forward-table and is sent again,
in order, to a new coordinator; the received-table drops what comes twice.

Place. Above NAKACK (FIFO), RESILIENCE and fragmentation; the last layer that orders.

Source. Design of SEQUENCER (`sequencer-protocol.txt`): variables and rules as there. Added: the
view in FORWARD (the text's own question), so that a message that reaches the new coordinator
before the view does waits there; the position in the total order; the tables for a joiner.

Invariants.
  I1  Only the coordinator multicasts, for members of the view: a FORWARD that reaches somebody
      else is dropped, and so is, by all alike, what goes out in a view that is not the origin's
      or not the coordinator's any more.
  I2  Messages of one sender are delivered in the order in which it sent them, each once.
  I3  A message stays in the forward-table until its broadcast has come back.
  I4  On a change of coordinator the forward-table is sent again, in increasing order of seqnos.
  I5  The original sender is restored on a copy; the retransmission copy is not touched.
  I6  All members have the same received-table and position at the same place in the order; a
      joiner is given both.
  I7  stop(): nothing new is taken, and the member leaves when its forward-table is empty, or
      after `stop_s` without that.
  I8  The order is late when a message has been in the forward-table for `timeout_s` and less than
      the least pace of anything has been ordered since. Only a member that waits for another, in
      a view that it is primary in, awake and read by its application, says so; it counts anew
      with each view, and during a view change it says nothing new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Batch, Header, cost_of
from groupcore.early import Early
from groupcore.effects import Down, Effect, Up
from groupcore.events import (
    Event,
    ViewInstalled,
)
from groupcore.forward_table import ForwardTable
from groupcore.forward_watch import ForwardWatch
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.order_progress import OrderProgress
from groupcore.order_state import OrderState
from groupcore.own_messages import OwnMessages
from groupcore.view import Address, View


@travels(16)
@dataclass(slots=True)
class Forward(Header):
    """Member to coordinator: multicast this for me; my number `seqno`, sent in view `view`."""

    kind: ClassVar[str] = "sequencer.forward"
    self_limiting: ClassVar[bool] = True  # by the forward-table's window
    view: int
    seqno: int


@travels(17)
@dataclass(slots=True)
class Ordered(Header):
    """Coordinator to group (the text's DATA): `origin`'s message number `seqno`."""

    kind: ClassVar[str] = "sequencer.ordered"
    ends_with_epoch: ClassVar[bool] = True
    origin: Address
    seqno: int


STOP_S = 5.0
"""Seconds for which stop() waits for what has not come back."""
EARLY_BYTES_MAX = 64 << 20
"""Most that may wait for a view: every member's window, for as many members as there can be."""


class Sequencer(Layer):
    """Forwards, multicasts for others, delivers in one order."""

    name = "SEQUENCER"
    headers = (Forward, Ordered)
    hears = (ViewInstalled, *OwnMessages.hears)
    provides = frozenset({"total order"})
    requires_below = frozenset({"reliable multicast", "reliable unicast", "views"})

    def __init__(
        self,
        me: Address,
        window_bytes: int = 1 << 20,
        stop_s: float = STOP_S,
        watch: ForwardWatch | None = None,
    ) -> None:
        self.me = me
        self.view: View | None = None
        self.members: frozenset[Address] = frozenset()
        self.coordinator = me
        self.epoch_view = 0
        self.progress = OrderProgress()
        self.forward_table = ForwardTable(window_bytes)
        watch = watch or ForwardWatch()
        self.own = OwnMessages(self.name, self.forward_table, watch, stop_s)
        self.early = Early(EARLY_BYTES_MAX)
        self.numbers = {
            "forwarded": 0,
            "sequenced": 0,
            "resent": 0,
            "duplicates": 0,
            "dropped": 0,
        }

    def counters(self) -> dict[str, int]:
        """Batches forwarded, sequenced, sent again, dropped; the forward-table's size.

        `abandoned`: what had not come back when stop() ran out of time; `late`: how often the order
        was late.
        """
        return {**self.numbers, **self.own.counters(), "position": self.progress.position}

    def order_state(self) -> OrderState:
        """What a member that joins at this place in the order must be given."""
        return self.progress.state()

    # --- sending ----------------------------------------------------------------------------------

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """On send(M): unicasts pass; a multicast goes to the coordinator, or out if that is me."""
        if batch.destination is not None or not batch.reliable:
            return [Down(batch)]
        if self.own.stopping or self.view is None:
            self.numbers["dropped"] += 1
            return []
        seqno = self.forward_table.add(batch)
        effects = [*self.own.congestion(), self.send(seqno, batch)]
        self.numbers["forwarded"] += 1
        if self.own.watching or self.coordinator == self.me:
            return effects
        return [*effects, *self.own.keep_watching(now)]

    def send(self, seqno: int, batch: Batch) -> Effect:
        """Forward one of my messages, or multicast it when I am the coordinator (I1)."""
        assert self.view is not None
        if self.view.coordinator == self.me:
            return self.multicast(batch, self.me, seqno)
        forward = batch.to(self.view.coordinator).with_header(Forward(self.view.number, seqno))
        return Down(forward)

    def multicast(self, batch: Batch, origin: Address, seqno: int) -> Effect:
        """Multicast(M, S): the type becomes DATA and stores S."""
        headers = (*batch.headers, Ordered(origin, seqno))
        self.numbers["sequenced"] += 1
        return Down(Batch(self.me, None, headers, batch.body, batch.count))

    # --- receiving --------------------------------------------------------------------------------

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """On reception of M from S: FORWARD or DATA; others have no header of mine."""
        header = batch.headers[-1]
        match header:
            case Ordered():
                return self.deliver(batch, header)
            case Forward():
                return self.on_forward(batch, header)
        raise AssertionError(f"not a header of SEQUENCER: {header!r}")

    def on_forward(self, batch: Batch, header: Forward) -> list[Effect]:
        """If not coordinator: error and return (I1). Before the view is here, wait for it."""
        if self.view is None or header.view > self.view.number:
            if not self.early.keep(header.view, batch):
                self.numbers["dropped"] += 1
            return []
        stranger = batch.sender not in self.view.members
        if self.view.coordinator != self.me or stranger or header.view < self.epoch_view:
            self.numbers["dropped"] += 1
            return []
        return [self.multicast(batch.without_header(), batch.sender, header.seqno)]

    def deliver(self, batch: Batch, header: Ordered) -> list[Effect]:
        """Deliver(M, S): off the forward-table if mine; drop what is not the next of S (I2)."""
        origin = header.origin
        if origin not in self.members or batch.sender != self.coordinator:
            self.numbers["dropped"] += 1  # layers below held it back until this view (I1)
            return []
        effects: list[Effect] = []
        if origin == self.me:
            effects = self.own.take_back(header.seqno)
        ordered = self.progress.take(batch, origin, header.seqno)
        if ordered is None:
            is_duplicate = header.seqno <= self.progress.received.get(origin, 0)
            self.numbers["duplicates" if is_duplicate else "dropped"] += 1
            return effects
        self.own.ordered_cost += cost_of(batch)
        return [Up(ordered), *effects]

    # --- views and the end ------------------------------------------------------------------------

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """A view; stop(); what keeps this member from saying that the order is late (I7, I8)."""
        if not isinstance(event, ViewInstalled):
            return self.own.on_event(event)
        effects = self.on_view(event)
        return [*effects, *self.own.begin_view(self.coordinator != self.me, now)]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`watch` and `stop`."""
        return self.own.on_timer(timer, now)

    def on_view(self, event: ViewInstalled) -> list[Effect]:
        """On view change: a new coordinator gets the forward-table, in order (I4)."""
        before = self.view
        self.view, self.coordinator = event.view, event.view.coordinator
        self.members = frozenset(event.view.members)
        if event.fresh or event.recovered:
            self.begin_epoch(event)
        self.progress.keep(event.view.members)
        effects: list[Effect] = []
        if before is None or before.coordinator != event.view.coordinator or event.recovered:
            table = self.forward_table.batches
            effects = [self.send(seqno, batch) for seqno, batch in table.items()]
            self.numbers["resent"] += len(effects)
        for batch in self.early.take(event.view.number):
            effects += self.on_up(batch, now=0.0)
        return effects

    def begin_epoch(self, event: ViewInstalled) -> None:
        """A joiner takes the tables it was given; a recovered epoch begins with empty ones (I6)."""
        self.epoch_view = event.view.number if event.recovered else 0
        self.progress.begin(event.position, event.order_state)
        self.forward_table.renumber()
