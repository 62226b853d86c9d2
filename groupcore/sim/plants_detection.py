"""Bugs to plant in failure detection: by which clock it goes, and who counts as a majority."""

from __future__ import annotations

from dataclasses import replace

from groupcore.effects import Effect, Notify
from groupcore.events import Event, ReachabilityChanged
from groupcore.layers.failure_detection import FailureDetection
from groupcore.membership import company, reachability
from groupcore.membership.half_alone import HalfAlone
from groupcore.membership.turns import Turns
from groupcore.paths import Paths
from groupcore.sim.clock import SECOND, WallClock
from groupcore.sim.node import Node
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.scenario import Scenario, with_latecomer
from groupcore.view import Address, View


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


def _oldest_though_no_quorum() -> list[Patch]:
    def none(view: object, candidates: object, unheard: object) -> tuple[Address, ...]:
        return ()

    def never(self: Turns, view: View, now: float) -> None:
        pass

    return [(reachability, "hearing_quorum", none), (Turns, "look", never)]


def _one_path_only() -> list[Patch]:
    def nobody(self: Paths, unheard: object) -> list[Address]:
        return []

    return [(Paths, "lost", nobody)]


def _first_half_always() -> list[Patch]:
    def nobody(view: View, unheard: object, indirect: object) -> tuple[Address, ...]:
        return ()

    return [(company, "other_half", nobody)]


def _half_at_once() -> list[Patch]:
    def never(self: HalfAlone, is_bare: bool, now: float) -> bool:
        return False

    return [(HalfAlone, "waits", never)]


def _first_report_counts() -> list[Patch]:
    def at_once(self: FailureDetection, now: float) -> list[Effect]:
        counted, self.apart_counts = self.apart_counts, any(self.said_indirect().values())
        return [Notify(ReachabilityChanged())] if self.apart_counts != counted else []

    return [(FailureDetection, "note_apart", at_once)]


WHILE_ONE_LEARNS = with_latecomer(
    Scenario(seed=21, nodes=3, starts_ns=(0, 0, 0), safety_ns=3 * SECOND)
)
"""c comes last; a gets no unicasts, or its own do not arrive, while c has no state."""

DETECTION_PLANTS = (
    Plant(
        "first-half-always",
        "the first of two goes on alone though the others, who are more, hear one another",
        (25,),
        _first_half_always,
        profile="paths",
        schedule=WHILE_ONE_LEARNS,
    ),
    Plant(
        "first-report-counts",
        "a node is left behind by the first report that it gets no unicasts",
        (25,),
        _first_report_counts,
        profile="paths",
        schedule=replace(WHILE_ONE_LEARNS, seed=40),
    ),
    Plant(
        "half-at-once",
        "who is a quorum by being first decides as soon as the others are late with their votes",
        (25,),
        _half_at_once,
        profile="paths",
        schedule=WHILE_ONE_LEARNS,
    ),
    Plant(
        "half-deaf-stays",
        "nobody misses the unicasts of who is heard by its multicasts",
        (25,),
        _one_path_only,
        profile="paths",
        schedule=Scenario(
            seed=20,
            nodes=3,
            starts_ns=(0, 0, 0),
            safety_ns=3 * SECOND,
            core=True,
            rest=("half-deaf",),
        ),
    ),
    Plant(
        "wall-clock",
        "how long a member was silent is read off the wall clock",
        (25, 15),
        _wall_clock,
    ),
    Plant(
        "deaf-goes-first",
        "a majority waits for a coordinator that it hears and that does not hear it",
        (25,),
        _oldest_though_no_quorum,
        # b and c are healed; a goes on to be heard by them.
        schedule=Scenario(seed=20, nodes=3, starts_ns=(0, 0, 0), safety_ns=3 * SECOND, core=True),
    ),
)
"""Those of failure detection; `plants.PLANTS` has all."""
