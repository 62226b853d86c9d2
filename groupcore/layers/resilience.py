"""Resilience: a multicast is delivered only when a quorum of the view holds it.

Idea. What a quorum holds survives every view change, because any quorum that decides the next
view has a member that reports it. What fewer hold may be lost with them; whoever had delivered it
would have seen something that never happened. So a batch waits until its holders are a quorum.
A receiver knows that the sender and it itself hold the batch: in views of up to three that is
enough. The sender learns the rest from acknowledgements and tells how far a quorum holds its
batches with its next one, or by a mark of its own when it has nothing to send.

Place. Directly above NAKACK, whose acknowledgements it reads; below the ordering layer.

Source. Design, section 4.7 (Amoeba's resilience), taken to a quorum so that slot agreement holds
across every partition: reliability.md, invariant 3.

Invariants.
  I1  A batch is delivered only when a quorum of the view holds it, or when the cut contains it.
  I2  Batches of one sender are delivered in the order in which NAKACK hands them over.
  I3  A lost mark is asked for: a batch that a quorum holds is delivered everywhere.
  I4  After the flush has started nothing is delivered until the cut is agreed, or a part of it
      that somebody has delivered.
  I5  A member that has slept does not conclude from a batch that its sender still holds it in this
      view: the others may have gone on from their disks meanwhile. It waits for the sender's mark,
      until it has been awake for `wary_s`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, StartTimer, StopTimer, Up
from groupcore.events import Acknowledged, CutAgreed, Event, FlushStarted, Slept, ViewInstalled
from groupcore.headers import travels
from groupcore.holders import held_by_quorum
from groupcore.layer import Layer
from groupcore.view import Address, View
from groupcore.wakefulness import Wakefulness


@travels(20)
@dataclass(slots=True)
class Mark(Header):
    """On a multicast: a quorum of view `view` holds the sender's multicasts up to `held`."""

    kind: ClassVar[str] = "resilience.mark"
    view: int
    held: int


@travels(21)
@dataclass(slots=True)
class Held(Header):
    """Alone, to group or to one member: the same; `wanted` asks for the other's."""

    kind: ClassVar[str] = "resilience.held"
    view: int
    held: int
    wanted: bool


@dataclass(slots=True)
class Stream:
    """What one sender has multicast in this view, as far as NAKACK has handed it over."""

    received: int = 0
    held: int = 0
    waiting: deque[Batch] = field(default_factory=deque)

    def release(self, upto: int) -> list[Effect]:
        """The waiting batches up to a number, in order (I2)."""
        effects: list[Effect] = []
        while self.waiting and self.received - len(self.waiting) < upto:
            effects.append(Up(self.waiting.popleft()))
        return effects


class Resilience(Layer):
    """Holds batches back until a quorum holds them."""

    name = "RESILIENCE"
    headers = (Mark, Held)
    hears = (
        Acknowledged,
        FlushStarted,
        CutAgreed,
        Slept,
        ViewInstalled,
    )
    provides = frozenset({"uniform delivery"})
    requires_below = frozenset({"reliable multicast"})
    requires_above = frozenset({"views"})

    def __init__(self, me: Address, ask_after_s: float = 0.03, wary_s: float = 0.6) -> None:
        self.me = me
        self.ask_after_s = ask_after_s
        self.wakefulness = Wakefulness(wary_s)
        self.view: View | None = None
        self.streams: dict[Address, Stream] = {}
        self.pair_suffices: frozenset[Address] = frozenset()
        self.others_cannot_know = False
        self.acknowledged: dict[Address, int] = {}
        self.told = 0
        self.asking = False
        self.frozen = False

    def counters(self) -> dict[str, int]:
        """Batches that wait for a quorum."""
        return {"waiting": sum(len(stream.waiting) for stream in self.streams.values())}

    def delivered(self) -> Digest:
        """For each sender how many of its batches have been delivered."""
        return {p: stream.received - len(stream.waiting) for p, stream in self.streams.items()}

    @property
    def number(self) -> int:
        """The present view's number, 0 before the first."""
        return 0 if self.view is None else self.view.number

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """Put the present mark on a reliable multicast."""
        if batch.destination is not None or not batch.reliable:
            return [Down(batch)]
        mine = self.streams.get(self.me)
        self.told = 0 if mine is None else mine.held
        return [Down(batch.with_header(Mark(self.number, self.told)))]

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A multicast that NAKACK has ordered, or how far a quorum holds a sender's."""
        header = batch.headers[-1]
        stream = self.streams.get(batch.sender)
        if stream is None:
            return []
        wary = self.wakefulness.is_wary(now)
        if isinstance(header, Held):
            return self.on_held(batch.sender, header, stream)
        assert isinstance(header, Mark)
        if header.view == self.number:
            stream.held = max(stream.held, header.held)
        stream.received += 1
        stream.waiting.append(batch.without_header())
        if batch.sender == self.me:
            self.count_holders(stream)
        elif batch.sender in self.pair_suffices and not wary:
            stream.held = stream.received
        return self.deliver(stream)

    def on_held(self, sender: Address, told: Held, stream: Stream) -> list[Effect]:
        """Deliver what it allows, answer if it asks (I3)."""
        if told.view != self.number or self.frozen:
            return []
        stream.held = max(stream.held, told.held)
        effects = self.deliver(stream)
        if told.wanted:
            answer = Held(self.number, self.streams[self.me].held, False)
            effects.append(Down(Batch(self.me, sender, (answer,), reliable=False)))
        return effects

    def deliver(self, stream: Stream) -> list[Effect]:
        """What a quorum holds goes up (I1, I4); for the rest the mark is asked for later."""
        if self.frozen:
            return []
        effects = stream.release(stream.held)
        if stream.waiting and not self.asking:
            self.asking = True
            effects.append(StartTimer("ask", self.ask_after_s))
        return effects

    def count_holders(self, mine: Stream) -> None:
        """How far a quorum of the view, this member included, holds my multicasts."""
        assert self.view is not None
        acknowledged = self.acknowledged
        mine.held = held_by_quorum(self.view, self.me, mine.received, acknowledged, mine.held)

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Acknowledgements count holders; the view change releases what was agreed."""
        match event:
            case Acknowledged() if not self.frozen:
                return self.on_acknowledged(event)
            case FlushStarted():
                self.frozen = True
                return [StopTimer("ask"), StopTimer("mark")]
            case Slept():
                self.wakefulness.sleep(now)  # I5
                return []
            case CutAgreed():
                return self.on_cut_agreed(event)
            case ViewInstalled():
                return self.on_view(event.view)
            case _:
                return []

    def on_acknowledged(self, event: Acknowledged) -> list[Effect]:
        """A member holds more of my multicasts: deliver, and tell those who cannot know."""
        mine = self.streams[self.me]
        self.acknowledged[event.member] = event.received
        before = mine.held
        self.count_holders(mine)
        if mine.held == before:
            return []
        effects = self.deliver(mine)
        if self.others_cannot_know:
            effects.append(StartTimer("mark", 0))
        return effects

    def on_cut_agreed(self, event: CutAgreed) -> list[Effect]:
        """The cut is held by all who go on: deliver what waits, sender by sender in rank order."""
        effects: list[Effect] = []
        for sender, stream in self.streams.items():
            effects += stream.release(event.cut.get(sender, 0))
        return effects

    def on_view(self, view: View) -> list[Effect]:
        """Begin a view: nothing has been sent in it."""
        self.view, self.frozen, self.asking, self.told = view, False, False, 0
        self.streams = {member: Stream() for member in view.members}
        self.acknowledged = {}
        self.pair_suffices = frozenset(
            member for member in view.members if view.is_quorum({member.name, self.me.name})
        )
        mine = self.me.name
        others = [member.name for member in view.members if member != self.me]
        self.others_cannot_know = not all(view.is_quorum({mine, name}) for name in others)
        self.wakefulness.begin()
        watch: list[Effect] = [StartTimer("awake", 0)] if self.pair_suffices else []
        return [StopTimer("ask"), StopTimer("mark"), *watch]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`mark`: tell the mark if nothing carried it; `ask`: ask for what still waits; `awake`."""
        if timer == "awake":
            self.wakefulness.tick(now)  # I5
            return [StartTimer("awake", self.wakefulness.tick_s)] if self.pair_suffices else []
        if self.frozen or self.view is None:
            return []
        if timer == "mark":
            return self.tell_mark()
        self.asking = False
        effects: list[Effect] = []
        for sender, stream in self.streams.items():
            if stream.waiting and sender != self.me:
                ask = Held(self.number, self.streams[self.me].held, True)
                effects.append(Down(Batch(self.me, sender, (ask,), reliable=False)))
        if effects:
            self.asking = True
            effects.append(StartTimer("ask", self.ask_after_s))
        return effects

    def tell_mark(self) -> list[Effect]:
        """Multicast the mark alone."""
        held = self.streams[self.me].held
        if held == self.told:
            return []
        self.told = held
        return [Down(Batch(self.me, None, (Held(self.number, held, False),), reliable=False))]
