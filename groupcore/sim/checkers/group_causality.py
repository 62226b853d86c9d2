"""Invariant 7 across groups: no process is given an effect before its cause."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import compress
from operator import gt

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message, process_name
from groupcore.sim.checkers.group_index import GroupIndex, Stream, index_groups, is_own_change
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    GroupDelivered,
    GroupJoined,
    GroupLeft,
    GroupMid,
    GroupProcess,
    GroupSent,
    GroupState,
)

Clock = list[int]
"""A vector clock: for each sender how many of its messages, to whatever group, are known."""


@dataclass(slots=True)
class _Mind:
    """What a process has been given or could know through it; copied when it is written to.

    `clock` counts of the process itself what it was given of its own. `merged`: for each sender and
    group the cause of its last message that was given to the process.
    """

    clock: Clock
    shared: bool = False
    merged: dict[tuple[int, GroupId], Clock] = field(default_factory=dict)

    def share(self) -> Clock:
        """The clock as it is now, to be kept."""
        self.shared = True
        return self.clock

    def own(self) -> Clock:
        """The clock, to be written to."""
        if self.shared:
            self.clock, self.shared = self.clock[:], False
        return self.clock

    def learn(self, other: Clock) -> None:
        """Merge another clock."""
        self.clock, self.shared = list(map(max, self.clock, other)), False


@dataclass(slots=True)
class _Cause:
    """What a process knew when it sent a message, and which of its messages that was.

    `before` is the cause of its message before that one to the same group; `news` what is in
    `clock` beyond that.
    """

    sender: int
    lseq: int
    clock: Clock
    before: Clock | None
    news: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.before is not None and self.before is not self.clock:
            grown = map(gt, self.clock, self.before)
            self.news = [(i, self.clock[i]) for i in compress(range(len(self.clock)), grown)]


class GroupCausalOrder(Checker):
    """7: if a process sent m2 after it had sent or been given m1, nobody is given m1 behind m2.

    For each process by itself, whatever groups m1 and m2 went to, if it is given both. The vector
    clocks are rebuilt from the trace. A process that starts from a group's state knows what the
    state holds, as if it had been given it; that is nothing if the group begins anew. Groups in
    `fifo` order promise nothing of this, and nothing is learnt through them. What a sender sent to
    one group is a matter of invariant 6.
    """

    number, name = 7, "group-causal-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass in the order of events, with one clock a process and one a message."""
        run = _Run(trace.once(index_groups))
        for record in trace.records:
            if type(record) is GroupDelivered:
                run.move_on(record)
                if record.to and run.index.causal(record.group):
                    for mid, process in run.deliver(record):
                        text = (
                            f"{process_name(process)} is given {group_message(mid)} behind a "
                            f"message whose sender knew of {group_message(mid)}"
                        )
                        found.append(self.breach(record.t, (record.n,), text, mid))
            elif type(record) is GroupSent:
                if run.index.causal(record.group):
                    run.send(record)
            elif isinstance(record, GroupJoined | GroupLeft | GroupState):
                run.move_on(record)
                if isinstance(record, GroupState) and record.anew:
                    run.forget(record)
                if run.index.causal(record.group):
                    run.change(record)


class _Run:
    def __init__(self, index: GroupIndex) -> None:
        self.index = index
        senders = dict.fromkeys(sent.process for sent in index.sent.values())
        self._number = {process: i for i, process in enumerate(senders)}
        self._minds: dict[GroupProcess, _Mind] = {}
        self._sent = [0] * len(senders)
        self._causes: dict[GroupMid, _Cause] = {}
        self._before: dict[tuple[GroupProcess, GroupId], Clock] = {}
        self._positions: dict[Stream, int] = {}
        self._members: dict[Stream, dict[GroupProcess, int]] = {}
        self._pasts: dict[GroupId, list[tuple[int, Clock]]] = {}

    def mind(self, process: GroupProcess) -> _Mind:
        """What this process knows."""
        mind = self._minds.get(process)
        if mind is None:
            mind = self._minds[process] = _Mind([0] * len(self._sent))
        return mind

    def send(self, sent: GroupSent) -> None:
        """A process sends: what it knows is the cause."""
        sender = self._number[sent.process]
        self._sent[sender] += 1
        clock = self.mind(sent.process).share()
        key = (sent.process, sent.group)
        self._causes[sent.mid] = _Cause(sender, self._sent[sender], clock, self._before.get(key))
        self._before[key] = clock

    def deliver(self, record: GroupDelivered) -> list[tuple[GroupMid, GroupProcess]]:
        """Processes are given a message; which of them should have been given it before."""
        mid, group = record.mid, record.group
        cause = self._causes.get(mid)
        if cause is None:
            return []  # invariant 1
        late = []
        sender, lseq, seqno = cause.sender, cause.lseq, record.seqno
        members = self._members.setdefault((record.n, record.inc, group), {})
        key = (sender, group)
        for process in record.to:
            mind = self.mind(process)
            before = members.get(process, 0)
            if seqno > before:
                members[process] = seqno
                if mind.clock[sender] >= lseq:
                    late.append((mid, process))
            known = mind.merged.get(key)
            if known is None or known is not cause.before:
                mind.learn(cause.clock)
            clock = mind.own()
            for i, n in cause.news:
                if n > clock[i]:
                    clock[i] = n
            if lseq > clock[sender]:
                clock[sender] = lseq
            mind.merged[key] = cause.clock
        return late

    def move_on(self, record: GroupDelivered | GroupJoined | GroupLeft | GroupState) -> None:
        """A node says the next thing of a group."""
        if is_own_change(record):
            return
        key = (record.n, record.inc, record.group)
        self._positions[key] = max(record.seqno, self._positions.get(key, 0))

    def change(self, record: GroupJoined | GroupLeft | GroupState) -> None:
        """Who is a member here; members know what the state that they begin with holds."""
        key = (record.n, record.inc, record.group)
        members = self._members.setdefault(key, {})
        if isinstance(record, GroupLeft):
            members.pop(record.process, None)
        elif isinstance(record, GroupState):
            for process in members:
                self._begin(process, record.group, record.seqno)
        elif record.process[:2] == key[:2]:
            position = members[record.process] = self._positions.get(key, 0)
            self._begin(record.process, record.group, position)

    def forget(self, record: GroupState) -> None:
        """The group begins anew: states of it hold nothing of what is before that from now on."""
        self._pasts[record.group] = [(record.seqno, [0] * len(self._sent))]

    def _begin(self, process: GroupProcess, group: GroupId, seqno: int) -> None:
        past = self._past(group, seqno)
        if past is not None:
            self.mind(process).learn(past)

    def _past(self, group: GroupId, seqno: int) -> Clock | None:
        """What the state of this number holds and depends on; None where it is nothing."""
        pasts = self._pasts.setdefault(group, [(0, [0] * len(self._sent))])
        at = bisect_right(pasts, seqno, key=lambda past: past[0])
        if at == 0:
            return None
        start, clock = pasts[at - 1]
        if start == seqno:
            return clock if seqno else None
        clock = clock[:]
        latest: dict[GroupProcess, _Cause] = {}
        for place in range(start + 1, seqno + 1):
            content = self.index.contents.get((group, place))
            if content is None or content[1] <= 0:
                continue
            cause = self._causes.get(GroupMid(content[0], group, content[1]))
            if cause is not None:
                latest[content[0]] = cause  # its earlier messages' causes are in this one's
        for cause in latest.values():
            clock = list(map(max, clock, cause.clock))
            clock[cause.sender] = max(cause.lseq, clock[cause.sender])
        pasts.insert(at, (seqno, clock))
        return clock
