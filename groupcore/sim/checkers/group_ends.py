"""Invariants 20 and 25 for groups: what is sent is numbered once, and all of it in the end."""

from __future__ import annotations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message, life, process_name
from groupcore.sim.checkers.group_index import Content, index_groups
from groupcore.sim.checkers.group_members import living_nodes, refused_messages, stays
from groupcore.sim.checkers.group_order import closing_times
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    JOIN,
    GroupAccepted,
    GroupAsked,
    GroupEnd,
    GroupMid,
    GroupProcess,
    GroupRefused,
    GroupSent,
)
from groupcore.view import Address


class GroupExactlyOnce(Checker):
    """20: a message has one content and one number, for whoever is told of it.

    A process hands each of its numbers over once. What a sender is told is the number that the
    message has and keeps; a sequencer gives a message no second number in its epoch.
    """

    number, name = 20, "group-exactly-once"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What was handed over, what was numbered, what was told."""
        index = trace.once(index_groups)
        sent: set[GroupMid] = set()
        for record in trace.of(GroupSent):
            if record.mid in sent:
                text = f"{process_name(record.process)} sends {group_message(record.mid)} again"
                found.append(self.breach(record.t, (record.process[0],), text, record.mid))
            sent.add(record.mid)
        of: dict[tuple[GroupMid, int], int] = {}
        for stamp in index.stamps:
            if stamp.number <= 0:
                continue
            mid = GroupMid(stamp.process, stamp.group, stamp.number)
            first = of.setdefault((mid, stamp.epoch), stamp.seqno)
            if first != stamp.seqno:
                text = (
                    f"{life(stamp.n, stamp.inc)} gives {group_message(mid)} number {stamp.seqno} "
                    f"of group {stamp.group}, after {first}, in epoch {stamp.epoch}"
                )
                found.append(self.breach(stamp.t, (stamp.n,), text, mid))
        for told in trace.of(GroupAccepted):
            mid = GroupMid(told.process, told.group, told.number)
            place = index.places.get(mid)
            if place != told.seqno and (told.seqno or place is None):
                has = "none" if place is None else str(place)
                text = (
                    f"{process_name(told.process)} is told that {group_message(mid)} has number "
                    f"{told.seqno} of group {told.group}; it has {has}"
                )
                found.append(self.breach(told.t, (told.process[0],), text, mid))


class GroupLiveness(Checker):
    """25: soon after healing nothing is outstanding: sent, asked, delivered, owned.

    Of processes and nodes that are there at the end: every message has a number, and its sender
    knows; every request has had its answer; every node that hosts a member of a group has all of
    it; every group has a sequencer. Of groups that are deleted `group_deletions` judges.
    """

    number, name = 25, "group-liveness-after-healing"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Judge the end; a trace without healing or ends has nothing to judge."""
        living = trace.once(living_nodes)
        if trace.healed_at is None or not living:
            return
        t = max(end.t for end in trace.ends)
        self._check_messages(trace, living, t, found)
        self._check_requests(trace, living, t, found)
        self._check_places(trace, living, t, found)
        self._check_owners(trace, living, t, found)

    def _check_messages(
        self, trace: Trace, living: set[Address], t: int, found: list[Violation]
    ) -> None:
        index, refused = trace.once(index_groups), trace.once(refused_messages)
        closed = trace.once(closing_times)
        told = trace.once(accepted_numbers)
        for mid, sent in index.sent.items():
            if sent.process[:2] not in living or sent.process in closed or mid in refused:
                continue
            if mid.group in index.deleted:
                continue
            if mid not in index.places:
                text = f"{group_message(mid)} is still without a number"
            elif told.get((sent.process, sent.group), 0) < sent.number:
                text = f"{process_name(sent.process)} has not been told of {group_message(mid)}"
            else:
                continue
            found.append(self.breach(t, (sent.process[0],), text, mid))

    def _check_requests(
        self, trace: Trace, living: set[Address], t: int, found: list[Violation]
    ) -> None:
        closed, memberships = trace.once(closing_times), trace.once(stays)
        refused = {(record.n, record.inc, record.request) for record in trace.of(GroupRefused)}
        last: dict[tuple[GroupProcess, GroupId], GroupAsked] = {}
        for asked in trace.of(GroupAsked):
            if (asked.n, asked.inc, asked.request) not in refused:
                last[asked.process, asked.group] = asked
        deleted = trace.once(index_groups).deleted
        for (process, group), asked in last.items():
            if process[:2] not in living or process in closed or group in deleted:
                continue
            stay = memberships.get((process, group))
            member = stay is not None and stay.until is None
            if member != (asked.what != "leave"):
                text = f"{process_name(process)} still waits to {asked.what} group {group}"
                found.append(self.breach(t, (process[0],), text))

    def _check_places(
        self, trace: Trace, living: set[Address], t: int, found: list[Violation]
    ) -> None:
        index, closed = trace.once(index_groups), trace.once(closing_times)
        ends = {(Address(end.n, end.inc), end.group): end for end in trace.of(GroupEnd)}
        needed = {
            (Address(*process[:2]), group): process
            for (process, group), stay in trace.once(stays).items()
            if stay.until is None and process not in closed and group not in index.deleted
        }
        for (node, group), process in needed.items():
            if node not in living:
                continue
            end = ends.get((node, group))
            last = index.last.get(group, 0)
            while last and self._is_join_of(index.contents.get((group, last)), node):
                last -= 1  # which the node need not say
            if end is None or end.seqno < last:
                has = "nothing" if end is None else f"number {end.seqno}"
                text = (
                    f"{life(*node)} ends with {has} of group {group}, in which "
                    f"{process_name(process)} is; its last number is {last}"
                )
                found.append(self.breach(t, (node.name,), text))

    def _is_join_of(self, content: Content | None, node: Address) -> bool:
        return content is not None and content[1] == JOIN and content[0][:2] == node

    def _check_owners(
        self, trace: Trace, living: set[Address], t: int, found: list[Violation]
    ) -> None:
        index = trace.once(index_groups)
        for group, owned in index.owned.items():
            if group in index.deleted:
                continue
            last = max(owned, key=lambda record: record.epoch)
            if (last.n, last.inc) not in living:
                text = (
                    f"group {group} ends without a sequencer: the last is {life(last.n, last.inc)}"
                )
                found.append(self.breach(t, (last.n,), text))


def accepted_numbers(trace: Trace) -> dict[tuple[GroupProcess, GroupId], int]:
    """The last number of its own that each process was told to have its place in each group."""
    told: dict[tuple[GroupProcess, GroupId], int] = {}
    for record in trace.of(GroupAccepted):
        key = (record.process, record.group)
        told[key] = max(record.number, told.get(key, 0))
    return told
