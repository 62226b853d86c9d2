"""Flush: the members of a view stop together, and say what they hold.

Idea. Members that go together from one view to the next must have delivered the same messages in
the first. So before the next view is decided the voters that live in the former one are stopped:
each tells what it holds, which from then on nobody delivers and nobody acknowledges any more. A
data plane beside the stack stops acknowledging in the same moment, and says how far it is. The
proposer starts the flush as late as it can, when it has the promises it needs; until then people
go on sending and delivering. What the application sends in a flush is held back here and goes out
in the next view.

Place. Above membership, which says whom to stop and reads the answers, and below all that
multicasts reliably: fragmentation, flow control and the ordering layer. In a stack with TOTAL,
which is above it, TOTAL holds back what is sent.

Source. Total-protocol paper, "Future Improvements" (a flush protocol beneath TOTAL); reliability.md
rows 15, 17 and 20, invariants 13 and 14.

Invariants.
  I1  Who has answered has stopped: its answer is final until the next view is installed.
  I2  Who has stopped stays so until a view is installed or its life ends, whoever asks again.
  I3  A start of a lower ballot, of another view or in another's name changes nothing.
  I4  A start is repeated until it is answered, or the initiator gives up.
  I5  Nothing goes down between the stop and the end of the turn in which a view is installed, nor
      before the first view; then it goes in the order in which it came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer
from groupcore.events import Event, Flushed, FlushRequested, FlushStarted, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.membership.ballots import NO_BALLOT, Ballot
from groupcore.view import Address

REPEAT_S = 0.02
"""Seconds after which a start that was not answered is sent again."""


@travels(64)
@dataclass(slots=True)
class Start(Header):
    """Proposer to a voter that lives in view `view`: stop, and say what you hold."""

    kind: ClassVar[str] = "flush.start"
    view: int
    ballot: Ballot


@travels(65)
@dataclass(slots=True)
class Ok(Header):
    """Voter to proposer: I have stopped; I hold `digest` and have delivered up to `position`.

    `streams`: up to where I have the frames of each sequencer of the data plane. `synced`: up to
    where my application has the order of this epoch on disk; I tell of no more in this view.
    `known`: of which of these streams the order up to `position` knows less, and how much.
    """

    kind: ClassVar[str] = "flush.ok"
    view: int
    ballot: Ballot
    digest: Digest
    position: int
    delivered: Digest
    streams: Digest
    synced: int
    known: Digest = field(default_factory=dict)


def no_streams(view: int) -> Digest:
    """What a node without a data plane has of its streams; its order knows all of that."""
    return {}


def directly(member: Address, proposer: Address) -> Address | None:
    """Where all unicasts arrive."""
    return member


class Flush(Layer):
    """Stops this member when it is asked to, and others when membership wants it."""

    name = "FLUSH"
    headers = (Start, Ok)
    hears = (
        FlushRequested,
        FlushStarted,
        ViewInstalled,
    )
    provides = frozenset({"flush"})
    requires_below = frozenset({"views"})
    requires_around = frozenset({"digest"})
    answers = (FlushRequested,)
    asks_around = (FlushStarted,)

    def __init__(
        self,
        me: Address,
        digest: Callable[[], Digest],
        delivered: Callable[[], Digest],
        position: Callable[[], int],
        streams: Callable[[int], Digest] = no_streams,
        synced: Callable[[], int] = int,
        way_to: Callable[[Address, Address], Address | None] = directly,
        known: Callable[[int], Digest] = no_streams,
    ) -> None:
        self.me = me
        self.digest = digest
        self.streams = streams
        self.synced = synced
        self.known = known
        self.way_to = way_to
        self.delivered = delivered
        self.position = position
        self.number = 0
        self.stopped = False
        self.opening = False
        self.answered = NO_BALLOT
        self.waiting: deque[Batch] = deque()
        self.request = FlushRequested(0, NO_BALLOT, ())
        self.missing: dict[Address, None] = {}
        self.numbers = {"flushes": 0, "restarts": 0, "repeats": 0, "ignored": 0}

    def counters(self) -> dict[str, int]:
        """Flushes, those begun anew, starts repeated, headers ignored, batches held back."""
        return {**self.numbers, "waiting": len(self.waiting)}

    @property
    def is_holding(self) -> bool:
        """Whether what comes from above has to wait (I5)."""
        return self.stopped or self.opening or not self.number

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """A reliable multicast goes down in a view that is open; everything else always (I5)."""
        if self.is_holding and batch.destination is None and batch.reliable:
            self.waiting.append(batch)
            return []
        return [Down(batch)]

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A proposer asks to stop, or a voter has stopped."""
        match batch.headers[-1]:
            case Start() as start:
                return self.on_start(batch.sender, start)
            case Ok() as ok:
                return self.on_ok(batch.sender, ok)
        raise AssertionError("not a header of FLUSH")

    # --- the voter --------------------------------------------------------------------------------

    def on_start(self, proposer: Address, start: Start) -> list[Effect]:
        """Stop, and answer at the end of the turn, when every layer has stopped (I1, I2, I3)."""
        foreign = start.view != self.number or start.ballot.proposer != proposer
        if not self.number or foreign or start.ballot < self.answered:
            return self.ignore()
        answer = StartTimer("answer", 0)
        if self.stopped and self.answered != NO_BALLOT and start.ballot > self.answered:
            self.numbers["restarts"] += 1
        self.answered = start.ballot
        return [answer] if self.stopped else [Notify(FlushStarted()), answer]

    def answer(self) -> list[Effect]:
        """Tell the proposer what this member holds and has delivered (I1)."""
        if not self.stopped:
            return []
        streams = self.streams(self.number)
        held, delivered = self.digest(), self.delivered()
        place, synced = self.position(), self.synced()
        known = self.known(place)
        mine = Ok(self.number, self.answered, held, place, delivered, streams, synced, known)
        proposer = self.answered.proposer
        return self.gathered(self.me, mine) if proposer == self.me else [self.tell(proposer, mine)]

    # --- the proposer -----------------------------------------------------------------------------

    def on_requested(self, request: FlushRequested) -> list[Effect]:
        """Ask whoever was not asked yet; forget who takes no part any more."""
        anew = request.ballot != self.request.ballot
        asked = () if anew else self.request.participants
        was_missing = {} if anew else self.missing
        new = [member for member in request.participants if member not in asked]
        self.request = request
        self.missing = {
            member: None
            for member in request.participants
            if member in new or member in was_missing
        }
        if not request.participants:
            return [StopTimer("repeat")]
        return [*self.ask(new), StartTimer("repeat", REPEAT_S)]

    def ask(self, members: list[Address]) -> list[Effect]:
        """Tell them to stop; this member is asked without a message."""
        start = Start(self.request.view, self.request.ballot)
        effects: list[Effect] = []
        for member in members:
            if member == self.me:
                effects += self.on_start(self.me, start)
            else:
                effects.append(self.tell(member, start))
        return effects

    def on_ok(self, member: Address, ok: Ok) -> list[Effect]:
        """A voter has stopped; what is not asked for, or comes twice, is ignored."""
        if (ok.view, ok.ballot) != (self.request.view, self.request.ballot):
            return self.ignore()
        return self.gathered(member, ok)

    def gathered(self, member: Address, ok: Ok) -> list[Effect]:
        """Hand the answer to membership."""
        if ok.ballot != self.request.ballot or member not in self.missing:
            return self.ignore()
        del self.missing[member]
        told = (ok.digest, ok.position, ok.delivered, ok.streams, ok.synced, ok.known)
        return [Notify(Flushed(member, ok.ballot, *told))]

    def repeat(self) -> list[Effect]:
        """Ask again whoever has not answered (I4)."""
        if not self.missing:
            return []
        self.numbers["repeats"] += len(self.missing)
        return [*self.ask(list(self.missing)), StartTimer("repeat", REPEAT_S)]

    # --- both -------------------------------------------------------------------------------------

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`answer` and `open` at the end of a turn; `repeat` while answers are missing."""
        match timer:
            case "answer":
                return self.answer()
            case "open":
                return self.open()
            case _:
                return self.repeat()

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Membership wants others to stop; this member has stopped; a view begins."""
        match event:
            case FlushRequested():
                return self.on_requested(event)
            case FlushStarted():
                self.numbers["flushes"] += 1
                self.stopped = True
            case ViewInstalled():
                return self.on_view(event.view.number, event.recovered)
        return []

    def on_view(self, number: int, begins_epoch: bool) -> list[Effect]:
        """The flush has ended; what was held back goes out when every layer knows the view.

        What the ordering layer sends anew at the beginning of an epoch is dropped.
        """
        if begins_epoch:
            self.waiting = deque(batch for batch in self.waiting if not batch.ends_with_epoch)
        self.number, self.stopped, self.opening = number, False, True
        self.answered, self.missing = NO_BALLOT, {}
        return [StopTimer("repeat"), StopTimer("answer"), StartTimer("open", 0)]

    def open(self) -> list[Effect]:
        """The view is open, unless it is being stopped already (I5)."""
        self.opening = False
        if self.stopped:
            return []
        waiting, self.waiting = self.waiting, deque()
        return [Down(batch) for batch in waiting]

    def ignore(self) -> list[Effect]:
        """May come, must not count."""
        self.numbers["ignored"] += 1
        return []

    def tell(self, member: Address, header: Start | Ok) -> Effect:
        """A header by itself, to one member, or to all where its unicasts do not arrive."""
        to = self.way_to(member, header.ballot.proposer)
        return Down(Batch(self.me, to, (header,), reliable=False))
