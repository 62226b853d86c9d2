"""Bugs to plant in what becomes of ordered bytes that are no command, or a wrong one."""

from __future__ import annotations

from groupcore.sequencing.conductor import Conductor
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.judging import judged
from groupcore.sequencing.log import Position
from groupcore.sequencing.receiving import Receiving
from groupcore.sequencing.stream import Opened, Stream
from groupcore.sim.plant_schedules_groups import BETRAYED, UNREADABLE
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def _locally() -> list[Patch]:
    """Who sequences nothing leaves no place in the order to what is no command."""
    original = Conductor.apply

    def apply(self: Conductor, by: Address, payload: bytes, place: Position) -> None:
        if self._sequencer.ownership.owned or judged(payload)[0] is not None:
            original(self, by, payload, place)

    return [(Conductor, "apply", apply)]


def _unread_counts() -> list[Patch]:
    """What can be read of a frame counts where the rest of it cannot."""
    original = Receiving._open

    def noted(
        self: Receiving, stream: Stream, header: Accept, messages: int, opened: Opened
    ) -> None:
        self._note(stream, header.origins, opened)
        original(self, stream, header, messages, opened)

    return [(Receiving, "_open", noted)]


SET_ASIDE_PLANTS = (
    Plant(
        "g-set-aside-locally",
        "whether what is no command has a place in the order is decided by what a node sequences",
        (29, 15, 25),
        _locally,
        "sequencing",
        BETRAYED,
    ),
    Plant(
        "g-unread-counts",
        "a frame that cannot be read is taken for the place of the runs that it seems to have",
        (7,),
        _unread_counts,
        "sequencing",
        UNREADABLE,
    ),
)
