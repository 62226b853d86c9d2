"""What a service says of itself to those who operate it."""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.sequencer import Sequencer
from groupcore.sequencing.status import GroupFacts, GroupStatus, group_facts, group_status


class Figures:
    """A part of the service."""

    plane: Plane
    sequencer: Sequencer

    def groups(self) -> Iterator[GroupStatus]:
        """All groups, as this node knows them now."""
        return group_status(self.plane)

    def facts(self, group: GroupId) -> GroupFacts | None:
        """One group, looked at closely; None for an unknown one."""
        return group_facts(self.plane, group)

    def waiting(self) -> int:
        """Runs that wait here for their numbers, as their group is on its way to this node."""
        waiting = self.sequencer.early.values()
        return sum(len(asked.runs) for early in waiting for asked in early)

    def counters(self) -> dict[str, int]:
        """How much of what has happened, by name."""
        plane = self.plane
        result = {f"sequencing.{name}": n for name, n in sorted(plane.counters.items())}
        result["sequencing.groups"] = len(plane.records)
        result["sequencing.owned"] = len(self.sequencer.ownership.owned)
        if plane.archive is not None:
            result["sequencing.archived_bytes"] = plane.archive.runs_bytes
        result["sequencing.kept_bytes"] = sum(s.kept_bytes for s in plane.streams.values())
        return result
