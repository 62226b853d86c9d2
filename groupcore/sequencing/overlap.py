"""Which `strict` groups must share a sequencer: condition S2 of the paper (section 4.2).

Two groups are **strongly intersecting** when two or more processes are in both. The transitive
closure of that is a **component**: its groups have one sequencer. Components fuse when processes
join and split when they leave. Pure: no messages, no owners; all answers are sorted.
"""

from __future__ import annotations

from collections.abc import Container

from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address

STRONG = 2
"""So many common processes can disagree about the order of two groups: one cannot (S2)."""


class Overlap:
    """The processes of the strict groups, and how many each two groups have in common."""

    __slots__ = ("_common", "_components", "_groups", "_members")

    def __init__(self) -> None:
        self._members: dict[GroupId, set[Process]] = {}
        self._groups: dict[Process, set[GroupId]] = {}
        self._common: dict[GroupId, dict[GroupId, int]] = {}  # both ways, counts from 1
        self._components: dict[GroupId, tuple[GroupId, ...]] = {}  # known ones

    def enter(self, process: Process, group: GroupId) -> bool:
        """The process is in the group from here on; False when it was before."""
        groups = self._groups.setdefault(process, set())
        if group in groups:
            return False
        for other in groups:
            self._count(group, other, 1)
        groups.add(group)
        self._members.setdefault(group, set()).add(process)
        return True

    def exit(self, process: Process, group: GroupId) -> bool:
        """The process is in the group no more; False when it was not."""
        groups = self._groups.get(process)
        if groups is None or group not in groups:
            return False
        groups.remove(group)
        if not groups:
            del self._groups[process]
        for other in groups:
            self._count(group, other, -1)
        members = self._members[group]
        members.remove(process)
        if not members:
            del self._members[group]
        return True

    def keep_nodes(self, nodes: Container[Address]) -> None:
        """Processes of all other nodes leave everything."""
        for process in [process for process in self._groups if process.node not in nodes]:
            for group in sorted(self._groups[process]):
                self.exit(process, group)

    def delete(self, group: GroupId) -> None:
        """All processes leave the group."""
        for process in self.members(group):
            self.exit(process, group)

    def members(self, group: GroupId) -> list[Process]:
        """The processes in the group."""
        return sorted(self._members.get(group, ()))

    def is_used(self, group: GroupId) -> bool:
        """Whether any process is in the group."""
        return group in self._members

    def is_in(self, process: Process, group: GroupId) -> bool:
        """Whether the process is in the group."""
        return group in self._groups.get(process, ())

    def groups_of(self, process: Process) -> list[GroupId]:
        """The groups that the process is in."""
        return sorted(self._groups.get(process, ()))

    def common(self, group: GroupId, other: GroupId) -> int:
        """How many processes are in both groups."""
        return self._common.get(group, {}).get(other, 0)

    def component(self, group: GroupId) -> tuple[GroupId, ...]:
        """The groups that share a sequencer with this one, itself included."""
        known = self._components.get(group)
        if known is not None:
            return known
        if group not in self._common:
            return (group,)
        found, open_ends = {group}, [group]
        while open_ends:
            for other, count in self._common.get(open_ends.pop(), {}).items():
                if count >= STRONG and other not in found:
                    found.add(other)
                    open_ends.append(other)
        component = tuple(sorted(found))
        self._components.update(dict.fromkeys(component, component))
        return component

    def components(self) -> list[tuple[GroupId, ...]]:
        """All components of two groups or more."""
        found = {self.component(group) for group in self._common}
        return sorted(component for component in found if len(component) > 1)

    def entries(self) -> list[tuple[Process, list[GroupId]]]:
        """Every process with its groups: entering them anew gives an equal table."""
        return [(process, self.groups_of(process)) for process in sorted(self._groups)]

    def _count(self, group: GroupId, other: GroupId, change: int) -> None:
        count = self.common(group, other) + change
        for one, two in ((group, other), (other, group)):
            row = self._common.setdefault(one, {})
            if count:
                row[two] = count
            else:
                row.pop(two, None)
                if not row:
                    del self._common[one]
                    self._forget(one)
        if count == (STRONG if change > 0 else STRONG - 1):
            self._forget(group)
            self._forget(other)

    def _forget(self, group: GroupId) -> None:
        for member in self._components.get(group, ()):
            del self._components[member]
