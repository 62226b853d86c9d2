"""Which processes are in which groups: the table beneath `overlap` and `observers`.

By process, as that is how it is asked and kept in snapshots. Pure; all answers are sorted.
"""

from __future__ import annotations

from collections.abc import Container

from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address


class Attendance:
    """Processes in groups; equal at all nodes at the same place of the order."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        self._groups: dict[Process, dict[GroupId, int]] = {}

    def enter(self, process: Process, group: GroupId, request: int = 0) -> bool:
        """The process is in the group from here on, by this request; False when it was before.

        Where it was in the group, it is so by this request now, and not by the former one.
        """
        groups = self._groups.setdefault(process, {})
        is_new = group not in groups
        groups[group] = request
        return is_new

    def entry(self, process: Process, group: GroupId) -> int | None:
        """The request of its node by which the process is in the group; None: it is not."""
        return self._groups.get(process, {}).get(group)

    def exit(self, process: Process, group: GroupId) -> bool:
        """The process is in the group no more; False when it was not."""
        groups = self._groups.get(process)
        if groups is None or group not in groups:
            return False
        del groups[group]
        if not groups:
            del self._groups[process]
        return True

    def keep_nodes(self, nodes: Container[Address]) -> None:
        """Processes of all other nodes leave everything."""
        for process in [process for process in self._groups if process.node not in nodes]:
            for group in self.groups_of(process):
                self.exit(process, group)

    def delete(self, group: GroupId) -> None:
        """All processes leave the group."""
        for process in self.members(group):
            self.exit(process, group)

    def members(self, group: GroupId) -> list[Process]:
        """The processes in the group. Looks at every process that is in any."""
        return sorted(process for process, groups in self._groups.items() if group in groups)

    def is_in(self, process: Process, group: GroupId) -> bool:
        """Whether the process is in the group."""
        return group in self._groups.get(process, ())

    def groups_of(self, process: Process) -> list[GroupId]:
        """The groups that the process is in."""
        return sorted(self._groups.get(process, ()))

    def entries(self) -> list[tuple[Process, list[tuple[GroupId, int]]]]:
        """Every process with its groups and requests: entering them anew gives an equal table."""
        return [
            (process, sorted(self._groups[process].items())) for process in sorted(self._groups)
        ]
