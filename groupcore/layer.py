"""The face of a layer: a protocol as a plain state machine.

A layer is handed batches, events and timers together with the time, and returns effects. It opens
no socket, reads no clock, starts no task; chance comes from a `random.Random` given to it.

A layer sees on the way **up** exactly the batches whose outermost header it owns, so it passes
nothing on by hand; on the way **down** it sees everything that comes from above. A layer that
overrides `on_pass` also sees what goes up past it, from a layer below to one above or to the
application, and decides whether and when that goes on; one that overrides `on_tell` sees likewise
the events that the application is told, whichever layer they come from.
"""

from __future__ import annotations

from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.effects import Effect
from groupcore.events import Event


class Layer:
    """One protocol. `now` is monotonic seconds.

    `name` is its word in a stack string. `hears` are the events that it reacts to (None: any);
    it is told of no others. `requires_below` and `requires_above` name services that
    must be present beneath and above; `provides` those that it offers. Likewise `answers` are the
    events that it is there to respond to, `asks_below` and `asks_above` those to which it needs a
    response from a layer beneath or above it. `requires_around` and `asks_around` are for what may
    lie on either side.
    """

    name: ClassVar[str]
    headers: ClassVar[tuple[type[Header], ...]] = ()
    hears: ClassVar[tuple[type[Event], ...] | None] = None
    provides: ClassVar[frozenset[str]] = frozenset()
    requires_around: ClassVar[frozenset[str]] = frozenset()
    requires_below: ClassVar[frozenset[str]] = frozenset()
    requires_above: ClassVar[frozenset[str]] = frozenset()
    answers: ClassVar[tuple[type[Event], ...]] = ()
    asks_around: ClassVar[tuple[type[Event], ...]] = ()
    asks_below: ClassVar[tuple[type[Event], ...]] = ()
    asks_above: ClassVar[tuple[type[Event], ...]] = ()

    @property
    def body_limit_bytes(self) -> int | None:
        """Largest body that this layer can carry, in bytes; None when it sets no limit."""
        return None

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """A batch from above; the default lets it pass."""
        raise NotImplementedError  # never called: the stack skips layers that do not override it

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A batch from below whose outermost header is one of `headers`."""
        raise NotImplementedError(f"{self.name} owns no headers")

    def on_pass(self, batch: Batch, now: float) -> list[Effect]:
        """A batch on its way up past this layer, with no header of its own; return it as `Up`."""
        raise NotImplementedError  # never called: the stack skips layers that do not override it

    def on_tell(self, event: Event, now: float) -> list[Effect]:
        """An event on its way to the application; return it as `Tell` for it to go on."""
        raise NotImplementedError  # never called: the stack skips layers that do not override it

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Something happened; the default takes no interest."""
        return []

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """A timer that this layer started has run out."""
        raise NotImplementedError(f"{self.name} starts no timers")

    def counters(self) -> dict[str, int]:
        """What this layer counts, by name, for operators."""
        return {}
