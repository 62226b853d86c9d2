"""A run of the service, or of anything that writes records of groups, against the obvious rules."""

from __future__ import annotations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.group_index import GroupIndex, Stream, index_groups
from groupcore.sim.checkers.synchrony import ENDINGS
from groupcore.sim.trace import Lived, Trace
from groupcore.sim.trace_deletions import GroupDeleted
from groupcore.sim.trace_groups import (
    GroupAsked,
    GroupClosed,
    GroupDelivered,
    GroupJoined,
    GroupLeft,
    GroupProcess,
    GroupReleased,
    GroupSent,
    GroupStamped,
    GroupState,
)
from tests.groupcore.sequencing.obvious import Obvious


def compare(trace: Trace) -> list[str]:
    """What the obvious rules object to in a run, and what they say is missing at its end."""
    return Comparison(trace).run()


class Comparison:
    """Walks through a trace and asks the model about each thing that a process is given."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.index: GroupIndex = trace.once(index_groups)
        self.model = Obvious(self.index.orders, self.index.places)
        self.objections: list[str] = []
        self._positions: dict[Stream, int] = {}
        self._members: dict[Stream, dict[GroupProcess, None]] = {}
        self._closed: set[GroupProcess] = set()
        self._asked: dict[tuple[GroupProcess, GroupId], str] = {}
        self._gone = {(left.group, left.seqno) for left in trace.of(GroupLeft) if left.gone}

    def run(self) -> list[str]:
        """Everything that is objected to."""
        for record in self.trace.records:
            match record:
                case GroupSent():
                    self.model.send(record.mid)
                case GroupStamped(group=group, seqno=seqno, process=process, number=number):
                    if self.index.stands(record):
                        gone = (group, seqno) in self._gone or (
                            process,
                            group,
                        ) in self.model.excused
                        observes = self._asked.get((process, group)) == "observe"
                        self.model.stamp(group, seqno, process, number, gone, observes)
                case GroupDelivered():
                    self._deliver(record)
                case GroupJoined() | GroupLeft() | GroupState():
                    self._change(record)
                case GroupReleased():
                    self._positions.pop((record.n, record.inc, record.group), None)
                case GroupDeleted(n=n, inc=inc, group=group):
                    self._delete((n, inc, group))
                case Lived(n=n, inc=inc, what=what) if what in ENDINGS:
                    self._end_life((n, inc))
                case GroupClosed(process=process):
                    self._closed.add(process)
                    for group in list(self.model.delivered.get(process, {})):
                        self._leave(process, group)
                case GroupAsked(what="leave", process=process, group=group):
                    self.model.excused.add((process, group))
                case GroupAsked(what=what, process=process, group=group):
                    self._asked[process, group] = what
        if self.trace.healed_at is not None:
            self._look_for_what_is_missing()
        return self.objections

    def _end_life(self, node: tuple[str, int]) -> None:
        for process in sorted({stamp.process for stamp in self.index.stamps}):
            if process[:2] == node:
                self.model.forget(process)

    def _object(self, t: int, process: GroupProcess, group: GroupId, seqno: int, why: str) -> None:
        text = f"{t / 1e9:.6f} s: {process} is given number {seqno} of group {group}; {why}"
        self.objections.append(text)

    def _deliver(self, record: GroupDelivered) -> None:
        group, seqno = record.group, record.seqno
        self._positions[record.n, record.inc, group] = seqno
        for process in record.to:
            self._pass_changes(process, group, seqno)
            why = self.model.objection(process, group, seqno)
            if why:
                self._object(record.t, process, group, seqno, why)
            self.model.delivered.setdefault(process, {})
            self.model.deliver(process, group, seqno)

    def _pass_changes(self, process: GroupProcess, group: GroupId, seqno: int) -> None:
        """JOIN and LEAVE of processes of the same node are said at other times, if at all."""
        mine = self.model.delivered.get(process, {})
        while group in mine and mine[group] + 1 < seqno:
            content = self.index.contents.get((group, mine[group] + 1))
            if content is None or content[1] > 0 or content[0][:2] != process[:2]:
                return
            self.model.deliver(process, group, mine[group] + 1)

    def _change(self, record: GroupJoined | GroupLeft | GroupState) -> None:
        node, group = (record.n, record.inc), record.group
        key = (*node, group)
        members = self._members.setdefault(key, {})
        if isinstance(record, GroupState):
            if record.anew:
                self.model.begin_anew(group, record.seqno)
            self._positions[key] = record.seqno
            for process in members:
                self._begin(record.t, process, group, record.seqno)
        elif record.process[:2] != node:
            self._positions[key] = max(record.seqno, self._positions.get(key, 0))
            for process in members:
                self._pass_changes(process, group, record.seqno)
                if self.model.delivered[process].get(group, 0) + 1 == record.seqno:
                    self.model.deliver(process, group, record.seqno)
        elif isinstance(record, GroupJoined):
            members[record.process] = None
            self._begin(record.t, record.process, group, self._positions.get(key, 0))
        else:
            self._leave(record.process, group)

    def _leave(self, process: GroupProcess, group: GroupId) -> None:
        """A process is given nothing more: it has left, or asked to."""
        self._members.get((*process[:2], group), {}).pop(process, None)
        self.model.leave(process, group)

    def _delete(self, stream: Stream) -> None:
        """A node knows that a group is no more: none of its processes is in it."""
        group = stream[2]
        self.model.delete(group)
        self._positions.pop(stream, None)
        self._members.pop(stream, None)
        for process, mine in self.model.delivered.items():
            if process[:2] == stream[:2] and group in mine:
                self.model.leave(process, group)

    def _begin(self, t: int, process: GroupProcess, group: GroupId, seqno: int) -> None:
        why = self.model.objection_to_begin(process, group, seqno)
        if why:
            self._object(t, process, group, seqno, f"as a state; {why}")
        self.model.begin(process, group, seqno)

    def _look_for_what_is_missing(self) -> None:
        living = {(end.n, end.inc) for end in self.trace.ends if end.primary}
        for process in sorted(self.model.delivered):
            if process[:2] not in living or process in self._closed:
                continue
            mine = self.model.delivered[process]
            excused = self.model.excused
            nexts = [(group, n + 1) for group, n in mine.items() if (process, group) not in excused]
            received = [place for place in nexts if self.model.places.get(place) is not None]
            for group, seqno in self.model.deliverable(process, received):
                text = f"{process} could be given number {seqno} of group {group}, and is not"
                self.objections.append(text)
