"""STATE_TRANSFER: gives a member the state of another, as of one place in the total order.

Idea. The taker multicasts MAKE_COPY. At its place in the order the taker begins to queue what
follows, and the providers that it names copy their state: both happen at the same logical time,
so what is copied and what is queued fit together without a gap and without an overlap. RETURN_STATE
asks one provider for its copy, which comes in chunks, each with the hash of everything up to its
end; the taker acknowledges what it has used, so neither side holds more than a window. When the
whole is here, the application is given the state, then what was queued. A provider can also push:
its PUSH has a place in the order, where it copies and the receivers begin to queue. Nobody else
does anything, and nobody stops sending.

Place. Above the ordering layer, whose order it needs for MAKE_COPY; below QUEUE. The two roles
are `groupcore.transfer.taking` and `giving`; here is who is told what.

Source. State-transfer paper, 3.3, and 2.1 to 2.9 for what may be chosen; reliability.md rows 32 to
34. Added: MAKE_COPY names who shall copy, so others are not disturbed, and GC goes to them alone;
chunks, hashes, resumption, push, quorums by hash, a connection of its own.

Invariants.
  I1  All copies of one version, and the taker's queue, begin at the same place in the order.
  I2  A member never takes the state from itself, and takes one state at a time.
  I3  A member that was not asked, does not serve or has no state makes no copy: a null state.
  I4  A copy is kept until its takers collect it or leave the view.
  I5  What does not fit (version, sender, place, hash) is counted and changes nothing.
  I6  At most a window of chunks is on its way to a taker, and one chunk is read ahead of it.
  I7  When a provider is lost, another goes on with the same version, or with a later one from the
      beginning; the application is given one whole state or none.
  I8  A transfer ends within its time-out, and what was queued is let go whatever the outcome.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, Notify, StartTimer
from groupcore.events import BadInput, Event, Excluded, Left, Synced, ViewInstalled
from groupcore.layer import Layer
from groupcore.transfer import events
from groupcore.transfer.events import (
    GetState,
    GetStateOk,
    PushState,
    QueueOverflow,
    ReturnedState,
    ServeState,
    SetState,
    SinkReady,
    SourceReady,
    StartQueueing,
    StateFetched,
    StateOffered,
    StatePushed,
    StopQueueing,
)
from groupcore.transfer.giving import Giver
from groupcore.transfer.headers import (
    HEADERS,
    Chunk,
    Collect,
    MakeCopy,
    NoState,
    Offer,
    Push,
    ReturnState,
    Taken,
)
from groupcore.transfer.options import StateTransferOptions
from groupcore.transfer.taking import Taker
from groupcore.view import Address, View


class StateTransfer(Layer):
    """Tells the two roles what concerns them."""

    name = "STATE_TRANSFER"
    headers = HEADERS
    hears = (
        GetState,
        PushState,
        ServeState,
        ReturnedState,
        SourceReady,
        SinkReady,
        StateOffered,
        StateFetched,
        StatePushed,
        GetStateOk,
        SetState,
        QueueOverflow,
        Synced,
        ViewInstalled,
        Excluded,
        Left,
    )
    provides = frozenset({"state transfer"})
    requires_below = frozenset({"total order", "reliable unicast", "views"})
    answers = (GetState, PushState)
    asks_above = (StartQueueing, StopQueueing)

    def __init__(self, me: Address, options: StateTransferOptions | None = None) -> None:
        self.me = me
        self.options = options or StateTransferOptions()
        self.view: View | None = None
        self.giver = Giver(me, self.options)
        self.taker = Taker(me, self.options)
        self.begun_at = (0, 0)
        self.pushing = False
        self.refused = 0

    def counters(self) -> dict[str, int]:
        """What was copied, given and taken; what was refused; the copies that are kept."""
        kept = {"kept": len(self.giver.copies), "strangers": self.refused}
        return {**self.giver.numbers, **self.taker.numbers, **kept}

    # --- messages ---------------------------------------------------------------------------------

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """One of this layer's headers; from members of the view only (I5)."""
        self.giver.now = now
        sender, header = batch.sender, batch.headers[-1]
        if self.view is None or sender not in self.view.members:
            self.refused += 1
            return []
        match header:
            case MakeCopy():
                return self.on_make_copy(batch, header)
            case Push():
                return self.on_push(batch, header)
            case ReturnState():
                return self.giver.on_ask(sender, header)
            case Taken():
                return self.giver.on_taken(sender, header)
            case Collect():
                return self.giver.on_collect(sender, header)
            case Chunk():
                return self.taker.on_chunk(sender, header, batch.body)
            case NoState():
                return self.taker.on_no_state(sender, header)
            case Offer():
                return self.taker.on_offer(sender, header)
        raise AssertionError(f"not a header of STATE_TRANSFER: {header!r}")

    def on_make_copy(self, batch: Batch, header: MakeCopy) -> list[Effect]:
        """The place of a copy (I1); only those who are named do anything (I3)."""
        initiator = header.version.initiator
        if batch.sender != initiator or not batch.position:
            return self.refuse_forged(batch.sender)
        if initiator == self.me:
            return self.taker.on_make_copy(header, self.epoch, batch.position - 1)
        if self.me in header.providers:
            return self.giver.copy(header.version, (initiator,))
        return []

    def on_push(self, batch: Batch, header: Push) -> list[Effect]:
        """The place of a copy that its provider gives unasked."""
        provider = header.version.initiator
        if batch.sender != provider or not batch.position:
            return self.refuse_forged(batch.sender)
        if provider == self.me:
            return self.on_own_push(header)
        if self.me in header.receivers:
            return self.taker.on_push(provider, header, self.epoch, batch.position - 1)
        return []

    def refuse_forged(self, sender: Address) -> list[Effect]:
        """A version of somebody else, or one without a place in the order (I5)."""
        self.refused += 1
        return [Notify(BadInput(sender, "STATE_TRANSFER.strangers"))]

    def on_own_push(self, header: Push) -> list[Effect]:
        """Copy here, for those who are still members."""
        assert self.view is not None
        receivers = [member for member in header.receivers if member in self.view.members]
        if not self.pushing or not receivers:
            return [Notify(StatePushed(()))] if self.pushing else []
        return self.giver.copy(header.version, receivers)

    @property
    def epoch(self) -> int:
        """The present view's epoch."""
        return 0 if self.view is None else self.view.epoch

    # --- events -----------------------------------------------------------------------------------

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """What the application asks, what it answers, and what the layers around tell."""
        self.giver.now = now
        match event:
            case GetState():
                return self.taker.begin(event)
            case PushState():
                return self.push(event)
            case ServeState(on):
                self.giver.serving = on
                # Who opts in as a member has a state to give, wherever it has it from.
                self.giver.lacking = self.giver.lacking and not (on and self.view is not None)
                return []
            case ReturnedState(version, source):
                return self.giver.on_returned(version, source)
            case SourceReady(version):
                return self.giver.on_source_ready(version)
            case SinkReady():
                return self.taker.on_sink_ready()
            case StateOffered():
                return self.giver.on_offered(event)
            case StateFetched(version, complete):
                return self.taker.on_fetched(version, complete)
            case QueueOverflow():
                return self.end(events.OVERFLOW)
            case ViewInstalled():
                return self.on_view(event)
            case Excluded() | Left():
                return [*self.giver.drop_all(), *self.end(events.ENDED)]
            case _:
                self.note(event)
                return []

    def note(self, event: Event) -> None:
        """What says that this member has a state of its own, or that a push has ended."""
        match event:
            case SetState():
                self.giver.lacking = False
            case GetStateOk(outcome) if outcome in (events.NO_STATE, events.ALONE):
                self.giver.lacking = False  # nobody has another: what is here is the state
            case Synced(epoch, position) if (epoch, position) >= self.begun_at:
                self.giver.lacking = False
            case StatePushed():
                self.pushing = False

    def push(self, wish: PushState) -> list[Effect]:
        """Multicast PUSH to those who are to be given the state."""
        members = () if self.view is None else self.view.members
        receivers = tuple(m for m in wish.receivers if m in members and m != self.me)
        if self.pushing or not receivers:
            return [Notify(StatePushed(()))]
        self.pushing = True
        header = Push(self.taker.next_version(), receivers)
        timeout = StartTimer("push", wish.timeout_s)
        return [timeout, Down(Batch(self.me, None, (header,)))]

    def end(self, outcome: str) -> list[Effect]:
        """End the transfer that there is (I8)."""
        return [] if self.taker.transfer is None else self.taker.finish(outcome)

    def on_view(self, event: ViewInstalled) -> list[Effect]:
        """A view: copies of those who have left go (I4), and lost providers are replaced (I7)."""
        self.view = event.view
        if event.fresh:
            self.giver.lacking = bool(event.holders) and self.me not in event.holders
            self.begun_at = (event.view.epoch, event.position)
        members = frozenset(event.view.members)
        dropped = self.giver.drop_all() if event.recovered else self.giver.on_members(members)
        return [*dropped, *self.taker.on_view(event.view, event.recovered)]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """Time-outs of the transfer, of the present provider and of a push; a piece of hashing."""
        self.giver.now = now
        handlers: dict[str, Callable[[], list[Effect]]] = {
            "timeout": lambda: self.end(events.TIMED_OUT),
            "silence": self.taker.on_silence,
            "again": self.taker.on_again,
            "hash": self.giver.on_hash,
            "push": self.give_up_push,
        }
        return handlers[timer]()

    def give_up_push(self) -> list[Effect]:
        """A push that takes too long: those who have not taken it by now do not get it."""
        if not self.pushing:
            return []
        ended = self.giver.drop_own()
        return ended or [Notify(StatePushed(()))]
