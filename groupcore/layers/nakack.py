"""Reliable FIFO multicast by negative acknowledgement.

Idea. A sender numbers its multicasts; a receiver that sees a gap asks for what is missing, the
sender first, then anybody who holds it. A lost last message leaves no gap, so a sender repeats
its highest number (a high-water mark) until everybody has acknowledged it. Acknowledgements are
cumulative, at once where a quorum waits for them; they open the window, tell what a quorum
holds, and let everybody drop what all hold. Numbers begin at 1 in each view, so what a member
that joins has to expect is known exactly: nothing yet.

Place. Above the transport and failure detection, below everything that multicasts reliably; FLUSH
above it holds back what is sent before the first view and in a view change. In one it freezes,
gets what the agreed cut contains, and delivers up to the cut.

Source. JGroups NAKACK; pbcast design, "Last Message dropped in NAKACK" and "Digest returned to
client"; fault matrix rows 1 to 5 and 20.

Invariants.
  I1  Batches of one sender are delivered in the order of their numbers, without a gap, once.
  I2  A batch is delivered only in the view in which it was numbered.
  I3  After the flush has started nothing is acknowledged or delivered until the cut is known;
      then everything up to the cut is delivered, and nothing behind it.
  I4  Whatever a member has sent reaches every member that stays, also the last of a burst.
  I5  A batch leaves the window only when every member of the view holds it.
  I6  Batches of a later view are kept until that view is installed here.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from groupcore.acknowledging import Acknowledging, Tally
from groupcore.batch import Batch, Header
from groupcore.digest import Digest
from groupcore.early import Early
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer, Up
from groupcore.events import (
    Acknowledged,
    CutAgreed,
    Event,
    FetchCut,
    FlushStarted,
    HeldBy,
    MuchReceived,
    Stable,
    ViewInstalled,
    WindowFull,
)
from groupcore.layer import Layer
from groupcore.layers.nakack_answers import Answering
from groupcore.layers.nakack_headers import Ack, Data, HighWater, NakackOptions, Repair, Request
from groupcore.outgoing import Outgoing
from groupcore.paths import directly
from groupcore.repairs import Holdings, Repairing, Repairs, Wanted
from groupcore.view import Address, View
from groupcore.window import Window


class Nakack(Layer):
    """Numbers, repairs and delivers multicasts in one view at a time."""

    name = "NAKACK"
    headers = (Data, Ack, Request, Repair, HighWater)
    hears = (FlushStarted, FetchCut, CutAgreed, ViewInstalled, Stable, HeldBy)
    provides = frozenset({"reliable multicast", "digest"})
    answers = (FlushStarted, FetchCut, CutAgreed)
    requires_above = frozenset({"views"})

    def __init__(
        self,
        me: Address,
        random: Random,
        options: NakackOptions,
        unreachable: Callable[[], frozenset[Address]] = frozenset,
        way_to: Callable[[Address], Address | None] = directly,
    ) -> None:
        self.me = me
        self.random = random
        self.options = options
        self.view: View | None = None
        self.number = 0
        self.windows: dict[Address, Window] = {}
        self.mine = Outgoing(Window(), ())
        self.future = Early(options.future_bytes_max)
        self.acknowledging = Acknowledging(me, options.window_bytes, options.ack_late_s)
        self.early: list[Batch] = []
        self.repairs = Repairs(me, random, options.repair)
        holdings = Holdings(self.digest, self.repairable, unreachable, self.ask)
        self.repairing = Repairing(self.repairs, holdings)
        self.way_to = way_to
        self.answering = Answering(me, options.repair, way_to)
        self.much = Tally(options.report_bytes)
        self.high_water_s = options.high_water_min_s
        self.numbers = {"sent": 0, "dropped": 0}

    def digest(self) -> Digest:
        """For each sender the number up to which everything is held here."""
        return {sender: window.received for sender, window in self.windows.items()}

    def delivered(self) -> Digest:
        """For each sender the number up to which everything has been delivered here."""
        return {sender: window.delivered for sender, window in self.windows.items()}

    def highest(self) -> Digest:
        """For each sender the highest number that is known to exist."""
        return {sender: window.highest for sender, window in self.windows.items()}

    def counters(self) -> dict[str, int]:
        """Batches sent, repaired, asked for and dropped; bytes in flight; batches kept."""
        kept = sum(len(window.batches) for window in self.windows.values())
        now = {"in_flight_bytes": self.mine.in_flight_bytes, "kept": kept}
        return self.numbers | self.repairing.numbers | self.answering.counters() | now

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """Number a reliable multicast; everything else passes."""
        if batch.destination is not None or not batch.reliable:
            return [Down(batch)]
        assert self.view is not None, "FLUSH holds back what is sent before the first view"
        assert not self.repairing.frozen, "FLUSH holds back what is sent in a view change"  # I3
        return self.number_batch(batch)

    def number_batch(self, batch: Batch) -> list[Effect]:
        """Give the batch its number, send what the window lets, deliver it here."""
        self.mine.window.delivered = self.mine.add(batch)
        much = [Notify(MuchReceived())] if self.much.add(batch.size_bytes) else []
        return [*self.transmit(), Up(batch), *much]

    def transmit(self) -> list[Effect]:
        """Send what has a number and fits into the window."""
        mine = self.mine
        effects: list[Effect] = [
            Down(batch.with_header(Data(self.number, seqno, mine.stable)))
            for seqno, batch in mine.sendable(self.options.window_bytes)
        ]
        self.numbers["sent"] += len(effects)
        if effects and not mine.alone:
            effects.append(StartTimer("high_water", self.high_water_s))
        return effects

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """One of this layer's headers, outermost."""
        header = batch.headers[-1]
        match header:
            case Data():
                return self.on_data(batch, header)
            case Ack():
                return self.on_ack(batch.sender, header)
            case Request():
                effects = self.answering.on_request(batch.sender, header, now)
                return self.drop() if effects is None else effects
            case Repair():
                return self.on_repair(batch, header)
            case HighWater():
                return self.on_high_water(batch.sender, header)
        raise AssertionError(f"not a header of NAKACK: {header!r}")

    def on_data(self, batch: Batch, header: Data) -> list[Effect]:
        """A multicast, first hand."""
        if header.view != self.number:
            return self.keep_for_later(batch, header.view)
        window = self.windows.get(batch.sender)
        if window is None or batch.sender == self.me:
            return self.drop()
        effects = self.receive(window, header.seqno, batch.without_header(), batch.sender)
        if header.stable > window.purged and self.options.acknowledge == "all":
            window.purge(header.stable)
        return effects

    def receive(self, window: Window, seqno: int, batch: Batch, origin: Address) -> list[Effect]:
        """Keep a batch of `origin`, deliver what has become deliverable (I1)."""
        if not window.add(seqno, batch):
            self.numbers["dropped"] += 1  # the acknowledgement may have been lost
            return self.owe(origin, 0, at_once=True)
        if self.repairing.frozen:
            return self.repairing.cut_held()
        effects: list[Effect] = [Up(ready) for ready in window.deliverable()]
        effects += self.owe(origin, batch.size_bytes)
        if self.much.add(batch.size_bytes):
            effects.append(Notify(MuchReceived()))
        if window.received < window.highest:
            effects.append(StartTimer("repair", 0))
        return effects

    def owe(self, origin: Address, size_bytes: int, at_once: bool = False) -> list[Effect]:
        """Acknowledge at the end of the turn or a little later; never in a flush (I3)."""
        if self.repairing.frozen or self.options.acknowledge == "none":
            return []
        delay_s = self.acknowledging.note(origin, size_bytes, at_once)
        return [] if delay_s is None else [StartTimer("ack", delay_s)]

    def keep_for_later(self, batch: Batch, view: int) -> list[Effect]:
        """A batch of a view that is not installed here yet (I6), or of one that has gone."""
        if view <= self.number or not self.future.keep(view, batch):
            return self.drop()
        return []

    def drop(self) -> list[Effect]:
        """May come, must not count."""
        self.numbers["dropped"] += 1
        return []

    def on_ack(self, member: Address, header: Ack) -> list[Effect]:
        """A member holds my multicasts up to a number."""
        mine = self.mine
        if header.view != self.number or not mine.acknowledge(member, header.received):
            return []
        effects: list[Effect] = []
        if not self.repairing.frozen:
            effects.append(Notify(Acknowledged(member, mine.acknowledged[member])))
        return effects + self.on_settled(mine.settle())

    def on_settled(self, opened: bool) -> list[Effect]:
        """All hold more of my multicasts (I5), or as much as before."""
        if not opened:
            return []
        self.high_water_s = self.options.high_water_min_s
        effects = [] if self.repairing.frozen else self.transmit()
        if self.mine.all_hold:
            effects.append(StopTimer("high_water"))
        return effects

    def on_high_water(self, sender: Address, header: HighWater) -> list[Effect]:
        """The sender has sent up to a number: acknowledge, or ask for what is missing (I4)."""
        window = self.windows.get(sender)
        if header.view != self.number or window is None or self.repairing.frozen:
            return []
        return self.owe(sender, 0, at_once=True) + self.announce({sender: header.seqno})

    def on_repair(self, batch: Batch, header: Repair) -> list[Effect]:
        """A multicast, second hand: as if it had come from its sender."""
        window = self.windows.get(header.origin)
        if header.view != self.number or window is None or header.origin == self.me:
            return self.drop()
        if batch.destination is None and window.has(header.seqno):
            return []  # others have asked for it
        original = Batch(header.origin, None, batch.headers[:-1], batch.body, batch.count)
        self.repairs.progress()
        return self.receive(window, header.seqno, original, header.origin)

    def repairable(self) -> dict[Address, Window]:
        """Where gaps may be asked for: everywhere."""
        return self.windows

    def ask(self, wanted: Wanted) -> Effect:
        """The request for what is missing."""
        to = self.way_to(wanted.holder)
        return self.tell(to, Request(self.number, wanted.origin, wanted.ranges))

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`begin`, `ack`, `repair`, `answer` at the end of a turn; `retry`, `high_water` later."""
        handlers: dict[str, Callable[[], list[Effect]]] = {
            "ack": self.acknowledge,
            "answer": lambda: self.answering.answer(now),
            "begin": self.begin,
            "repair": self.repairing.repair,
            "retry": self.repairing.retry,
            "high_water": self.repeat_high_water,
        }
        return handlers[timer]()

    def acknowledge(self) -> list[Effect]:
        """One cumulative acknowledgement to each sender to whom one is owed."""
        return [
            self.tell(origin, Ack(self.number, self.windows[origin].received))
            for origin in self.acknowledging.take()
            if origin in self.windows and origin != self.me
        ]

    def tell(self, member: Address | None, header: Header) -> Effect:
        """A header by itself, to one member or to the group."""
        return Down(Batch(self.me, member, (header,), reliable=False))

    def repeat_high_water(self) -> list[Effect]:
        """Say how far I have sent, as long as somebody has not acknowledged it."""
        if self.repairing.frozen or self.view is None or self.mine.all_hold:
            return []
        mark = HighWater(self.number, self.mine.sent)
        self.high_water_s = min(2 * self.high_water_s, self.options.high_water_max_s)
        full = [Notify(WindowFull())] if self.mine.waits else []
        return [self.tell(None, mark), *full, StartTimer("high_water", self.high_water_s)]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """The steps of a view change, and stability."""
        match event:
            case FlushStarted():
                self.repairing.freeze()
                self.acknowledging.stop()
                return self.stop_timers()
            case FetchCut():
                return self.repairing.fetch_cut(event)
            case CutAgreed():
                return self.on_cut_agreed(event)
            case ViewInstalled():
                return self.on_view(event.view)
            case Stable() if not self.repairing.frozen:
                return self.on_stable(event)
            case HeldBy() if not self.repairing.frozen:
                return self.on_held_by(event)
        return []

    def on_cut_agreed(self, event: CutAgreed) -> list[Effect]:
        """Deliver up to the cut, sender by sender in rank order (I3)."""
        effects: list[Effect] = []
        for sender, window in self.windows.items():
            effects += [Up(batch) for batch in window.deliverable(event.cut.get(sender, 0))]
        return effects

    def on_view(self, view: View) -> list[Effect]:
        """Begin a view with empty windows; then take what came early."""
        self.view, self.number = view, view.number
        self.windows = {member: Window() for member in view.members}
        self.answering.begin(view.number, self.windows)
        others = [member for member in view.members if member != self.me]
        self.mine = Outgoing(self.windows[self.me], others)
        self.acknowledging.begin(view)
        self.repairing.begin_view(view.members)
        self.early = self.future.take(view.number)
        return [*self.stop_timers(), StartTimer("begin", 0)]

    def begin(self) -> list[Effect]:
        """Once every layer knows the view, what came early goes up."""
        effects: list[Effect] = []
        early, self.early = self.early, []
        for batch in early:
            effects += self.on_up(batch, 0.0)
        return effects

    def stop_timers(self) -> list[Effect]:
        """Nothing is asked for or repeated until the next step."""
        return [StopTimer("high_water"), StopTimer("retry"), StopTimer("repair")]

    def on_stable(self, event: Stable) -> list[Effect]:
        """Drop what all have delivered; ask for what others have seen and I have not."""
        collectable = event.delivered if event.collectable is None else event.collectable
        for sender, seqno in collectable.items():
            if sender in self.windows and sender != self.me:
                self.windows[sender].purge(seqno)
        effects = self.announce(event.received)
        if self.options.acknowledge == "none":
            mine = event.delivered.get(self.me, 0)
            effects += self.on_settled(self.mine.settle_to(mine, collectable.get(self.me, 0)))
        return effects

    def on_held_by(self, event: HeldBy) -> list[Effect]:
        """Ask that member for what it holds and I do not."""
        self.repairs.offer(event.holder, event.held)
        return self.announce(event.held)

    def announce(self, known: Digest) -> list[Effect]:
        """These numbers exist: ask for what is missing."""
        for sender, seqno in known.items():
            if sender in self.windows and sender != self.me:
                self.windows[sender].announce(seqno)
        return [StartTimer("repair", 0)] if self.repairing.unheld() else []
