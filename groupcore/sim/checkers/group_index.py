"""What the checkers of the data plane ask a trace for: streams, places, epochs that stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

from groupcore.sequencing.names import GroupId, Order
from groupcore.sim.trace import Trace
from groupcore.sim.trace_deletions import GroupDeleted
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupAsked,
    GroupCreated,
    GroupDelivered,
    GroupEnrolled,
    GroupJoined,
    GroupLeft,
    GroupMid,
    GroupOwned,
    GroupProcess,
    GroupReleased,
    GroupSent,
    GroupStamped,
    GroupState,
)
from groupcore.sim.trace_kept import GroupKept

Said = GroupDelivered | GroupJoined | GroupLeft | GroupState | GroupReleased | GroupDeleted
"""What a node says of a group in the group's order."""
Stream = tuple[str, int, GroupId]
"""One life of a node, and a group of which it says something."""
Place = tuple[GroupId, int]
"""A group and a number of its sequence."""
Content = tuple[GroupProcess, int]
"""What a number was given to: a process, and its own number of the message, or JOIN or LEAVE."""


@dataclass(slots=True)
class GroupIndex:
    """What a trace says of groups, gathered in one pass.

    `contents` has what stands at each place: what was delivered there first, and where nothing
    was, what was stamped there in an epoch that stands. `sent` has the first that was sent of each.
    `deleted`: when a node first heard that a group is no more. `observing`: the JOINs by which
    processes observe; each is judged by the request that it names, as a process that has asked in
    one role, given up and asked in the other may be let in by the first one all the same.
    """

    orders: dict[GroupId, Order] = field(default_factory=dict)
    streams: dict[Stream, list[Said]] = field(default_factory=dict)
    contents: dict[Place, Content] = field(default_factory=dict)
    places: dict[GroupMid, int] = field(default_factory=dict)
    last: dict[GroupId, int] = field(default_factory=dict)
    sent: dict[GroupMid, GroupSent] = field(default_factory=dict)
    stamps: list[GroupStamped] = field(default_factory=list)
    owned: dict[GroupId, list[GroupOwned]] = field(default_factory=dict)
    deleted: dict[GroupId, int] = field(default_factory=dict)
    observing: set[GroupStamped] = field(default_factory=set)
    _limits: dict[tuple[GroupId, int], int] = field(default_factory=dict)

    def causal(self, group: GroupId) -> bool:
        """Whether causal order across groups is promised for this one."""
        return self.orders.get(group, Order.CAUSALLY_TOTAL) in (Order.CAUSALLY_TOTAL, Order.STRICT)

    def strict(self, group: GroupId) -> bool:
        """Whether T2 is promised for this group."""
        return self.orders.get(group) is Order.STRICT

    def stands(self, stamp: GroupStamped) -> bool:
        """Whether no later epoch of the group has begun before this number."""
        key = (stamp.group, stamp.epoch)
        limit = self._limits.get(key)
        if limit is None:
            owned = self.owned.get(stamp.group, ())
            floors = [other.floor for other in owned if other.epoch > stamp.epoch]
            limit = self._limits[key] = min(floors, default=1 << 64)
        return stamp.seqno <= limit

    def binds(self, stamp: GroupStamped) -> bool:
        """Whether who joins or leaves here counts in what its groups have in common (S2)."""
        return stamp.number <= 0 and stamp not in self.observing

    def history(self, group: GroupId) -> Iterator[Content | None]:
        """What stands at 1, 2, ... of this group; None where nobody knows."""
        for seqno in range(1, self.last.get(group, 0) + 1):
            yield self.contents.get((group, seqno))

    def learn(self, group: GroupId, seqno: int, content: Content) -> None:
        """Something stands at this place, if nothing is known to."""
        if (group, seqno) in self.contents:
            return
        self.contents[group, seqno] = content
        if seqno > self.last.get(group, 0):
            self.last[group] = seqno
        if content[1] > 0:
            self.places.setdefault(GroupMid(content[0], group, content[1]), seqno)


class Roles:
    """As what processes have asked to be in groups, as far as a trace has got."""

    def __init__(self) -> None:
        self._by_request: dict[tuple[str, int, int], str] = {}
        self._last: dict[tuple[GroupProcess, GroupId], str] = {}

    def ask(self, asked: GroupAsked) -> None:
        """A request."""
        if asked.what != "leave":
            self._by_request[asked.n, asked.inc, asked.request] = asked.what
            self._last[asked.process, asked.group] = asked.what

    def observes(self, stamp: GroupStamped) -> bool:
        """Whether a JOIN is an observer's: by its request, or the last one if it names none."""
        by_request = self._by_request.get((*stamp.process[:2], stamp.request))
        last = self._last.get((stamp.process, stamp.group))
        return (by_request or last) == "observe"


def is_own_change(record: Said) -> bool:
    """Whether a node says that a process of its own is in a group, or is not.

    It does so when that is true for the process: with a state that came behind the JOIN, with the
    copy that it had before the JOIN had a number, or when it has asked to leave.
    """
    return isinstance(record, GroupJoined | GroupLeft) and record.process[:2] == (
        record.n,
        record.inc,
    )


def is_own_join(record: Said) -> TypeGuard[GroupJoined]:
    """Whether a node says that a process of its own is in a group."""
    return isinstance(record, GroupJoined) and is_own_change(record)


def is_without_number(record: Said) -> bool:
    """Whether a node says that a process of its own has left without a number.

    It was told that it is in, with a copy that was there, and left before its JOIN had one.
    """
    return isinstance(record, GroupLeft) and record.seqno == 0 and is_own_change(record)


def is_answer_to_leave(record: Said, taken: int | None) -> TypeGuard[GroupLeft]:
    """Whether a node says that a process of its own has left at a number that it does not follow.

    Where it has no state of the group, or one that it took (at number `taken`) behind the LEAVE.
    """
    if not isinstance(record, GroupLeft) or not is_own_change(record):
        return False
    return taken is None or record.seqno <= taken


def index_groups(trace: Trace) -> GroupIndex:
    """The index of a trace; ask for it by `trace.once(index_groups)`."""
    index = GroupIndex()
    streams = index.streams
    roles = Roles()
    for record in trace.records:
        if type(record) is GroupDelivered:
            group = record.group
            streams.setdefault((record.n, record.inc, group), []).append(record)
            if (group, record.seqno) not in index.contents:
                index.learn(group, record.seqno, (record.process, record.number))
        elif type(record) is GroupSent:
            index.sent.setdefault(record.mid, record)
        elif type(record) is GroupStamped:
            index.stamps.append(record)
            if record.number == JOIN and roles.observes(record):
                index.observing.add(record)
        elif type(record) is GroupAsked:
            roles.ask(record)
        elif isinstance(record, GroupJoined | GroupLeft):
            key = (record.n, record.inc, record.group)
            streams.setdefault(key, []).append(record)
            what = JOIN if isinstance(record, GroupJoined) else LEAVE
            if not is_own_join(record):
                index.learn(record.group, record.seqno, (record.process, what))
        elif isinstance(record, GroupState | GroupReleased | GroupDeleted):
            if type(record) is GroupDeleted:
                index.deleted.setdefault(record.group, record.t)
            key = (record.n, record.inc, record.group)
            streams.setdefault(key, []).append(record)
        elif type(record) is GroupEnrolled:
            index.learn(record.group, record.seqno, (record.process, JOIN))
        elif type(record) is GroupKept:
            index.learn(record.group, record.seqno, (record.process, record.number))
        elif type(record) is GroupOwned:
            index.owned.setdefault(record.group, []).append(record)
        elif type(record) is GroupCreated:
            index.orders.setdefault(record.group, Order(record.order))
    for stamp in index.stamps:
        if index.stands(stamp):
            index.learn(stamp.group, stamp.seqno, (stamp.process, stamp.number))
    return index
