"""Merge: notice that there are several coordinators.

Idea. From time to time look at what discovery has heard. When another coordinator of a view of
this cluster is there, say so: membership decides what follows. Nothing is sent; a coordinator's
announcement that its view exists (PING) is enough.

Place. Above PING, whose table it reads; membership above it reacts.

Source. Pbcast design, "MERGE2 protocol".

Invariants.
  I1  Only coordinators are told of: nodes that were heard to be first in the view they are in.
  I2  The pause between two looks is drawn at random, so that two coordinators do not keep step.
  I3  A coordinator that is a member of the present view is none of another: what was heard of it
      is old.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from groupcore.effects import Effect, Notify, StartTimer
from groupcore.events import CoordinatorsFound, Event, ViewInstalled
from groupcore.layer import Layer
from groupcore.view import Address, View


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """Least and most seconds between two looks."""

    interval_min_s: float = 0.3
    interval_max_s: float = 1.0


class Merge(Layer):
    """Looks for other coordinators while there is a view."""

    name = "MERGE"
    hears = (ViewInstalled,)
    provides = frozenset({"merge"})
    requires_below = frozenset({"discovery"})
    requires_above = frozenset({"views"})
    asks_above = (CoordinatorsFound,)

    def __init__(
        self,
        me: Address,
        random: Random,
        present: Callable[[float], dict[Address, tuple[View, bool]]],
        options: MergeOptions,
    ) -> None:
        self.me = me
        self.random = random
        self.present = present
        self.options = options
        self.view: View | None = None
        self.found = 0

    def counters(self) -> dict[str, int]:
        """How often other coordinators were found."""
        return {"found": self.found}

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Begin to look with the first view; know the present one."""
        assert isinstance(event, ViewInstalled)
        first, self.view = self.view is None, event.view
        return [self.again()] if first else []

    def again(self) -> Effect:
        """The next look (I2)."""
        least, most = self.options.interval_min_s, self.options.interval_max_s
        return StartTimer("look", self.random.uniform(least, most))

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """Tell of the coordinators of other views (I1, I3)."""
        assert self.view is not None
        mine = self.view
        views = tuple(
            view
            for member, (view, _) in sorted(self.present(now).items())
            if member == view.coordinator and member not in mine.members
        )
        if not views:
            return [self.again()]
        self.found += 1
        return [Notify(CoordinatorsFound(views)), self.again()]
