"""Bugs to plant in the deletion of groups."""

from __future__ import annotations

from groupcore.sequencing.conductor import Conductor
from groupcore.sequencing.directory_changes import GroupDeleted
from groupcore.sequencing.events import Deleted
from groupcore.sequencing.log import Log
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.sender import Sender
from groupcore.sim.plant_schedules_durable import DELETED_AND_QUIET
from groupcore.sim.plant_schedules_groups import DELETED_IN_USE
from groupcore.sim.planting import Patch, Plant


def _given_on() -> list[Patch]:
    """Processes are told that the group is gone, and what is on its way comes all the same."""

    def on_deleted(self: Conductor, change: GroupDeleted) -> None:
        self._sequencer.disown((change.group,))
        request = change.request if change.by == self._plane.me else 0
        self._plane.events.append(Deleted(change.group, request))

    return [(Conductor, "_on_deleted", on_deleted)]


def _holds_up() -> list[Patch]:
    """What its sender sent behind a message to the group waits for that one's number."""
    original = Sender.forget_group

    def forget_group(self: Sender, group: GroupId) -> None:
        after = [
            (run, run.after)
            for under_way in self.outstanding.values()
            for run in under_way.values()
        ]
        original(self, group)
        for run, former in after:
            run.after = former

    return [(Sender, "forget_group", forget_group)]


def _stays_in_logs() -> list[Patch]:
    """Nobody asks for a checkpoint when a group is deleted."""

    def doom(self: Log) -> None:
        pass

    return [(Log, "doom", doom)]


DELETION_PLANTS = (
    Plant(
        "g-deleted-stays-in-logs",
        "a deletion asks for no checkpoint: what was sent to the group stays in the logs",
        (25,),
        _stays_in_logs,
        "durable",
        schedule=DELETED_AND_QUIET,
    ),
    Plant(
        "g-deleted-given-on",
        "what is on its way to a deleted group is given to who was in it",
        (16, 5, 25),
        _given_on,
        "sequencing",
    ),
    Plant(
        "g-deleted-holds-up",
        "a sender's messages to other groups wait for one that was sent to a deleted group",
        (25,),
        _holds_up,
        "sequencing",
        schedule=DELETED_IN_USE,
    ),
)
