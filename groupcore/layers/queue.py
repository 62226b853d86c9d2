"""QUEUE: holds what is on its way to the application while its state is on its way too.

Idea. From the place in the order at which the state was copied, messages and views wait here. When
the state has come, the application is given first the state and then what waits, in order; so
the one contains exactly what the other lacks. A later copy of the state (another version) marks
its place too: what lies before that place is given before the state, which contains it. So nothing
is ever dropped: a member whose transfer fails goes on without a gap, and all members deliver alike.

Place. Above STATE_TRANSFER, which starts and stops it; only the application, or layers that order
nothing, are above.

Source. State-transfer paper, 3.1 and 3.3: START_QUEUEING and STOP_QUEUEING; "(Message will not be
queued after replaying the queued messages)". Added: a bound in bytes; views keep their place.

Invariants.
  I1  The application is given everything once and in order, as without the queue.
  I2  A state is given at its place: after what it contains, before what it lacks.
  I3  What is held stays below `bytes_max`; one who reaches it is told, and nothing is lost.
  I4  Views and `Saved` keep their place among the messages; the end of a life waits for nobody.
"""

from __future__ import annotations

from collections import deque

from groupcore.batch import Batch
from groupcore.early import OVERHEAD_BYTES
from groupcore.effects import Effect, Notify, Tell, Up
from groupcore.events import (
    Event,
    Excluded,
    Left,
    PrimaryLost,
    PrimaryRegained,
    Refused,
    Saved,
    ViewInstalled,
)
from groupcore.layer import Layer
from groupcore.transfer.events import QueueOverflow, SetState, StartQueueing, StopQueueing
from groupcore.transfer.version import StateVersion

ORDERED_EVENTS = (ViewInstalled, PrimaryLost, PrimaryRegained, Saved)
"""Events that have a place among the messages."""


class Queue(Layer):
    """Holds and lets go."""

    name = "QUEUE"
    hears = (StartQueueing, StopQueueing, Excluded, Left, Refused)
    provides = frozenset({"queueing"})
    answers = (StartQueueing, StopQueueing)

    def __init__(self, bytes_max: int = 64 << 20) -> None:
        self.bytes_max = bytes_max
        self.queueing = False
        self.held: deque[Batch | Event] = deque()
        self.held_bytes = 0
        self.numbers = {"held": 0, "overflows": 0}

    def counters(self) -> dict[str, int]:
        """Batches held so far; what is held now, in bytes."""
        return {**self.numbers, "held_bytes": self.held_bytes}

    def on_pass(self, batch: Batch, now: float) -> list[Effect]:
        """Something goes up: what is for the application waits, if anything does."""
        if not self.queueing or batch.headers:
            return [Up(batch)]
        self.held.append(batch)
        self.numbers["held"] += 1
        before = self.held_bytes
        self.held_bytes += batch.size_bytes + OVERHEAD_BYTES
        if before <= self.bytes_max < self.held_bytes:
            self.numbers["overflows"] += 1
            return [Notify(QueueOverflow())]
        return []

    def on_tell(self, event: Event, now: float) -> list[Effect]:
        """The application is to be told: what has a place waits (I4), the state does not."""
        if not self.queueing:
            return [Tell(event)]
        if type(event) is SetState:
            return [*self.reach(event.version), Tell(event)]
        if isinstance(event, ORDERED_EVENTS):
            self.held.append(event)
            return []
        return [Tell(event)]

    def reach(self, version: StateVersion) -> list[Effect]:
        """Come to the place of this state (I2); it contains what is let go here."""
        effects: list[Effect] = []
        while self.held:
            item = self.held.popleft()
            if item == StartQueueing(version):
                return effects
            effects += self.let_go(item)
        raise AssertionError(f"no place was marked for the state {version}")

    def let_go(self, item: Batch | Event) -> list[Effect]:
        """One of the things that wait goes on."""
        if isinstance(item, Batch):
            self.held_bytes -= item.size_bytes + OVERHEAD_BYTES
            return [Up(item)]
        return [] if isinstance(item, StartQueueing) else [Tell(item)]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Start, mark a later place, stop; or the life is over."""
        match event:
            case StartQueueing():
                self.queueing = True
                self.held.append(event)
                return []
            case StopQueueing():
                return self.replay()
            case Excluded() | Left() | Refused():
                self.queueing = False
                self.held.clear()
                self.held_bytes = 0
        return []

    def replay(self) -> list[Effect]:
        """Let go of everything, in order (I1); what comes from now on is not queued."""
        self.queueing = False
        held, self.held = self.held, deque()
        return [effect for item in held for effect in self.let_go(item)]
