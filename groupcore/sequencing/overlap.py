"""Which `strict` groups must share a sequencer: condition S2 of the paper (section 4.2).

Two groups are **strongly intersecting** when two or more processes are in both. The transitive
closure of that is a **component**: its groups have one sequencer. Components fuse when processes
join and split when they leave. Pure: no messages, no owners; all answers are sorted.
"""

from __future__ import annotations

from groupcore.sequencing.attendance import Attendance
from groupcore.sequencing.names import GroupId, Process

STRONG = 2
"""So many common processes can disagree about the order of two groups: one cannot (S2)."""


class Overlap(Attendance):
    """The processes that count in strict groups, and how many each two groups have in common."""

    __slots__ = ("_common", "_components", "_members")

    def __init__(self) -> None:
        super().__init__()
        self._members: dict[GroupId, set[Process]] = {}
        self._common: dict[GroupId, dict[GroupId, int]] = {}  # both ways, counts from 1
        self._components: dict[GroupId, tuple[GroupId, ...]] = {}  # known ones

    def enter(self, process: Process, group: GroupId, request: int = 0) -> bool:
        """See `Attendance`; what the group has in common with the process's others grows."""
        if not super().enter(process, group, request):
            return False
        for other in self._groups[process]:
            if other != group:
                self._count(group, other, 1)
        self._members.setdefault(group, set()).add(process)
        return True

    def exit(self, process: Process, group: GroupId) -> bool:
        """See `Attendance`; what the group has in common with the process's others shrinks."""
        if not super().exit(process, group):
            return False
        for other in self._groups.get(process, ()):
            self._count(group, other, -1)
        members = self._members[group]
        members.remove(process)
        if not members:
            del self._members[group]
        return True

    def members(self, group: GroupId) -> list[Process]:
        """See `Attendance`, by an index."""
        return sorted(self._members.get(group, ()))

    def is_used(self, group: GroupId) -> bool:
        """Whether any process is in the group."""
        return group in self._members

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
        """All components of two groups or more; each is looked at once, at its first group."""
        found = []
        for group in sorted(self._common):
            component = self.component(group)
            if len(component) > 1 and component[0] == group:
                found.append(component)
        return found

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
