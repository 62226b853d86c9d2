"""The sending side: sections with contexts, kept until they are accepted.

Idea. What the processes of this node send to one sequencer in one turn leaves in one section, as
far as the order of each process allows. The context is computed then, from what has been given up
to now. A process never waits for an ACCEPT: where an own message has no number yet its id stands
in the context.

Source. Paper, section 4 (message ids), 4.3 (forwarding pointers, the sender told), 5 (rules 1 to 4
and "Increasing concurrency").

Invariants.
  I1  Messages of one process to one group are sent, and sent again, in their order (6).
  I2  What is sent again carries the numbers and the context that it had (reliability.md 20).
  I3  A context names everything that the process had been given and that is not stable.
  I4  A context has few ids: what would add more waits here, in its order.
"""

from __future__ import annotations

from collections import deque

from groupcore.context import Ids, Numbers, merge_into
from groupcore.sequencing.events import Accepted, Congestion
from groupcore.sequencing.names import GroupId, MessageId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.sections import (
    NOTHING,
    RUNS_MAX,
    Local,
    Piece,
    Section,
    Unaccepted,
    cost,
    split,
)
from groupcore.sequencing.stream import Frame
from groupcore.view import Address

PENDING_MAX = 8
"""Groups in which a process may have messages of which nobody has said where they stand, before it
is kept from sending to further ones; the messages wait, not the process."""
RESENT_AT_ONCE = 64
"""Runs of one process and group that are sent again together."""


class Sender:
    """All processes of this node, as senders."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.locals: dict[Process, Local] = {}
        self.outstanding: dict[tuple[GroupId, Process], deque[Unaccepted]] = {}
        self._outbox: dict[Process, list[Piece]] = {}
        self._closing: set[Process] = set()
        self._open: dict[Address, Section] = {}
        self._outstanding_bytes = 0
        self._congested = False
        self._resend_at: float | None = None
        self._recovering: dict[tuple[GroupId, Process], int] = {}
        self._eager: dict[tuple[GroupId, Process], None] = {}
        self._hints: dict[GroupId, tuple[Address, int]] = {}

    # --- sending --------------------------------------------------------------------------------

    def send(self, process: Process, group: GroupId, payloads: list[bytes]) -> int:
        """Send messages of a process when the turn ends; its own number of the last one."""
        local = self.locals[process]
        first = local.numbers.get(group, 0) + 1
        last = local.numbers[group] = first + len(payloads) - 1
        outbox = self._outbox.setdefault(process, [])
        if outbox and outbox[-1][0] == group:
            outbox[-1][2].extend(payloads)
        else:
            outbox.append((group, first, list(payloads)))
        self._outstanding_bytes += cost(payloads)
        return last

    def close(self, process: Process) -> None:
        """The process ends; what it has sent leaves nevertheless."""
        if process in self._outbox:
            self._closing.add(process)
        else:
            self.locals.pop(process, None)

    def is_open(self, process: Process) -> bool:
        """Whether the process may send."""
        return process in self.locals and process not in self._closing

    def flush(self, now: float) -> None:
        """The turn ends: what was sent in it leaves, with what other processes send there, too."""
        if not self._outbox:
            return
        for process in list(self._outbox):
            left = self._send_runs(self.locals[process], self._outbox[process], now)
            if left:
                self._outbox[process] = left
            else:
                del self._outbox[process]
                if process in self._closing:
                    self._closing.discard(process)
                    del self.locals[process]
        open_sections, self._open = self._open, {}
        for section in open_sections.values():
            self._leave(section)
        self._tell_congestion()

    def _send_runs(self, local: Local, runs: list[Piece], now: float) -> list[Piece]:
        """Sections of the runs: one for each stretch that goes to one sequencer; what is left.

        What goes to other groups than those of which much is pending stays here for the time being
        (I4): it would only wait elsewhere, and grow into larger sections here. Only the first
        stretch shares a section with other processes': a later one waits for it, or comes behind.
        """
        limit = self._plane.options.section_bytes
        stretch: list[Piece] = []
        owner: Address | None = None
        size = 0
        shared = True
        for at, run in enumerate(runs):
            to = self._port(run[0])
            if stretch and to != owner:
                self._send_stretch(local, owner, stretch, now, shared)
                stretch, size, shared = [], 0, False
            many = PENDING_MAX if not stretch else RUNS_MAX
            if len(local.pending) + len(stretch) >= many and run[0] not in local.pending:
                if stretch:
                    self._send_stretch(local, owner, stretch, now, shared)
                return runs[at:]
            for part in split(run, limit):
                bytes_more = sum(map(len, part[2]))
                if stretch and (size + bytes_more > limit or len(stretch) == RUNS_MAX):
                    self._send_stretch(local, owner, stretch, now, shared)
                    stretch, size, shared = [], 0, False
                owner = to
                stretch.append(part)
                size += bytes_more
        if stretch:
            self._send_stretch(local, owner, stretch, now, shared)
        return []

    def _send_stretch(
        self, local: Local, owner: Address | None, runs: list[Piece], now: float, shared: bool
    ) -> None:
        ids = self.ids_of(local, runs[0][0] if len(runs) == 1 else None)
        section = self._open.get(owner) if shared and owner is not None else None
        if section is None:
            section = Section(owner or self._plane.me)
        section.add(local.process, runs, ids)
        wait_s = self._plane.options.resend_s
        for index, (group, first, payloads) in enumerate(runs):
            key = (group, local.process)
            queue = self.outstanding.get(key)
            if queue is None:
                queue = self.outstanding[key] = deque()
            before = runs[:index] if index else NOTHING
            queue.append(Unaccepted(first, payloads, section.numbers, ids, before, now, wait_s))
            local.pending[group] = first + len(payloads) - 1
        if self._resend_at is None:
            self._resend_at = now + wait_s
        if owner is None:
            section.numbers.update(self.context_of(local))  # it is sent when there is an owner
            return
        limit = self._plane.options.section_bytes
        if shared and section.size_bytes < limit and not section.full:
            self._open[owner] = section
            return
        if shared:
            self._open.pop(owner, None)
        elif owner in self._open:
            # What the process has sent there before leaves before.
            self._leave(self._open.pop(owner))
        self._leave(section)

    def _leave(self, section: Section) -> None:
        """The section is complete: with its context it goes out."""
        local = None if section.sender is None else self.locals.get(section.sender)
        section.numbers.update(self._plane.given() if local is None else self.context_of(local))
        self._plane.sends.append(section.batch(self._plane.me))

    def _port(self, group: GroupId) -> Address | None:
        """Where the group's requests go: what a former sequencer has said, else the directory."""
        entry = self._plane.directory.entries.get(group)
        if entry is None:
            return None
        hint = self._hints.get(group)
        return hint[0] if hint is not None and hint[1] > entry.epoch else entry.owner

    # --- contexts -------------------------------------------------------------------------------

    def ids_of(self, local: Local, to: GroupId | None) -> Ids:
        """SEQ(id) of the messages of which this process does not know where they stand.

        `to`: where it sends, and where its earlier messages precede in any case (CT1); None when it
        sends to several groups at once, of which each has to be told of the others.
        """
        number = local.process.number
        return {(number, group): n for group, n in local.pending.items() if group != to}

    def context_of(self, local: Local) -> Numbers:
        """C_p: what this process has been given, and sent itself, as far as it constrains anybody.

        Computed from its groups when it sends.
        """
        plane = self._plane
        numbers: Numbers = dict(local.past)
        for group in local.groups:
            record = plane.records.get(group)
            if record is not None and record.hold is not None:
                merge_into(numbers, record.hold.context)
        if numbers:
            plane.drop_stable(numbers)
        return numbers

    def leave(self, local: Local, group: GroupId) -> None:
        """A process is in a group no longer; what it was given there stays in its past."""
        local.groups.pop(group, None)
        record = self._plane.records.get(group)
        if record is not None and record.hold is not None:
            merge_into(local.past, record.hold.context)
        self._plane.drop_stable(local.past)

    # --- accepted -------------------------------------------------------------------------------

    def on_frame(
        self,
        frame: Frame,
        processes: tuple[int, ...],
        groups: tuple[int, ...],
        firsts: tuple[int, ...],
        seqnos: tuple[int, ...],
        counts: tuple[int, ...],
    ) -> None:
        """A frame of a process of this node has been recorded: its messages are accepted.

        But for runs that wait for their group's former ones: they are once they are on record.
        """
        plane = self._plane
        address, number = frame.stream.address, frame.number
        columns = zip(processes, groups, firsts, seqnos, counts, strict=True)
        for own, group, first, seqno, count in columns:
            process = Process(plane.me, own)
            local = self.locals.get(process)
            if local is not None and number > local.past.get(address, 0):
                local.past[address] = number
            record = plane.records.get(group)
            last = first + count - 1
            sender = plane.senders.key(process)
            if record is not None and record.senders.get(sender, 0) >= last:
                self.accepted(process, group, last, seqno + count - 1)

    def on_repeated(self, process: Process, group: GroupId, number: int) -> None:
        """The messages up to this number had been accepted; where, this node's record says.

        Does it not yet, the frame is still to come. A new node has the frame in its record only.
        """
        local, record = self.locals.get(process), self._plane.records.get(group)
        if record is None or record.stream is None:
            return
        last = record.senders.get(self._plane.senders.key(process), 0)
        if last >= number:
            if local is not None:
                merge_into(local.past, {record.stream: record.frame})
            self.accepted(process, group, last, 0)

    def accepted(self, process: Process, group: GroupId, last: int, seqno: int) -> None:
        """The messages of a process, closed or not, to a group are accepted up to `last`."""
        key = (group, process)
        queue = self.outstanding.get(key)
        if queue is None:
            return
        before = len(queue)
        while queue and queue[0].first + len(queue[0].payloads) - 1 <= last:
            self._outstanding_bytes -= cost(queue.popleft().payloads)
        if len(queue) == before:
            return
        if not queue:
            del self.outstanding[key]
            self._recovering.pop(key, None)
        elif key in self._recovering:
            self._eager[key] = None
        local = self.locals.get(process)
        if local is not None:
            if local.pending.get(group, 0) <= last:
                local.pending.pop(group, None)
            self._plane.events.append(Accepted(group, MessageId(process, last), seqno))
        self._tell_congestion()

    # --- sending again --------------------------------------------------------------------------

    def next_wake(self) -> float | None:
        """When something is to be sent again."""
        return self._resend_at

    def wake(self, now: float) -> None:
        """Send again what has not been accepted for long: of each process its oldest run.

        The others are behind it, or are asked for by the sequencer.
        """
        if self._resend_at is None or now < self._resend_at:
            return
        self._resend_at = None
        options = self._plane.options
        oldest: dict[Process, tuple[float, GroupId]] = {}
        for (group, process), queue in self.outstanding.items():
            head = queue[0]
            due = head.sent_at + head.wait_s
            if process not in oldest or due < oldest[process][0]:
                oldest[process] = (due, group)
        soonest: float | None = None
        for process, (due, group) in oldest.items():
            if now >= due:
                head = self.outstanding[group, process][0]
                head.wait_s = min(head.wait_s * 2, options.resend_max_s)
                self._recovering[group, process] = 1
                self._send_again(group, process, now, 1)
                due = now + head.wait_s
            soonest = due if soonest is None else min(soonest, due)
        self._resend_at = soonest

    def go_on(self, now: float) -> None:
        """What was sent again has been accepted: send the next of those that were lost with it.

        Twice as many each time, so that much that was lost at once comes soon, at the pace that
        the way there bears.
        """
        eager, self._eager = self._eager, {}
        for key in eager:
            queue = self.outstanding.get(key)
            if queue and now >= queue[0].sent_at + self._plane.options.resend_s:
                most = self._recovering[key] = min(2 * self._recovering[key], RESENT_AT_ONCE)
                self._send_again(*key, now, most)

    def send_again(self, group: GroupId, now: float) -> None:
        """The group's sequencer is another one: send what it may not have."""
        for key in [key for key in self.outstanding if key[0] == group]:
            self._send_again(*key, now, RESENT_AT_ONCE)

    def on_missing(self, process: Process, group: GroupId, first: int, now: float) -> None:
        """The sequencer lacks messages from `first` on."""
        queue = self.outstanding.get((group, process))
        if not queue or queue[0].first > first:
            return
        # Each run behind the one that is missing is answered so: once is enough for a while.
        if not queue[0].again or now >= queue[0].sent_at + self._plane.options.repair_s:
            self._send_again(group, process, now, RESENT_AT_ONCE)

    def redirect(self, group: GroupId, owner: Address, epoch: int) -> None:
        """A former sequencer says where the port is; counts until the directory is as far."""
        self._hints[group] = (owner, epoch)

    def forget_redirects(self, groups: tuple[GroupId, ...]) -> None:
        """The directory has got further."""
        for group in groups:
            self._hints.pop(group, None)

    def forget_group(self, group: GroupId) -> None:
        """The group is no more: what was not accepted never will be."""
        for process, runs in self._outbox.items():
            for piece in runs:
                self._outstanding_bytes -= cost(piece[2]) if piece[0] == group else 0
            self._outbox[process] = [piece for piece in runs if piece[0] != group]
        for key in [key for key in self.outstanding if key[0] == group]:
            self._recovering.pop(key, None)
            for run in self.outstanding.pop(key):
                self._outstanding_bytes -= cost(run.payloads)
        for local in self.locals.values():
            local.pending.pop(group, None)

    def _send_again(self, group: GroupId, process: Process, now: float, most: int) -> None:
        """The first unaccepted runs of a process to a group, in order, as they were (I1, I2)."""
        owner = self._port(group)
        plane = self._plane
        for sent, run in enumerate(self.outstanding[group, process]):
            if sent == most:
                break
            run.sent_at, run.again = now, True
            if owner is not None:
                plane.sends.append(run.alone(process, group, owner).batch(plane.me))
                plane.counters["resent"] += 1

    # --- the node's own -------------------------------------------------------------------------

    @property
    def outstanding_bytes(self) -> int:
        """What has been sent and not been accepted."""
        return self._outstanding_bytes

    def _tell_congestion(self) -> None:
        limit = self._plane.options.outstanding_bytes
        on = self._outstanding_bytes > (limit // 2 if self._congested else limit)
        if on != self._congested:
            self._congested = on
            self._plane.events.append(Congestion(on))
