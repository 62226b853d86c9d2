"""TOTAL: total order by sequence ids over multicasts that may be lost.

Idea. A member sends its broadcast to the sequencer only, the first member of the view, which
gives it the next sequence id and broadcasts it. A member queues broadcasts by id and delivers
while the next expected one is there. It asks for ids that are missing; acknowledgements tell the
sequencer what is held, so the buffer is bounded, a lost suffix is noticed, and a message is
delivered only when a quorum holds it. Ids begin anew in each view, where TOTAL_NEW_VIEW says.

Place. Above membership and its flush, whose cut it delivers; needs reliable unicast beneath it
for the requests, and no layer that repairs multicasts. FRAG lies above it.

Source. The TOTAL protocol (`total-protocol.txt`): Members, Sequencer, View Changes,
Retransmission, the appendix; and its Future Improvements: merge, flush, lost suffix, windowed
resend requests with back-off. Unicasts (TOTAL_UNICAST) are not processed.

Invariants.
  I1  Broadcasts are delivered in the order of their ids, without a gap, each once.
  I2  A broadcast is delivered only in the view in which it got its id; queue and retransmission
      state are empty when a view begins.
  I3  A broadcast is delivered only when a quorum of the view holds it, or the cut contains it.
  I4  After the flush has started nothing gets an id, is acknowledged or delivered until the cut
      is known; then everything up to the cut is delivered, and nothing behind it.
  I5  Messages of one sender are ordered in the order in which it sent them, each once; what has
      not come back is requested again in every view, and when it is late (I12).
  I6  Whatever has an id reaches every member that stays, also the last one.
  I7  A broadcast leaves the buffer only when every member of the view holds it.
  I8  No body lies half in one view: the pieces of one that is incomplete are ordered again.
  I9  All members have the same received-table and position at the same place; a joiner is given
      both.
  I10 stop(): nothing new is taken, and the member leaves when all has come back, or after
      `stop_s` without that.
  I11 A member that has slept does not conclude from a broadcast that the sequencer still holds it
      in this view: it waits for a mark, until it has been awake for `wary_s`.
  I12 A member whose broadcast does not come back in time, while little else does, says so.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from groupcore.batch import Batch, cost_of
from groupcore.digest import Digest
from groupcore.early import Early
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer, Up
from groupcore.events import (
    CutAgreed,
    Event,
    FetchCut,
    FlushStarted,
    Slept,
    Stable,
    ViewInstalled,
)
from groupcore.forward_table import ForwardTable
from groupcore.forward_watch import ForwardWatch
from groupcore.layer import Layer
from groupcore.layers.total_headers import (
    Bcast,
    CumSeqAck,
    Mark,
    NewView,
    NewViewAck,
    Request,
    Resend,
    SeqAck,
    TotalHeader,
    TotalOptions,
)
from groupcore.layers.total_queue import Queue
from groupcore.layers.total_sequencer import Sequencing
from groupcore.order_progress import OrderProgress
from groupcore.order_state import OrderState
from groupcore.own_messages import OwnMessages
from groupcore.view import Address, View
from groupcore.wakefulness import Wakefulness


class Total(Layer):
    """Requests, queues by sequence id, repairs, delivers in one order."""

    name = "TOTAL"
    headers = (Request, Bcast, NewView, NewViewAck, CumSeqAck, SeqAck, Resend, Mark)
    answers = (FlushStarted, FetchCut, CutAgreed)
    hears = (FetchCut, CutAgreed, Slept, ViewInstalled, *OwnMessages.hears)
    provides = frozenset(
        {"total order", "reliable multicast", "digest", "stability", "uniform delivery"}
    )
    requires_below = frozenset({"reliable unicast", "views"})

    def __init__(
        self,
        me: Address,
        random: Random,
        options: TotalOptions,
        unreachable: Callable[[], frozenset[Address]] = frozenset,
        watch: ForwardWatch | None = None,
    ) -> None:
        self.me = me
        self.options = options
        self.view: View | None = None
        self.queue = Queue(me, random, options, unreachable)
        self.role: Sequencing | None = None
        self.held = 0
        self.pair_suffices = False
        self.wakefulness = Wakefulness(options.wary_s)
        self.opening = False
        self.early = Early(options.early_bytes_max)
        self.table = ForwardTable(options.order_window_bytes)
        watch = watch or ForwardWatch()
        self.own = OwnMessages(self.name, self.table, watch, options.stop_s)
        self.progress = OrderProgress()
        self.sequenced = 0
        self.numbers = dict.fromkeys(("forwarded", "resent", "duplicates", "dropped"), 0)

    def digest(self) -> Digest:
        """The id up to which everything is held, under the sequencer's address; empty for none."""
        return self.queue.digest()

    def order_state(self) -> OrderState:
        """What a member that joins at this place in the order must be given."""
        return self.progress.state()

    def counters(self) -> dict[str, int]:
        """Batches requested, given an id, dropped; `abandoned`: not back when stop() timed out."""
        role = self.role
        return {
            **self.numbers,
            **self.own.counters(),
            **self.queue.counters(),
            "sequenced": self.sequenced + (0 if role is None else role.sequenced),
            "position": self.progress.position,
            "in_flight_bytes": 0 if role is None else role.book.out.in_flight_bytes,
        }

    # --- sending ----------------------------------------------------------------------------------

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """Unicasts pass; a broadcast is sent to the sequencer only."""
        if batch.destination is not None or not batch.reliable:
            return [Down(batch)]
        if self.own.stopping or self.view is None:
            return self.drop()
        seqno = self.table.add(batch)
        effects = self.own.congestion()
        if not (self.own.watching or self.role):
            effects += self.own.keep_watching(now)
        if not (self.queue.frozen or self.opening):  # else it is requested when the view begins
            self.numbers["forwarded"] += 1
            effects += self.request(seqno, batch)
            if self.role is not None:
                effects += self.broadcast()
        return effects

    def request(self, seqno: int, batch: Batch) -> list[Effect]:
        """TOTAL_REQUEST, by reliable unicast; the sequencer notes its own in its book."""
        if self.role is not None:
            self.role.book.accept(self.me, seqno, batch)
            return []
        headers = (*batch.headers, Request(self.queue.number, seqno))
        return [Down(Batch(self.me, self.queue.coordinator, headers, batch.body, batch.count))]

    def broadcast(self) -> list[Effect]:
        """The sequencer gives ids to what waits, and delivers what a quorum holds."""
        assert self.role is not None
        effects = self.role.assign()
        return [*self.deliver_held(), *effects]

    # --- receiving --------------------------------------------------------------------------------

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """One of this layer's headers, outermost."""
        header = batch.headers[-1]
        if type(header) is Bcast and header.view == self.queue.number:
            return self.on_bcast(batch, header, now)
        assert isinstance(header, TotalHeader), f"not a header of TOTAL: {header!r}"
        if header.view != self.queue.number:
            return self.on_other_view(batch, header, now)
        if batch.sender not in self.queue.members:
            return self.drop()
        match header:
            case NewView(_, first):
                return self.on_new_view(batch.sender, first, now)
            case Resend():
                return self.queue.on_resend(batch.sender, header, now)
            case Mark() if batch.sender == self.queue.coordinator and self.role is None:
                return self.on_mark(header)
            case Request() | CumSeqAck() | SeqAck() | NewViewAck() if self.role is not None:
                return self.at_sequencer(batch, header, self.role)
        return self.drop()  # for the sequencer, and this member is not; or from another than it

    def on_other_view(self, batch: Batch, header: TotalHeader, now: float) -> list[Effect]:
        """What begins a later view waits for it; who fetches the former view's cut is answered."""
        match header:
            case Resend(view) if view == self.queue.previous[0] and self.queue.previous[0]:
                return self.queue.on_resend(batch.sender, header, now)
            case Bcast(view) | Request(view) | NewView(view) if view > self.queue.number:
                return [] if self.early.keep(view, batch) else self.drop()
        return self.drop()

    def drop(self) -> list[Effect]:
        """May come, must not count."""
        self.numbers["dropped"] += 1
        return []

    def at_sequencer(self, batch: Batch, header: TotalHeader, role: Sequencing) -> list[Effect]:
        """What members tell the sequencer; in a flush nobody gets an id (I4)."""
        if self.queue.frozen:
            return []
        if isinstance(header, Request):
            if self.opening:  # what came early from the same sender goes first (I5)
                return [] if self.early.keep(self.queue.number, batch) else self.drop()
            if not role.book.accept(batch.sender, header.seqno, batch.without_header()):
                self.numbers["duplicates"] += 1
                return []
            return self.broadcast()
        effects = role.on_told(batch.sender, header)
        return [*effects, *self.deliver_held()]

    # --- the queue --------------------------------------------------------------------------------

    def on_bcast(self, batch: Batch, header: Bcast, now: float) -> list[Effect]:
        """TOTAL_BCAST: queue it by its id, deliver what has become deliverable (I1)."""
        first_hand = batch.destination is None and batch.sender == self.queue.coordinator
        if self.role is not None or header.origin >= len(self.queue.members):
            return self.drop()
        if not first_hand:
            if batch.sender not in self.queue.members:
                return self.drop()
            self.queue.repairs.progress()
            batch = Batch(
                self.queue.coordinator, None, batch.headers, batch.body, batch.count, False
            )
        if not self.queue.placed:
            return [] if self.early.keep(self.queue.number, batch) else self.drop()
        window, sequence_id = self.queue.window, header.sequence_id
        if not window.add(sequence_id, batch):
            self.numbers["duplicates"] += 1  # the acknowledgement may have been lost
            return self.queue.owe(0, at_once=True)
        if self.queue.frozen:
            return self.queue.repairing.cut_held()
        wary = self.wakefulness.is_wary(now)
        if header.held > self.held:
            self.held = header.held
        if self.pair_suffices and not wary:
            self.held = max(self.held, window.received)
        effects = self.deliver_held()
        if header.stable > window.purged:
            window.purge(header.stable)  # I7
        return [*effects, *self.queue.note(sequence_id, batch.size_bytes)]

    def deliver_held(self) -> list[Effect]:
        """What a quorum holds goes up (I3); for the rest the mark is asked for later."""
        if self.queue.frozen:
            return []
        if self.role is not None:
            return self.deliver(self.role.held)
        effects = self.deliver(self.held)
        return [*effects, *self.queue.ask_soon()]

    def deliver(self, limit: int) -> list[Effect]:
        """What is here without a gap, up to an id, goes up under its original sender."""
        effects: list[Effect] = []
        for batch in self.queue.window.deliverable(limit):
            header = batch.headers[-1]
            assert isinstance(header, Bcast)
            origin = self.queue.members[header.origin]
            ordered = self.progress.take(batch, origin, header.seqno)
            if ordered is None:
                self.numbers["duplicates"] += 1
                continue
            effects.append(Up(ordered))
            self.own.ordered_cost += cost_of(ordered)
            if origin == self.me and not batch.is_piece:
                effects += self.own.take_back(header.seqno)
        return effects

    def on_new_view(self, teller: Address, first: int, now: float) -> list[Effect]:
        """TOTAL_NEW_VIEW: the ids of this view begin there; take what waited for that."""
        if self.role is not None or not first:
            return self.drop()
        effects: list[Effect] = []
        if teller == self.queue.coordinator:
            effects.append(self.queue.tell(teller, NewViewAck(self.queue.number)))
        if self.queue.placed:
            return effects
        self.queue.place(first)
        for batch in self.early.take(self.queue.number):
            effects += self.on_up(batch, now)
        return effects

    def on_mark(self, mark: Mark) -> list[Effect]:
        """How far the sequencer is: deliver, let go, acknowledge, or ask for a lost end (I6)."""
        if self.queue.frozen or not self.queue.placed:
            return []
        window = self.queue.window
        window.announce(mark.last)
        self.held = max(self.held, mark.held)
        effects = self.deliver_held()
        if mark.stable > window.purged:
            window.purge(mark.stable)
            everywhere = {self.queue.coordinator: mark.stable}
            effects.append(Notify(Stable(everywhere, {self.queue.coordinator: mark.last})))
        if mark.wanted:
            effects += self.queue.owe(0, at_once=True)
        if window.received < window.highest:
            effects.append(StartTimer("repair", 0))
        return effects

    # --- time and views ---------------------------------------------------------------------------

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """End of turn: `begin`, `ack`, `repair`, `mark`; later the others."""
        match timer:
            case "begin":
                return self.begin(now)
            case "ack" | "repair" | "retry" | "ask":
                return self.queue.on_timer(timer)
            case "answer":
                return self.queue.answer(now, self.has_acknowledged)
            case "awake":
                self.wakefulness.tick(now)
                return [StartTimer("awake", self.wakefulness.tick_s)]
            case "stop" | "watch":
                return self.on_own_timer(timer, now)
        assert self.role is not None, f"{timer} is a timer of the sequencer"
        return self.role.on_timer(timer)

    def on_own_timer(self, timer: str, now: float) -> list[Effect]:
        """The order is late (I12): what had no room at the sequencer is requested again."""
        was_late = self.own.watch.late
        effects = self.own.on_timer(timer, now)
        if self.own.watch.late and not was_late:
            effects += self.request_all()
        return effects

    def request_all(self) -> list[Effect]:
        """Request everything that has not come back (I5)."""
        effects: list[Effect] = []
        for seqno, batch in self.table.batches.items():
            effects += self.request(seqno, batch)
        self.numbers["resent"] += len(self.table)
        return effects

    def has_acknowledged(self, member: Address, sequence_id: int) -> bool:
        """Whether the member is known to hold it: only the sequencer knows."""
        return self.role is not None and self.role.holds(member, sequence_id)

    def stop_timers(self) -> list[Effect]:
        """Nothing is asked for or repeated until the next step."""
        names = ("ack", "repair", "retry", "ask", "new_view", "idle", "mark")
        return [StopTimer(name) for name in names]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """The steps of a view change, and stop()."""
        match event:
            case FlushStarted():
                self.queue.freeze()
                return [*self.stop_timers(), *self.own.on_event(event)]
            case Slept():
                self.wakefulness.sleep(now)  # I11
                return []
            case FetchCut():
                return self.queue.repairing.fetch_cut(event)
            case CutAgreed():
                return self.deliver(event.cut.get(self.queue.coordinator, 0))
            case ViewInstalled():
                return [*self.on_view(event), *self.own.begin_view(self.role is None, now)]
        return self.own.on_event(event)

    def on_view(self, event: ViewInstalled) -> list[Effect]:
        """Clear the queue and the state of retransmission (I2); the order itself goes on (I9)."""
        view = event.view
        self.progress.close_bodies()  # I8
        if event.fresh or event.recovered:
            self.progress.begin(event.position, event.order_state)
            self.table.renumber()
        self.progress.keep(view.members)
        following = self.queue.window.delivered + 1
        self.queue.begin(view)
        self.sequenced += 0 if self.role is None else self.role.sequenced
        self.view, self.role, self.opening, self.held = view, None, True, 0
        self.pair_suffices = view.is_quorum({view.coordinator.name, self.me.name})
        self.wakefulness.begin()
        if view.coordinator == self.me:
            self.queue.place(following)  # the sequencer chooses: after the last that it delivered
            received = self.progress.received
            self.role = Sequencing(self.me, view, self.queue.window, received, self.options)
        watched = self.pair_suffices and self.role is None
        watch: Effect = StartTimer("awake", 0) if watched else StopTimer("awake")
        return [*self.stop_timers(), watch, StartTimer("begin", 0)]

    def begin(self, now: float) -> list[Effect]:
        """Once every layer knows the view: tell where it begins, request what is not back (I5)."""
        self.opening = False
        early = self.early.take(self.queue.number)
        if self.queue.frozen:
            return []  # the next view change has begun already
        effects = [] if self.role is None else self.role.begin()
        effects += self.request_all()
        for batch in early:
            effects += self.on_up(batch, now)
        return effects if self.role is None else [*effects, *self.broadcast()]
