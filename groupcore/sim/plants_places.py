"""Bugs to plant in what names its place in the order: entries in strict groups, and deletions."""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.headers import Join, Leave
from groupcore.sequencing.names import BEGINNING, GroupId, Process
from groupcore.sequencing.sections import Section
from groupcore.sim.plant_schedules_groups import DELETED_UNHEARD
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def by_who(self: Directory, process: Process, group: GroupId, request: int) -> bool:
    """Any entry of the process lets it in, and so does one as an observer."""
    state = self.state
    if state.observers.is_in(process, group):
        return True
    pending = any((one.process, one.group) == (process, group) for one in state.pending)
    return state.overlap.is_in(process, group) and not pending


def at_once(self: Enrolment, header: Join | Leave) -> bool:
    """Every place counts as reached."""
    return True


def _entered_by_who() -> list[Patch]:
    return [(Directory, "has_entered", by_who), (Enrolment, "_is_reached", at_once)]


def _placeless() -> list[Patch]:
    original = Section.batch

    def batch(self: Section, me: Address) -> Batch:
        self.place = BEGINNING
        return original(self, me)

    return [(Section, "batch", batch)]


PLACE_PLANTS = (
    Plant(
        "g-entered-by-who",
        "a strict group's sequencer lets in by any entry of the process, and waits for no place",
        (11, 8, 9),
        _entered_by_who,
        "strict-churn",
    ),
    Plant(
        "g-given-before-deletion",
        "what is sent behind a deletion is given to who has not heard of it",
        (7, 8, 9),
        _placeless,
        "sequencing",
        DELETED_UNHEARD,
    ),
)
