"""Invariants 16 and 25 for groups that are deleted: nothing comes of them, and they do go."""

from __future__ import annotations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, life, process_name
from groupcore.sim.checkers.group_index import index_groups
from groupcore.sim.checkers.group_members import living_nodes, stays
from groupcore.sim.checkers.group_order import closing_times
from groupcore.sim.trace import Trace
from groupcore.sim.trace_deletions import DeletionAsked, GroupDeleted, GroupLogged
from groupcore.sim.trace_groups import (
    GroupAccepted,
    GroupDelivered,
    GroupEnd,
    GroupJoined,
    GroupLeft,
    GroupOwned,
    GroupRefused,
    GroupSaved,
    GroupStamped,
    GroupState,
    GroupVolatile,
)


class NothingOfDeleted(Checker):
    """16: a node that has said that a group is no more says, gives and numbers nothing of it.

    A group is deleted once: who makes one of its name has another one.
    """

    number, name = 16, "nothing-of-a-deleted-group"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass in the order of events."""
        over: set[tuple[str, int, GroupId]] = set()
        for record in trace.records if trace.of(GroupDeleted) else ():
            if isinstance(record, GroupAccepted | GroupSaved):
                n, inc = record.process[:2]
            elif isinstance(
                record,
                GroupDeleted
                | GroupDelivered
                | GroupJoined
                | GroupLeft
                | GroupState
                | GroupVolatile
                | GroupStamped
                | GroupOwned,
            ):
                n, inc = record.n, record.inc
            else:
                continue
            if (n, inc, record.group) in over:
                what = type(record).__name__
                text = f"{what} of group {record.group} at {life(n, inc)}, where it is deleted"
                found.append(self.breach(record.t, (n,), text))
            if type(record) is GroupDeleted:
                over.add((n, inc, record.group))


class DeletedIsGone(Checker):
    """25: soon after healing who asked for a deletion has its answer, and who was in knows.

    No living node's process is in a group that is deleted anywhere, and no node keeps its state,
    or messages of it in its log.
    """

    number, name = 25, "deleted-is-gone"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Judge the end; a trace without healing or ends has nothing to judge."""
        living, deleted = trace.once(living_nodes), trace.once(index_groups).deleted
        if trace.healed_at is None or not living:
            return
        t = max(end.t for end in trace.ends)
        answered = {(one.n, one.inc, one.request) for one in trace.of(GroupDeleted)}
        answered |= {(one.n, one.inc, one.request) for one in trace.of(GroupRefused)}
        for asked in trace.of(DeletionAsked):
            who = (asked.n, asked.inc)
            if who in living and (*who, asked.request) not in answered:
                text = f"{life(*who)} still waits to have group {asked.group} deleted"
                found.append(self.breach(t, (asked.n,), text))
        closed = trace.once(closing_times)
        for (process, group), stay in trace.once(stays).items():
            if group not in deleted or process[:2] not in living or process in closed:
                continue
            if stay.until is None:
                text = f"{process_name(process)} is still in group {group}, which is deleted"
                found.append(self.breach(t, (process[0],), text))
        for logged in trace.of(GroupLogged):
            if (logged.n, logged.inc) in living and logged.groups:
                named = ", ".join(map(str, logged.groups))
                text = f"the log of {life(logged.n, logged.inc)} has messages of {named}, deleted"
                found.append(self.breach(t, (logged.n,), text))
        for end in trace.of(GroupEnd):
            if end.group in deleted and (end.n, end.inc) in living:
                text = f"{life(end.n, end.inc)} keeps the state of group {end.group}, deleted"
                found.append(self.breach(t, (end.n,), text))
