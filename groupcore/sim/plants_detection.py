"""Bugs to plant in failure detection: by which clock it goes."""

from __future__ import annotations

from groupcore.effects import Effect
from groupcore.events import Event
from groupcore.layers.failure_detection import FailureDetection
from groupcore.sim.clock import WallClock
from groupcore.sim.node import Node
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def _wall_clock() -> list[Patch]:
    start = Node.start
    on_event, on_timer = FailureDetection.on_event, FailureDetection.on_timer
    clocks: dict[Address, WallClock] = {}

    def begin(self: Node) -> None:
        start(self)
        clocks[self.address] = self.wall_clock

    def date(self: FailureDetection, now: float) -> float:
        clock = clocks.get(self.me)
        return now if clock is None else now + clock.ahead_s

    def event_by_date(self: FailureDetection, event: Event, now: float) -> list[Effect]:
        return on_event(self, event, date(self, now))

    def timer_by_date(self: FailureDetection, timer: str, now: float) -> list[Effect]:
        return on_timer(self, timer, date(self, now))

    return [
        (Node, "start", begin),
        (FailureDetection, "on_event", event_by_date),
        (FailureDetection, "on_timer", timer_by_date),
    ]


DETECTION_PLANTS = (
    Plant(
        "wall-clock",
        "how long a member was silent is read off the wall clock",
        (25, 15),
        _wall_clock,
    ),
)
"""Those of failure detection; `plants.PLANTS` has all."""
