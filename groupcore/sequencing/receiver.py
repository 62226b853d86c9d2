"""The receiving side: frames into records (CT1), runs to the host (CT2).

Idea. Two stages, see `docs/sequencing.md`. In the first every run of a frame that is held is put
behind what its group has. In the second, in groups that this node delivers, a run goes to the host
as soon as what its context names has been delivered here; behind one that waits, the group waits.

Source. Paper, sections 4.1 and 5: T1, T2, CT1, CT2; design, 4.6.

Invariants.
  I1  CT1: the runs of a group are recorded, and delivered, by number and without a gap.
  I2  CT2: before a run everything is delivered that its context names, of the groups that share a
      process of this node with its own; nothing else is waited for.
  I3  T2: a run of a strict group also waits for the earlier runs of its stream that belong to
      strict groups which share a process of this node with its own.
  I4  A frame is recorded when this node has applied the control plane's order up to its place.
  I5  What waits for a state is counted as delivered: it is applied before a process is told that
      it has joined, and a long transfer holds nobody up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from groupcore.batch import Batch
from groupcore.context import Numbers, encode_context, merge_into
from groupcore.errors import WireError
from groupcore.sequencing.chains import Standing
from groupcore.sequencing.events import Delivered, Departed, Enrolled, Joined
from groupcore.sequencing.headers import Accept, Change, chain_of
from groupcore.sequencing.names import Order, Process
from groupcore.sequencing.plane import Plane, shares
from groupcore.sequencing.receiving import open_frame
from groupcore.sequencing.record import GONE, JOINED, Hold, Place, Record, Run
from groupcore.sequencing.resting import Resting
from groupcore.sequencing.stream import Columns, Frame, Stream
from groupcore.view import Address

STRICT = Order.STRICT

OnAccepted = Callable[[Frame, list[tuple[int, int, int, int]], Columns], None]
"""Called with a frame, this node's stretches in it (process, runs, chain number, the place of their
first run in the columns), and its columns."""


class Receiver:
    """`accepted` is called with a frame of a process of this node, when it has its places.

    `changed` is called when a membership change has been recorded, `left` when the host has been
    told of all that have left, of the processes of this node.
    """

    def __init__(
        self,
        plane: Plane,
        accepted: OnAccepted,
        changed: Callable[[Record, Process, int, int], None],
        left: Callable[[Record], None],
    ) -> None:
        self._plane = plane
        self._accepted = accepted
        self._changed = changed
        self._left = left
        self._blocked: dict[int, Record] = {}
        self._resting = Resting(plane)

    # --- first stage ----------------------------------------------------------------------------

    def record(self, stream: Stream) -> bool:
        """Record the frames of a stream that are held; whether there were any."""
        plane = self._plane
        if not plane.ready or stream.recorded >= stream.received:
            return False
        held, before = plane.reaches.held(stream.address), stream.recorded
        while (batch := stream.next_to_record(held)) is not None:
            header = batch.headers[-1]
            known = True
            if type(header) is Accept:
                known = header.place <= plane.ordered and self._resting.is_next(stream, header)
                known = known and self._record_runs(stream, batch, header)
            elif type(header) is Change:
                known = self._record_change(stream, batch, header)
            if not known:
                stream.recorded -= 1  # its CREATE-GROUP has not come yet, or what it rests on
                break
            if not stream.undelivered:
                stream.delivered = stream.recorded  # what comes next may rest on it
        if stream.recorded == before:
            return False
        stream.advance()
        plane.watch.recorded(stream.address, stream.recorded)
        plane.progress += 1
        return True

    def _record_runs(self, stream: Stream, batch: Batch, header: Accept) -> bool:
        """The runs of a frame; False when this node has still to hear of one of its groups."""
        plane = self._plane
        try:
            stretches, columns, context = open_frame(stream, header, batch.count)
        except WireError as error:
            plane.counters[f"bad_frame.{error.reason}"] += 1
            return True
        groups = columns[0]
        if max(groups, default=0) > plane.directory.newest_group:
            return False
        hosts = plane.senders.processes
        opened: list[bytes] | None = None
        number, address = stream.recorded, stream.address
        frame = Frame(stream, number, batch, context)
        owners = self._note_chains(header.origins, stretches, (address, number, context))
        free = not context or self._context_is_free(context)
        # A group's own stream is where it stands: that of the context says no more to it.
        others = {one: at for one, at in context.items() if one != address}
        place = Place(address, number, len(context), len(header.context))
        records, events, archive, trace = plane.records, plane.events, plane.archive, plane.trace
        end = 0
        runs = zip(range(len(groups)), owners, *columns, strict=True)
        for index, sender, group, seqno, first, size in runs:
            offset, end = end, end + size
            record = records.get(group)
            if record is None or seqno <= record.seqno:
                if record is None and plane.log is not None:
                    plane.log.doom()  # what was sent to a deleted group is in the log now
                continue
            if seqno > record.seqno + 1:
                run = Run(frame, index, record, seqno, first, size, offset, hosts[sender])
                run.chain = chain_of(stretches, index)
                self._wait_for_turn(run)
                continue
            record.seqno = seqno + size - 1
            record.senders[sender] = first + size - 1
            record.place = place
            if archive is not None:
                archive.add(group, seqno, hosts[sender], first, size, frame, offset)
            hold = record.hold
            if hold is not None:
                if (
                    free
                    and hold.seqno == seqno - 1
                    and not hold.waiting_for_state
                    and (record.order is not STRICT or not stream.undelivered)
                    and not frame.waiting
                ):
                    hold.seqno = record.seqno
                    hold.context[address] = number
                    if others:
                        merge_into(hold.context, others)
                    opened = opened or frame.messages(0, batch.count)
                    mine = opened[offset:end]
                    events.append(Delivered(group, seqno, hosts[sender], first, mine))
                    if trace is not None:
                        sent = (hosts[sender], first, mine)
                        trace.delivered(group, seqno, *sent, address, number, index)
                elif record.seqno > hold.seqno:
                    run = Run(frame, index, record, seqno, first, size, offset, hosts[sender])
                    self._queue(run, hold)
            if record.waiting:
                self._record_waiting(record)
        if plane.me in header.origins:
            self._tell_accepted(frame, header.origins.index(plane.me), stretches, columns)
        return True

    def _tell_accepted(
        self, frame: Frame, mine: int, stretches: list[tuple[int, ...]], columns: Columns
    ) -> None:
        """Of the runs of this node's processes: they have their places."""
        own, at = [], 0
        for process, runs, chain, by in stretches:
            if by == mine:
                own.append((process, runs, chain, at))
            at += runs
        self._accepted(frame, own, columns)

    def _note_chains(
        self, origins: tuple[Address, ...], stretches: list[tuple[int, ...]], standing: Standing
    ) -> list[int]:
        """Whose the runs of a frame are, by their keys: their chains have got so far."""
        key_of = self._plane.senders.key_of
        owners: list[int] = []
        for process, runs, chain, by in stretches:
            key = key_of(origins[by], process)
            self._plane.chains.note_held(key, chain + runs - 1, standing)
            owners += [key] * runs
        return owners

    def _record_change(self, stream: Stream, batch: Batch, header: Change) -> bool:
        plane = self._plane
        process = plane.senders.same(Process(header.node, header.process))
        record = plane.records.get(header.group)
        if record is None:
            return header.group <= plane.directory.newest_group
        frame = Frame(stream, stream.recorded, batch, {})
        run = Run(frame, 0, record, header.seqno, header.what, 0, 0, process)
        if header.seqno == record.seqno + 1:
            self._put_on_record(run)
            if record.waiting:
                self._record_waiting(record)
        elif header.seqno > record.seqno:
            self._wait_for_turn(run)
        return True

    def _wait_for_turn(self, run: Run) -> None:
        """Its group's former messages come in another stream (a migration): wait for them."""
        record, frame = run.record, run.frame
        if record.waiting is None:
            record.waiting = {}
        if run.seqno not in record.waiting:
            record.waiting[run.seqno] = run
            self._plane.early += 1
            frame.waiting.append(run)
            frame.stream.undelivered[frame.number] = frame

    def _record_waiting(self, record: Record) -> None:
        waiting = record.waiting
        while waiting and (run := waiting.pop(record.seqno + 1, None)) is not None:
            self._plane.early -= 1
            self._put_on_record(run)
            self._done(run)  # not before: where it waits again its frame was not delivered between
            if run.count and run.process.node == self._plane.me:
                columns = (record.group,), (run.seqno,), (run.first,), (run.count,)
                self._accepted(run.frame, [(run.process.number, 1, run.chain, 0)], columns)

    def _put_on_record(self, run: Run) -> None:
        """The slow way in: a run whose turn has come, or a membership change."""
        record, frame = run.record, run.frame
        record.seqno = run.last
        context = frame.context
        context_bytes = len(encode_context(context))
        record.place = Place(frame.stream.address, frame.number, len(context), context_bytes)
        if run.count:
            record.senders[self._plane.senders.key(run.process)] = run.first + run.count - 1
        elif run.first == JOINED:
            record.members[run.process] = run.seqno
        else:
            record.members.pop(run.process, None)
        if not run.count:
            change = frame.batch.headers[-1]
            if type(change) is Change and change.request:
                if record.requests is None:
                    record.requests = {}
                record.requests[self._plane.senders.key(run.process)] = change.request
            self._changed(record, run.process, run.first, run.seqno)
        archive, hold = self._plane.archive, record.hold
        if archive is not None:
            place = (run.process, run.first, run.count, frame, run.offset)
            archive.add(record.group, run.seqno, *place)
        if hold is not None and run.seqno > hold.seqno:
            self._queue(run, hold)
        elif hold is not None and self._is_own_leave(run):
            self._tell_left(run)  # the state that was taken is of a later number
        if self._is_own_leave(run):
            self._let_go(record)

    def _let_go(self, record: Record) -> None:
        """A process of this node has left: the host may not need the group any more.

        It does while there is a LEAVE that it has still to be told.
        """
        hold = record.hold
        if hold is not None and not any(map(self._is_own_leave, hold.queue or ())):
            self._left(record)

    def _is_own_leave(self, run: Run) -> bool:
        return not run.count and run.first != JOINED and run.process.node == self._plane.me

    # --- second stage ---------------------------------------------------------------------------

    def _queue(self, run: Run, hold: Hold) -> None:
        """Put a run behind what the group waits for; deliver it at once when that is nothing."""
        if not hold.queue and not hold.waiting_for_state and self._is_free(run, hold):
            self._deliver(run, hold)
            return
        if hold.queue is None:
            hold.queue = deque()
        hold.queue.append(run)
        if hold.waiting_for_state:
            return  # I5
        frame = run.frame
        frame.waiting.append(run)
        frame.stream.undelivered[frame.number] = frame
        self._blocked[run.record.group] = run.record

    def release(self) -> None:
        """Record what rested on what has been recorded meanwhile, and deliver what waited.

        Of what waits to be delivered only heads are looked at.
        """
        while sum(self.record(stream) for stream in self._resting.take()):
            pass
        progress = -1
        while self._blocked and progress != self._plane.progress:
            progress = self._plane.progress
            for group, record in list(self._blocked.items()):
                hold = record.hold
                if hold is None:
                    del self._blocked[group]
                    continue
                left = False
                while hold.queue and self._is_free(hold.queue[0], hold):
                    run = hold.queue.popleft()
                    self._done(run)
                    self._deliver(run, hold)
                    left = left or self._is_own_leave(run)
                    self._plane.progress += 1
                if not hold.queue:
                    hold.queue = None
                    self._blocked.pop(group, None)
                if left:
                    self._let_go(record)

    def apply_queue(self, record: Record) -> None:
        """The state is here: what gathered behind it is delivered, as far as it is newer."""
        hold = record.hold
        assert hold is not None
        hold.waiting_for_state = False
        queue, hold.queue = hold.queue, None
        for run in queue or ():
            if run.last > hold.seqno:
                self._queue(run, hold)
            elif self._is_own_leave(run):
                self._tell_left(run)
        if any(map(self._is_own_leave, queue or ())):
            self._let_go(record)
        self._plane.progress += 1

    def drop(self, record: Record) -> None:
        """This node delivers the group no longer."""
        hold, record.hold = record.hold, None
        if hold is not None:
            for run in hold.queue or ():
                self._done(run)
            hold.queue = None
        self._blocked.pop(record.group, None)
        self._plane.progress += 1

    def forget(self, record: Record) -> None:
        """The group is no more: nothing of it waits any more, so nothing waits for that."""
        self.drop(record)
        waiting, record.waiting = record.waiting or {}, None
        self._plane.early -= len(waiting)
        for run in waiting.values():
            self._done(run)

    def _done(self, run: Run) -> None:
        frame = run.frame
        if run in frame.waiting:
            frame.waiting.remove(run)
            if not frame.waiting:
                frame.stream.undelivered.pop(frame.number, None)
                frame.stream.advance()

    def _deliver(self, run: Run, hold: Hold) -> None:
        frame, record = run.frame, run.record
        events = self._plane.events
        hold.seqno = run.last
        merge_into(hold.context, {frame.stream.address: frame.number})
        merge_into(hold.context, frame.context)
        payloads = frame.messages(run.offset, run.count) if run.count else []
        if self._plane.trace is not None:
            self._plane.trace.run(run, payloads)
        if run.count:
            events.append(Delivered(record.group, run.seqno, run.process, run.first, payloads))
        elif run.first == JOINED:
            said = Enrolled if run.process.node == self._plane.me else Joined
            events.append(said(record.group, run.seqno, run.process))
        else:
            self._plane.take_out(record.group, hold, run.process)
            self._tell_left(run)

    def _tell_left(self, run: Run) -> None:
        """Tell the host that a process has left."""
        gone = run.first == GONE
        self._plane.events.append(Departed(run.record.group, run.seqno, run.process, gone))

    def _context_is_free(self, context: Numbers) -> bool:
        """Whether everything that the context names has been delivered here, whatever group."""
        streams = self._plane.streams
        for address, number in context.items():
            stream = streams.get(address)
            if stream is None:
                if address not in self._plane.gone:
                    return False
            elif stream.delivered < number:
                return False
        return True

    def _is_free(self, run: Run, hold: Hold) -> bool:
        """CT2 and T2 for one run."""
        frame, record = run.frame, run.record

        def concerns(other: Record) -> bool:
            return other is not record and shares(hold, other.hold)

        def concerns_strictly(other: Record) -> bool:
            return other.order is STRICT and concerns(other)

        if any(concerns(one.record) for one in frame.waiting if one.index < run.index):
            return False
        if record.order is STRICT and not frame.stream.settled(frame.number - 1, concerns_strictly):
            return False
        if record.order is Order.FIFO:
            return True
        return self._plane.settled(frame.context, concerns)
