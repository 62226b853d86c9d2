"""Invariant 19 for groups: what is sent behind an answer stands behind what was answered."""

from __future__ import annotations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message
from groupcore.sim.checkers.group_index import index_groups
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import GroupAccepted, GroupMid, GroupSaved, GroupSent


class RealTimeOrder(Checker):
    """19: a message sent after another one to its group was answered has a later number.

    Whoever sent the two, and at whatever nodes: the world has one clock. People rely on it who tell
    each other beside the system that something is done.
    """

    number, name = 19, "real-time-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass: what is the last place that anybody was told of when a message was sent."""
        places, begins_at = trace.once(index_groups).places, self.begins_at(trace)
        told: dict[GroupId, tuple[int, GroupMid]] = {}
        floors: dict[GroupMid, tuple[int, GroupMid]] = {}
        for record in trace.records:
            if type(record) is GroupSent:
                if record.group in told:
                    floors.setdefault(record.mid, told[record.group])
            elif type(record) is GroupAccepted or type(record) is GroupSaved:
                if type(record) is GroupAccepted and record.t < begins_at:
                    continue
                mid = GroupMid(record.process, record.group, record.number)
                place = places.get(mid, 0)
                if place > told.get(record.group, (0, mid))[0]:
                    told[record.group] = place, mid
        for mid, (floor, answered) in floors.items():
            number = places.get(mid)
            if number is not None and number <= floor:
                text = (
                    f"{group_message(mid)} has number {number} of group {mid.group}; when it was "
                    f"sent, {group_message(answered)} had been answered with {floor}"
                )
                found.append(self.breach(self.sent_at(trace, mid), (mid.process[0],), text, mid))

    def begins_at(self, trace: Trace) -> int:
        """From when on an answer counts that says no more than that a message has its number."""
        del trace
        return 0

    def sent_at(self, trace: Trace, mid: GroupMid) -> int:
        """When the message was sent."""
        return trace.once(index_groups).sent[mid].t
