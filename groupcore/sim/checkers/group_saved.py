"""Invariant 18 for groups: what a sender was told to be saved is there in the end."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation, group_message, life, process_name
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import GroupHolds, GroupMid, GroupSaved


class GroupSavedSurvives(Checker):
    """18: every message that is saved is in every state of its group at the end of the run, once.

    The power may have been cut for all nodes since then, and whoever was enough came up again.
    """

    number, name = 18, "group-saved"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What was told, and what is there."""
        told: dict[tuple[object, int], GroupSaved] = {}
        for record in trace.of(GroupSaved):
            key = (record.process, record.group)
            if key not in told or told[key].number < record.number:
                told[key] = record
        for holds in trace.of(GroupHolds):
            here = set(holds.messages)
            if len(here) < len(holds.messages):
                text = f"{life(holds.n, holds.inc)} has a message of group {holds.group} twice"
                found.append(self.breach(holds.t, (holds.n,), text))
            for record in told.values():
                for number in range(1, record.number + 1):
                    if record.group == holds.group and (record.process, number) not in here:
                        mid = GroupMid(record.process, record.group, number)
                        text = (
                            f"{life(holds.n, holds.inc)} lacks {group_message(mid)}, which "
                            f"{process_name(record.process)} was told to be saved"
                        )
                        found.append(self.breach(holds.t, (holds.n,), text, mid))
