"""Invariant 6 for volatile messages: they may be lost, and never go back."""

from __future__ import annotations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, life, process_name
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    GroupClosed,
    GroupJoined,
    GroupLeft,
    GroupProcess,
    GroupVolatile,
    GroupVolatileSent,
)

Key = tuple[GroupProcess, GroupId]


class GroupVolatileLatest(Checker):
    """6: a node gives a process's volatile messages to a group in their order, as they were sent.

    Some are left out. They are given to processes of the node that are in the group.
    """

    number, name = 6, "group-volatile"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass; what was sent, who is in, and the last number for each life and sender."""
        sent: dict[tuple[GroupProcess, GroupId, int], int] = {}
        last: dict[tuple[str, int, Key], int] = {}
        inside: set[Key] = set()
        for record in trace.records:
            if type(record) is GroupVolatileSent:
                sent[record.process, record.group, record.number] = record.h
            elif type(record) is GroupJoined and record.process[:2] == (record.n, record.inc):
                inside.add((record.process, record.group))
            elif type(record) is GroupLeft and record.process[:2] == (record.n, record.inc):
                inside.discard((record.process, record.group))
            elif type(record) is GroupClosed:
                inside = {key for key in inside if key[0] != record.process}
            elif type(record) is GroupVolatile:
                key = (record.n, record.inc, (record.process, record.group))
                fault = self._fault(record, sent, last.get(key, 0), inside)
                last[key] = max(record.number, last.get(key, 0))
                if fault:
                    text = (
                        f"{life(record.n, record.inc)} gives the volatile message {record.number} "
                        f"of {process_name(record.process)} to group {record.group}, {fault}"
                    )
                    found.append(self.breach(record.t, (record.n,), text))

    def _fault(
        self,
        record: GroupVolatile,
        sent: dict[tuple[GroupProcess, GroupId, int], int],
        last: int,
        inside: set[Key],
    ) -> str:
        h = sent.get((record.process, record.group, record.number))
        if h is None:
            return "which was not sent"
        if h != record.h:
            return "which has another content than was sent"
        if record.number <= last:
            return f"behind number {last}"
        for process in record.to:
            if (process, record.group) not in inside:
                return f"and to {process_name(process)}, which has not joined here"
        return ""
