"""Fault layers, for tests of applications: DISCARD, DELAY, SHUFFLE, DUPLICATE.

Idea. Each looks at every batch that goes down or up past it and does one kind of harm by chance: it
throws some away, holds them for a while, changes their order, or lets them through twice. What
harm and how much can be changed while the stack runs, through the `Faults` object of the test.

Place. Anywhere. Beneath the reliable layers they play a bad network, which those make good; above
them they play a broken toolkit, and show what an application does with messages that are lost or
come twice.

Source. JGroups DISCARD, DELAY, SHUFFLE and DUPL; chance from a given generator, so that a run with
the same seed does the same harm.

Invariants.
  I1  Switched off, everything passes, and what was held goes on at its time.
  I2  DISCARD lets through whole batches, unchanged and in order, and throws the others away.
  I3  DELAY holds a batch for its time, and keeps the order of those held equally long.
  I4  SHUFFLE loses nothing and doubles nothing; no batch is overtaken by one of another window.
  I5  DUPLICATE lets each batch through once or twice.
  I6  The same seed and input lead to the same harm.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import ClassVar

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, StartTimer, StopTimer, Up
from groupcore.faults import (
    DelayOptions,
    DiscardOptions,
    DuplicateOptions,
    Faults,
    ShuffleOptions,
)
from groupcore.layer import Layer
from groupcore.view import Address

MOMENT_S = 1e-6
"""Shortest time for which something is held: a delay of 0 would mean the end of the turn."""


class FaultLayer(Layer):
    """What the fault layers share: both directions, the switch, the generator, a count."""

    counts: ClassVar[str]

    def __init__(self, random: Random, faults: Faults) -> None:
        self.faults = faults
        self.random = faults.random or random
        self.harmed = 0

    def counters(self) -> dict[str, int]:
        """How many batches were harmed."""
        return {self.counts: self.harmed}

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """Harm what goes down, or not."""
        passing = Down(batch)
        return self.strike(passing, batch.destination, now) if self.faults.on else [passing]

    def on_pass(self, batch: Batch, now: float) -> list[Effect]:
        """Harm what goes up, or not."""
        passing = Up(batch)
        return self.strike(passing, batch.sender, now) if self.faults.on else [passing]

    def strike(self, passing: Down | Up, peer: Address | None, now: float) -> list[Effect]:
        """What becomes of a batch that is from or to `peer`."""
        raise NotImplementedError

    def hits(
        self,
        options: DiscardOptions | DuplicateOptions,
        passing: Down | Up,
        peer: Address | None,
    ) -> bool:
        """Whether chance picks this batch, by the share of its direction; counted."""
        share = options.down if isinstance(passing, Down) else options.up
        if not share or not options.victims.concerns(passing.batch, peer):
            return False
        if self.random.random() >= share:
            return False
        self.harmed += 1
        return True


class Discard(FaultLayer):
    """Throws batches away."""

    name = "DISCARD"
    counts = "discarded"

    def __init__(self, random: Random, faults: Faults, options: DiscardOptions) -> None:
        super().__init__(random, faults)
        self.options = options

    def strike(self, passing: Down | Up, peer: Address | None, now: float) -> list[Effect]:
        """Throw it away, by the share of its direction (I2)."""
        hit = self.hits(self.faults.discard or self.options, passing, peer)
        return [] if hit else [passing]


class Duplicate(FaultLayer):
    """Lets batches through twice."""

    name = "DUPLICATE"
    counts = "duplicated"

    def __init__(self, random: Random, faults: Faults, options: DuplicateOptions) -> None:
        super().__init__(random, faults)
        self.options = options

    def strike(self, passing: Down | Up, peer: Address | None, now: float) -> list[Effect]:
        """Let it through a second time, by the share of its direction (I5)."""
        hit = self.hits(self.faults.duplicate or self.options, passing, peer)
        return [passing, passing] if hit else [passing]


class Delay(FaultLayer):
    """Holds batches for a while."""

    name = "DELAY"
    counts = "delayed"

    def __init__(self, random: Random, faults: Faults, options: DelayOptions) -> None:
        super().__init__(random, faults)
        self.options = options
        self.held: list[tuple[float, int, Down | Up]] = []
        self.ticket = count()

    def strike(self, passing: Down | Up, peer: Address | None, now: float) -> list[Effect]:
        """Hold it (I3)."""
        options = self.faults.delay or self.options
        delay_s = options.down_s if isinstance(passing, Down) else options.up_s
        if options.jitter_s:
            delay_s += self.random.uniform(0.0, options.jitter_s)
        if delay_s <= 0 or not options.victims.concerns(passing.batch, peer):
            return [passing]
        self.harmed += 1
        heappush(self.held, (now + delay_s, next(self.ticket), passing))
        return [StartTimer("release", max(self.held[0][0] - now, MOMENT_S))]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """The time of the first is over, and perhaps that of others."""
        effects: list[Effect] = []
        while self.held and self.held[0][0] <= now:
            effects.append(heappop(self.held)[2])
        if self.held:
            effects.append(StartTimer("release", max(self.held[0][0] - now, MOMENT_S)))
        return effects


class Shuffle(FaultLayer):
    """Changes the order of batches."""

    name = "SHUFFLE"
    counts = "shuffled"

    def __init__(self, random: Random, faults: Faults, options: ShuffleOptions) -> None:
        super().__init__(random, faults)
        self.options = options
        self.windows: dict[str, list[Down | Up]] = {"down": [], "up": []}

    def strike(self, passing: Down | Up, peer: Address | None, now: float) -> list[Effect]:
        """Gather it; a full window goes on in another order (I4)."""
        options = self.faults.shuffle or self.options
        if options.window < 2 or not options.victims.concerns(passing.batch, peer):
            return [passing]
        way = "down" if isinstance(passing, Down) else "up"
        window = self.windows[way]
        window.append(passing)
        if len(window) >= options.window:
            return [StopTimer(way), *self.release(way)]
        return [StartTimer(way, options.wait_s)] if len(window) == 1 else []

    def release(self, way: str) -> list[Effect]:
        """Everything that was gathered, in an order by chance."""
        window, self.windows[way] = self.windows[way], []
        self.harmed += len(window)
        self.random.shuffle(window)
        return [*window]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """No more have come for so long: those that are here go on."""
        return self.release(timer)
