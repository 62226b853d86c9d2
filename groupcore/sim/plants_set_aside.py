"""Bugs to plant in what becomes of ordered bytes that are no command, or a wrong one."""

from __future__ import annotations

from groupcore.sequencing.conductor import Conductor
from groupcore.sequencing.judging import judged
from groupcore.sequencing.log import Position
from groupcore.sim.plant_schedules_groups import BETRAYED
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def _locally() -> list[Patch]:
    """Who sequences nothing leaves no place in the order to what is no command."""
    original = Conductor.apply

    def apply(self: Conductor, by: Address, payload: bytes, place: Position) -> None:
        if self._sequencer.ownership.owned or judged(payload)[0] is not None:
            original(self, by, payload, place)

    return [(Conductor, "apply", apply)]


SET_ASIDE_PLANTS = (
    Plant(
        "g-set-aside-locally",
        "whether what is no command has a place in the order is decided by what a node sequences",
        (29, 15, 25),
        _locally,
        "sequencing",
        BETRAYED,
    ),
)
