"""Who is in `strict` groups without counting in their overlaps.

Idea. Archivers and bots are in nearly every group; two of them would make one component of all
(S2), and one sequencer carry everything. Who joins as an observer gives up the order across groups:
it is given what a `causally-total` group promises, each group's total order and nothing before what
it rests on. Two observers may disagree about the order of two groups; no two members do.
"""

from __future__ import annotations

from collections.abc import Container

from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address


class Observers:
    """The observers of the strict groups; equal at all nodes at the same place of the order."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        self._groups: dict[Process, set[GroupId]] = {}

    def enter(self, process: Process, group: GroupId) -> None:
        """The process observes the group from here on."""
        self._groups.setdefault(process, set()).add(group)

    def exit(self, process: Process, group: GroupId) -> bool:
        """The process observes the group no more; False when it did not."""
        groups = self._groups.get(process)
        if groups is None or group not in groups:
            return False
        groups.remove(group)
        if not groups:
            del self._groups[process]
        return True

    def keep_nodes(self, nodes: Container[Address]) -> None:
        """Processes of all other nodes observe nothing any more."""
        for process in [process for process in self._groups if process.node not in nodes]:
            del self._groups[process]

    def delete(self, group: GroupId) -> None:
        """Nobody observes the group any more."""
        for process in [process for process, groups in self._groups.items() if group in groups]:
            self.exit(process, group)

    def is_in(self, process: Process, group: GroupId) -> bool:
        """Whether the process observes the group."""
        return group in self._groups.get(process, ())

    def entries(self) -> list[tuple[Process, list[GroupId]]]:
        """Every observer with its groups: entering them anew gives an equal table."""
        return [(process, sorted(self._groups[process])) for process in sorted(self._groups)]
