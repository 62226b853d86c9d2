"""Invariants 1 to 6 for groups: what was delivered was sent, once, at one place, in order.

The rules are those of `order`, for each group by itself. A stream is what one life of a node says
of one group; it starts anew where the node installs a state, and ends where it drops its copy.
"""

from __future__ import annotations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message, life, process_name
from groupcore.sim.checkers.group_index import (
    Content,
    GroupIndex,
    Place,
    Said,
    index_groups,
    is_answer_to_leave,
    is_own_join,
    is_without_number,
)
from groupcore.sim.trace import Trace
from groupcore.sim.trace_deletions import GroupDeleted
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupAsked,
    GroupClosed,
    GroupDelivered,
    GroupJoined,
    GroupLeft,
    GroupMid,
    GroupProcess,
    GroupReleased,
    GroupSent,
    GroupState,
)


def describe(group: GroupId, content: Content | None) -> str:
    """What stands at a place, in words."""
    if content is None:
        return "nothing that is known"
    process, number = content
    if number == JOIN:
        return f"JOIN of {process_name(process)}"
    if number == LEAVE:
        return f"LEAVE of {process_name(process)}"
    return group_message(GroupMid(process, group, number))


class GroupIntegrity(Checker):
    """1: every delivered message was sent to that group before, by that process, as it is."""

    number, name = 1, "group-integrity"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Join deliveries to sends by identity, in the order in which both happened."""
        sent: dict[GroupMid, int] = {}
        for record in trace.records:
            if type(record) is GroupSent:
                sent.setdefault(record.mid, record.h)
            elif type(record) is GroupDelivered:
                h = sent.get(record.mid)
                if h == record.h:
                    continue
                fault = "was not sent before" if h is None else "has another content than was sent"
                who, what = life(record.n, record.inc), group_message(record.mid)
                text = f"{who} delivers {what}, which {fault}"
                found.append(self.breach(record.t, (record.n,), text, record.mid))


class GroupNoDuplication(Checker):
    """2: a node delivers a message once, and none that the state it started from contains."""

    number, name = 2, "group-no-duplication"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One set of identities a stream; the cut is the number of its last state."""
        index = trace.once(index_groups)
        for said in index.streams.values():
            self._scan_stream(index, said, found)

    def _scan_stream(self, index: GroupIndex, said: list[Said], found: list[Violation]) -> None:
        seen: dict[GroupMid, int] = {}
        cut = 0
        for record in said:
            if type(record) is GroupState:
                cut = record.seqno
            if type(record) is not GroupDelivered:
                continue
            mid = record.mid
            if mid in seen:
                text = f"again at {record.seqno}, first at {seen[mid]}"
            elif cut and index.places.get(mid, record.seqno) <= cut:
                text = f"at {record.seqno}; its state has it at {index.places[mid]}"
            else:
                seen[mid] = record.seqno
                continue
            who = life(record.n, record.inc)
            text = f"{who} delivers {group_message(mid)} of group {record.group} {text}"
            found.append(self.breach(record.t, (record.n,), text, mid))


class GroupSlotAgreement(Checker):
    """3: one number of a group is one message, JOIN or LEAVE; one message has one number.

    At all nodes, in all their lives, on all sides of all partitions.
    """

    number, name = 3, "group-slot-agreement"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Two dictionaries, each with the first delivery that filled an entry."""
        at: dict[Place, tuple[Content, int, str]] = {}
        of: dict[GroupMid, tuple[int, str]] = {}
        for record in trace.records:
            if type(record) is GroupDelivered:
                content, h = (record.process, record.number), record.h
                mid = record.mid
                seqno, n = of.setdefault(mid, (record.seqno, record.n))
                if seqno != record.seqno:
                    text = (
                        f"{group_message(mid)} has number {seqno} at {n} and {record.seqno} at "
                        f"{life(record.n, record.inc)}"
                    )
                    found.append(self.breach(record.t, (n, record.n), text, mid))
            elif isinstance(record, GroupJoined | GroupLeft) and not is_own_join(record):
                if is_without_number(record):
                    continue
                what = JOIN if isinstance(record, GroupJoined) else LEAVE
                content, h = (record.process, what), 0
            else:
                continue
            group = record.group
            known, hash_, n = at.setdefault((group, record.seqno), (content, h, record.n))
            if (known, hash_) != (content, h):
                text = (
                    f"number {record.seqno} of group {group} is {describe(group, known)} at {n} "
                    f"and {describe(group, content)} at {life(record.n, record.inc)}"
                )
                mids = [GroupMid(p, group, number) for p, number in (known, content) if number > 0]
                found.append(self.breach(record.t, (n, record.n), text, *mids))


class GroupTotalOrder(Checker):
    """4: the numbers of a group at which a node delivers only grow, as do those of its states.

    A node says that a process of its own has joined when it has what that begins with, and that
    one has left even where it does not follow the group's order: `is_answer_to_leave`.
    """

    number, name = 4, "group-total-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Compare each number with the one before it."""
        for said in trace.once(index_groups).streams.values():
            last = 0
            taken: int | None = None
            for record in said:
                if isinstance(record, GroupReleased | GroupDeleted):
                    taken = None
                    continue
                if is_own_join(record) or is_answer_to_leave(record, taken):
                    continue
                taken = record.seqno if isinstance(record, GroupState) else taken or 0
                if record.seqno < last or (record.seqno == last and type(record) is not GroupState):
                    text = f"{life(record.n, record.inc)} {say(record)} after number {last}"
                    mids = [record.mid] if type(record) is GroupDelivered else []
                    found.append(self.breach(record.t, (record.n,), text, *mids))
                last = max(last, record.seqno)


class GroupGapFreedom(Checker):
    """5: the numbers are consecutive, from the state on or from 1; each member here is given all.

    The number of a JOIN of one of the node's own processes need not be said. A process that has
    asked to leave is given nothing any more, and hears that it has left in any case.
    """

    number, name = 5, "group-gap-freedom"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Follow the expected number and the processes that have joined through each stream."""
        index = trace.once(index_groups)
        closed, leaving = trace.once(closing_times), trace.once(leaving_times)
        for (_, _, group), said in index.streams.items():
            self._scan_stream(index, closed, leaving, group, said, found)

    def _scan_stream(
        self,
        index: GroupIndex,
        closed: dict[GroupProcess, int],
        leaving: LeavingTimes,
        group: GroupId,
        said: list[Said],
        found: list[Violation],
    ) -> None:
        last: int | None = 0
        taken: int | None = None
        members: dict[GroupProcess, int] = {}
        own = {record.seqno for record in said if is_own_join(record)}
        for record in said:
            if isinstance(record, GroupReleased | GroupDeleted):
                last = taken = None
                if isinstance(record, GroupDeleted):
                    members.clear()
                continue
            if isinstance(record, GroupState):
                last = taken = record.seqno
                continue
            if is_answer_to_leave(record, taken):
                members.pop(record.process, None)
                continue
            if last is None or not (is_own_join(record) or self._follows(index, own, record, last)):
                before = "without a state" if last is None else f"after number {last}"
                mids = [record.mid] if isinstance(record, GroupDelivered) else []
                text = f"{life(record.n, record.inc)} {say(record)} {before}"
                found.append(self.breach(record.t, (record.n,), text, *mids))
            if is_own_join(record):
                members[record.process] = record.t
                continue
            last, taken = max(last or 0, record.seqno), taken or 0
            if isinstance(record, GroupDelivered):
                for process, since in members.items():
                    if process in record.to or record.t > closed.get(process, record.t):
                        continue
                    if not leaves_between(leaving, process, group, since, record.t):
                        who = life(record.n, record.inc)
                        text = f"{who} {say(record)}, but not to its {process_name(process)}"
                        found.append(self.breach(record.t, (record.n,), text, record.mid))
            elif isinstance(record, GroupLeft):
                members.pop(record.process, None)

    def _follows(
        self,
        index: GroupIndex,
        own: set[int],
        record: GroupDelivered | GroupJoined | GroupLeft,
        last: int,
    ) -> bool:
        node = (record.n, record.inc)
        for seqno in range(last + 1, record.seqno):
            content = index.contents.get((record.group, seqno))
            if content is None and seqno in own:
                continue  # whoever has numbered it is not in this history
            if content is None or content[1] != JOIN or content[0][:2] != node:
                return False
        return True


class GroupFifo(Checker):
    """6: what one process sends to a group comes in the order in which it sent it."""

    number, name = 6, "group-fifo"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each stream by itself, then the order that all together have shown."""
        index = trace.once(index_groups)
        for said in index.streams.values():
            last: dict[GroupProcess, int] = {}
            for record in said:
                if type(record) is not GroupDelivered:
                    continue
                before = last.get(record.process, 0)
                if record.number < before:
                    text = f"{life(record.n, record.inc)} {say(record)} after the sender's {before}"
                    found.append(self.breach(record.t, (record.n,), text, record.mid))
                else:
                    last[record.process] = record.number
        for group in index.last:
            self._scan_history(index, group, found)

    def _scan_history(self, index: GroupIndex, group: GroupId, found: list[Violation]) -> None:
        highest: dict[GroupProcess, int] = {}
        for seqno, content in enumerate(index.history(group), start=1):
            if content is None or content[1] <= 0:
                continue
            process, number = content
            if number < highest.get(process, 0):
                mid = GroupMid(process, group, number)
                text = (
                    f"{group_message(mid)} has number {seqno} of group {group}, behind the "
                    f"sender's {highest[process]}"
                )
                found.append(self.breach(0, (process[0],), text, mid))
            else:
                highest[process] = number


def closing_times(trace: Trace) -> dict[GroupProcess, int]:
    """When each process was closed that was."""
    return {closed.process: closed.t for closed in trace.of(GroupClosed)}


LeavingTimes = dict[tuple[GroupProcess, GroupId], list[int]]
"""When each process asked to leave each group."""


def leaving_times(trace: Trace) -> LeavingTimes:
    """When who asked to leave what."""
    times: LeavingTimes = {}
    for asked in trace.of(GroupAsked):
        if asked.what == "leave":
            times.setdefault((asked.process, asked.group), []).append(asked.t)
    return times


def leaves_between(
    times: LeavingTimes, process: GroupProcess, group: GroupId, since: int, until: int
) -> bool:
    """Whether the process asked to leave the group in this time, both ends included."""
    return any(since <= t <= until for t in times.get((process, group), ()))


def say(record: GroupDelivered | GroupJoined | GroupLeft | GroupState) -> str:
    """What a node says of a group, in words."""
    where = f"at number {record.seqno} of group {record.group}"
    match record:
        case GroupDelivered():
            return f"delivers {group_message(record.mid)} {where}"
        case GroupState():
            return f"takes the state {where}"
        case GroupJoined():
            return f"says JOIN of {process_name(record.process)} {where}"
        case GroupLeft():
            return f"says LEAVE of {process_name(record.process)} {where}"
