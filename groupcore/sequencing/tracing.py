"""What a node writes down of its work: the service tells, rows gather, its driver takes them away.

Idea. The audit must not rest on what it audits. So a sequencer's rows are written where its frames
are made, a node's where its host is told, with numbers of their own (`dno`) that no protocol uses.
Nothing here opens a file: what becomes of the rows is the driver's matter (`take`).

Source. Kindberg's rules as docs/sequencing.md has them; `groupcore.trace` says what is in a row.

Invariants.
  I1  Rows of one kind are in the order in which things happened at this node.
  I2  Every frame that is sent has a row, and every run in it.
  I3  Delivery numbers are 1, 2, ... for all that the host is told of groups, kept or not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from zlib import crc32

from groupcore.context import Numbers
from groupcore.sequencing.events import (
    Delivered,
    Departed,
    Enrolled,
    Joined,
    Released,
    ServiceEvent,
    StateInstalled,
)
from groupcore.sequencing.headers import Accept, Change, unpack_column
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.record import GONE, JOINED, LEFT, Run
from groupcore.sequencing.sections import Unaccepted
from groupcore.sequencing.trace_rows import NULL, Ints, reaches
from groupcore.sequencing.trace_steps import Steps
from groupcore.trace import CONTENT, FRAME_STAMPS
from groupcore.view import Address

OPS = {JOINED: "join", LEFT: "leave", GONE: "gone"}
"""How the trace names changes of membership."""
UNKNOWN = (None, NULL)
"""The stamp of what an archive gives."""
KNOWN_MAX = 65_536
"""Of so many processes it is kept what a row says of them."""
UNDER_WAY_MAX = 8_192
"""Of so many runs that have left it is kept when that was."""
Known = tuple[Process, str, bool]
"""A process, its name, and whether it is this node's."""
_IS_PACKED = sys.byteorder == "little"


class Recorder(Steps):
    """The rows of one life of a node."""

    # --- at the sender --------------------------------------------------------------------------

    def sent(self, process: Process, runs: Iterable[Unaccepted]) -> None:
        """Runs of a process of this node leave; the way back is timed where they are delivered."""
        under_way = self._under_way
        for run in runs:
            under_way[process, run.group, run.first] = self._t
        while len(under_way) > UNDER_WAY_MAX:  # of groups that this node does not deliver
            del under_way[next(iter(under_way))]

    # --- at the sequencer -----------------------------------------------------------------------

    def stamped(
        self,
        accept: Accept,
        context: Numbers,
        stretches: Iterable[Sequence[int]],
        payloads: list[bytes],
        size_bytes: int,
        since: float,
    ) -> None:
        """A frame of runs is complete; the oldest request in it has come at `since`."""
        number, runs = accept.frame, len(accept.groups) // 8
        groups = unpack_column(accept.groups, runs)
        rows, stamp = self._accepts, number * FRAME_STAMPS
        rows.t.extend([self._t] * runs)
        rows.lseq.extend(range(stamp, stamp + runs))
        _extend(rows.gid, accept.groups)
        entries = self._entries
        rows.epoch.extend([entries[one].epoch if one in entries else NULL for one in groups])
        _extend(rows.seq, accept.seqnos)
        _extend(rows.count, accept.counts)
        _extend(rows.first, accept.firsts)
        for process, count, _, by in stretches:
            rows.sender += [self._name(Process(accept.origins[by], process))] * count
        if runs == len(payloads):
            rows.bytes.extend(map(len, payloads))
            rows.crc.extend(map(crc32, payloads))
        else:
            end = 0
            for count in unpack_column(accept.counts, runs):
                start, end = end, end + count
                run = payloads[start:end]
                rows.bytes.append(sum(map(len, run)))
                rows.crc.append(crc32(b"".join(run)))
        waited = max(0, self._now_us - int(since * 1e6))
        load = self._load
        load.frames += 1
        load.runs += runs
        load.messages += len(payloads)
        load.size_bytes += size_bytes
        load.queue_us = max(load.queue_us, waited)
        self._frame(accept, runs, len(payloads), size_bytes, waited, context)

    def _frame(
        self,
        header: Accept | Change,
        runs: int,
        messages: int,
        size_bytes: int,
        waited_us: int,
        context: Numbers,
    ) -> None:
        rows = self._frames
        rows.t.append(self._t)
        rows.frame.append(header.frame)
        rows.view.append(header.view)
        rows.runs.append(runs)
        rows.messages.append(messages)
        rows.bytes.append(size_bytes)
        rows.queue_us.append(waited_us)
        rows.context.append(reaches(context) if context else ())

    def enrolled(self, change: Change) -> None:
        """A change of membership has its number, in a frame of its own."""
        self._load.frames += 1
        self._frame(change, 0, 0, 0, 0, {})
        self.add(
            "membership",
            op=OPS[change.what],
            gid=change.group,
            process=self._name(Process(change.node, change.process)),
            observes=change.what == JOINED and self._observes(change),
            seq=change.seqno,
            epoch=self._epoch(change.group),
            lseq=change.frame * FRAME_STAMPS,
        )

    def _observes(self, change: Change) -> bool:
        """Whether who joins does so as an observer."""
        state = self._plane.directory.state
        return state.observers.is_in(Process(change.node, change.process), change.group)

    # --- at the host ----------------------------------------------------------------------------

    def delivered(
        self,
        group: GroupId,
        seqno: int,
        process: Process,
        first: int,
        payloads: list[bytes],
        stream: Address,
        frame: int,
        index: int,
    ) -> None:
        """The host is told of a run, which stands at this place of a frame."""
        self.dno += 1
        if group % self.every:
            return
        rows, known = self._deliveries, self._known.get(id(process))
        if known is None or known[0] is not process:
            known = self._know(process)
        rows.numbers += (
            self._t,
            self.dno,
            group,
            seqno,
            len(payloads),
            CONTENT,
            first,
            frame * FRAME_STAMPS + index,
            crc32(payloads[0] if len(payloads) == 1 else b"".join(payloads)),
            self._way_back(process, group, first) if known[2] else NULL,
        )
        rows.texts += (known[1], self._lives.get(stream) or self._life(stream))

    def _know(self, process: Process) -> Known:
        """Keep in mind what is said of a process: its own hash takes longer than all the rest."""
        if len(self._known) >= KNOWN_MAX:
            self._known.clear()
        known = (process, self._name(process), process.node == self._me)
        self._known[id(process)] = known
        return known

    def _way_back(self, process: Process, group: GroupId, first: int) -> int:
        """How long ago a process of this node has sent the run that is delivered."""
        sent = self._under_way.pop((process, group, first), None)
        return NULL if sent is None else max(0, self._t - sent)

    def run(self, run: Run, payloads: list[bytes]) -> None:
        """The host is told of a run that has waited, or of a change of membership."""
        group, frame = run.record.group, run.frame
        if run.count:
            sent = (run.process, run.first, payloads)
            self.delivered(group, run.seqno, *sent, frame.stream.address, frame.number, run.index)
            return
        stamp = (self._life(frame.stream.address), frame.number * FRAME_STAMPS)
        self._slowly(group, run.seqno, 1, run.first, run.process, stamp)

    def told(self, event: ServiceEvent) -> None:
        """The host is told of something else that concerns who is given what."""
        match event:
            case Joined(group, seqno, process):
                self._hosts("in", group, seqno, process)
            case StateInstalled(group, seqno, _):
                self._hosts("state", group, seqno, None)
            case Released(group):
                self._hosts("released", group, 0, None)

    def told_archived(self, event: ServiceEvent) -> None:
        """The same, of what the node has kept of a group that nobody here was in."""
        match event:
            case Delivered(group=group, seqno=seqno, process=process, first=first, payloads=some):
                said = (first, crc32(b"".join(some)))
                self._slowly(group, seqno, len(some), CONTENT, process, UNKNOWN, said)
            case Joined(group, seqno, process) | Enrolled(group, seqno, process):
                self._slowly(group, seqno, 1, JOINED, process, UNKNOWN)
            case Departed(group, seqno, process, gone):
                self._slowly(group, seqno, 1, GONE if gone else LEFT, process, UNKNOWN)
            case _:
                self.told(event)

    def left(self, group: GroupId, process: Process) -> None:
        """A process of this node is given nothing more of the group."""
        self._hosts("out", group, 0, process)

    def refused(
        self, group: GroupId, seqno: int, principal: str, operation: str, code: str
    ) -> None:
        """The replica here has refused a message."""
        said = {"principal": principal, "operation": operation, "code": code}
        self.add("verdict", gid=group, seq=seqno, **said)

    def _hosts(self, op: str, group: GroupId, seqno: int, process: Process | None) -> None:
        name = None if process is None else self._name(process)
        self.add("membership", op=op, gid=group, process=name, seq=seqno, dno=self.dno)

    def _slowly(
        self,
        group: GroupId,
        seqno: int,
        count: int,
        what: int,
        process: Process,
        stamp: tuple[str | None, int],
        content: tuple[int, int] = (NULL, NULL),
    ) -> None:
        """A row of `delivery` that is not of the usual kind."""
        self.dno += 1
        if group % self.every:
            return
        rows = self._deliveries
        place = (self._t, self.dno, group, seqno, count, what)
        rows.numbers += (*place, content[0], stamp[1], content[1], NULL)
        rows.texts += (self._name(process), stamp[0])


def _extend(column: Ints, packed: bytes) -> None:
    """Put a header's column behind what is there: the same 64 bits, if the machine's order is."""
    if _IS_PACKED:
        column.frombytes(packed)
    else:
        column.extend(unpack_column(packed, len(packed) // 8))
