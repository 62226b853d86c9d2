"""Bugs to plant in who counts in strict groups, and what who does not count is given."""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.sequencing import moving, resolving
from groupcore.sequencing.commands import EnterStrict, ObserveStrict
from groupcore.sequencing.directory_changes import Change, EntryAllowed
from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.overlap import STRONG
from groupcore.sequencing.receiver import Receiver
from groupcore.sequencing.record import Hold, Run
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def _fuses() -> list[Patch]:
    def observe(state: DirectoryState, by: Address, command: ObserveStrict) -> list[Change]:
        return resolving.enter(
            state, by, EnterStrict(command.request, command.group, command.process)
        )

    return [(resolving, "observe", observe)]


def _placed() -> list[Patch]:
    """Groups with two observers in common have to go along, too."""
    original = moving._splits

    def splits(
        state: DirectoryState, groups: Sequence[GroupId], target: Address
    ) -> tuple[str, str] | None:
        watched = [{group for group, _ in own} for _, own in state.observers.entries()]
        for group in groups:
            for other in state.entries:
                common = sum({group, other} <= own for own in watched)
                if other not in groups and common >= STRONG and state.home_of(other) != target:
                    return "breaks_s2", f"this group must go along: {other}"
        return original(state, groups, target)

    return [(moving, "_splits", splits)]


def _uncounted() -> list[Patch]:
    """Each second process that joins as a member does not count."""
    original = resolving.enter

    def enter(state: DirectoryState, by: Address, command: EnterStrict) -> list[Change]:
        group, process, request = command.group, command.process, command.request
        if process.number % 2 or state.overlap.is_in(process, group):
            return original(state, by, command)
        refused = resolving._refused(state, by, command)
        if refused:
            return refused
        state.observers.enter(process, group, request)
        return [EntryAllowed(group, process, by, request)]

    return [(resolving, "enter", enter)]


def _uncaused() -> list[Patch]:
    """Where only observers are in a group, nothing waits for what it rests on."""
    original = Receiver._is_free

    def is_free(self: Receiver, run: Run, hold: Hold) -> bool:
        observers, group = self._plane.directory.state.observers, run.record.group
        if hold.local and all(observers.is_in(process, group) for process in hold.local):
            return True
        return original(self, run, hold)

    return [(Receiver, "_is_free", is_free)]


OBSERVER_PLANTS = (
    Plant(
        "g-observer-fuses",
        "who observes counts like a member",
        (28,),
        _fuses,
        "sequencing",
    ),
    Plant(
        "g-observer-placed",
        "groups with two observers in common may not be moved apart",
        (28,),
        _placed,
        "sequencing",
    ),
    Plant(
        "g-member-uncounted",
        "some members are taken for observers",
        (11, 8, 9),
        _uncounted,
        "sequencing",
    ),
    Plant(
        "g-observer-uncaused",
        "observers are given effects before their causes",
        (7, 8, 9),
        _uncaused,
        "sequencing",
    ),
)
