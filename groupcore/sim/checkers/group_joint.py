"""What processes are given of two `strict` groups while they are members of both: joint stays.

Two members of the same two groups are one order of what both are given while both are in both. So
what is compared is what stands in a joint stay of each: a time in which a process is in both groups
without a break, by what its own node has told it. Nothing is asked of components, of who sequences
what, or of when anything was numbered. Who observes a group is in no joint stay of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.group_index import GroupIndex, Place, index_groups
from groupcore.sim.trace import Trace
from groupcore.sim.trace_deletions import GroupDeleted
from groupcore.sim.trace_groups import (
    JOIN,
    GroupAsked,
    GroupClosed,
    GroupDelivered,
    GroupJoined,
    GroupLeft,
    GroupProcess,
)

TOLD = GroupDelivered | GroupJoined | GroupLeft | GroupAsked
"""What says who is in a group, and what it is given."""
Pair = tuple[GroupId, GroupId]
"""Two groups, the smaller number first."""
Entry = tuple[GroupId, int, GroupProcess]
"""A JOIN: its group and number, and who joins."""


@dataclass(slots=True)
class JointStay:
    """A process in both groups of a pair, and what it was given of them then, in its order."""

    process: GroupProcess
    given: list[GroupDelivered] = field(default_factory=list)

    def places(self) -> set[Place]:
        """Which messages those are."""
        return {(record.group, record.seqno) for record in self.given}


class Stays:
    """Reads a trace, record by record. `stays`: those that have been met, by pair.

    `roles`: for each JOIN whether it is that of an observer; where no JOIN is known the last role
    that the process asked for counts.
    """

    def __init__(self, roles: Mapping[Entry, bool] = MappingProxyType({})) -> None:
        self.stays: dict[Pair, list[JointStay]] = {}
        self._roles = roles
        self._in: dict[GroupProcess, set[GroupId]] = {}
        self._open: dict[tuple[GroupProcess, Pair], JointStay] = {}
        self._observes: dict[tuple[GroupProcess, GroupId], bool] = {}

    def enter(self, process: GroupProcess, group: GroupId, seqno: int) -> None:
        """The process has been told that it is in the group, by the JOIN at that number."""
        asked = self._observes.get((process, group), False)
        if not self._roles.get((group, seqno, process), asked):
            self._in.setdefault(process, set()).add(group)

    def leave(self, process: GroupProcess, group: GroupId) -> None:
        """It is in the group no more, or has asked not to be."""
        groups = self._in.get(process, set())
        if group in groups:
            groups.discard(group)
            for other in groups:
                self._open.pop((process, _pair(group, other)), None)

    def leave_all(self, process: GroupProcess) -> None:
        """The process has ended."""
        for group in list(self._in.get(process, ())):
            self.leave(process, group)

    def ask(self, asked: GroupAsked) -> None:
        """A process wants to be in a group, as what, or out of it."""
        if asked.what == "leave":
            self.leave(asked.process, asked.group)
        else:
            self._observes[asked.process, asked.group] = asked.what == "observe"

    def deleted(self, record: GroupDeleted) -> None:
        """The processes of a node are in the group no more."""
        for process in [p for p in self._in if p[:2] == (record.n, record.inc)]:
            self.leave(process, record.group)

    def give(self, record: GroupDelivered) -> None:
        """Processes of a node are given a message."""
        group = record.group
        for process in record.to:
            groups = self._in.get(process, ())
            if group not in groups:
                continue
            for other in groups:
                if other != group:
                    self._stay(process, _pair(group, other)).given.append(record)

    def _stay(self, process: GroupProcess, pair: Pair) -> JointStay:
        stay = self._open.get((process, pair))
        if stay is None:
            stay = self._open[process, pair] = JointStay(process)
            self.stays.setdefault(pair, []).append(stay)
        return stay


def entry_roles(index: GroupIndex) -> dict[Entry, bool]:
    """For each JOIN of a strict group that stands: whether it is that of an observer."""
    return {
        (stamp.group, stamp.seqno, stamp.process): stamp in index.observing
        for stamp in index.stamps
        if stamp.number == JOIN and index.strict(stamp.group) and index.stands(stamp)
    }


def joint_stays(trace: Trace) -> dict[Pair, list[JointStay]]:
    """All joint stays of a trace in which something was given; ask for it by `trace.once`."""
    index = trace.once(index_groups)
    reader = Stays(entry_roles(index))
    if not any(index.strict(group) for group in index.orders):
        return {}
    for record in trace.records:
        if type(record) is GroupClosed:
            reader.leave_all(record.process)
        elif type(record) is GroupDeleted:
            reader.deleted(record)
        elif not isinstance(record, TOLD) or not index.strict(record.group):
            continue
        elif type(record) is GroupDelivered:
            reader.give(record)
        elif type(record) is GroupAsked:
            reader.ask(record)
        elif record.process[:2] != (record.n, record.inc):
            continue  # of a process of another node
        elif type(record) is GroupJoined:
            reader.enter(record.process, record.group, record.seqno)
        else:
            reader.leave(record.process, record.group)
    return reader.stays


def stamp_ranks(trace: Trace) -> dict[Place, int]:
    """For each number of a strict group that stands: how many had been given in the run before."""
    index = trace.once(index_groups)
    return {
        (stamp.group, stamp.seqno): order
        for order, stamp in enumerate(index.stamps)
        if index.strict(stamp.group) and index.stands(stamp)
    }


def is_as_numbered(stay: JointStay, ranks: dict[Place, int]) -> bool:
    """Whether everything in a stay was given in the order in which it was numbered."""
    numbers = [ranks.get((record.group, record.seqno)) for record in stay.given]
    return None not in numbers and all(
        one < other for one, other in pairwise(number for number in numbers if number is not None)
    )


def compared(trace: Trace) -> Iterator[tuple[JointStay, list[GroupDelivered], JointStay, Pair]]:
    """What members of two groups have in common, of stays that may disagree about its order.

    A stay, what of it another process's stay has as well, in the first one's order, and that other
    one. Two stays in which everything was given as it was numbered agree, so only the others are
    compared with all: few, unless an order is broken.
    """
    ranks = trace.once(stamp_ranks)
    for pair, stays in trace.once(joint_stays).items():
        if len({stay.process for stay in stays}) < 2:
            continue
        for stay in stays:
            if is_as_numbered(stay, ranks):
                continue
            for other in stays:
                if other.process != stay.process:
                    places = other.places()
                    mine = [one for one in stay.given if (one.group, one.seqno) in places]
                    if len({one.group for one in mine}) == 2:
                        yield stay, mine, other, pair


def _pair(group: GroupId, other: GroupId) -> Pair:
    return (min(group, other), max(group, other))
