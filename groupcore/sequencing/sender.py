"""The sending side: sections with contexts, kept until they are accepted.

Idea. What the processes of this node send to one sequencer in one turn leaves in one section, as
far as the order of each process allows. The context is computed then, from what has been given up
to now. A process never waits for an ACCEPT.

The runs of a process are its chain (`chains`): each names the one before it, as long as this node
does not know where that stands (and ties its group to that one's, `ties`). So the sections of a
turn are of two kinds: those with what comes first of each process, which may be numbered at once,
and those with what a process has sent to another sequencer in between. All leave at once.

Source. Paper, section 4 (message ids), 4.3 (forwarding pointers, the sender told), 5 (rules 1 to 4
and "Increasing concurrency").

Invariants.
  I1  Messages of one process to one group are sent, and sent again, in their order (6).
  I2  What is sent again carries the numbers and the context that it had (reliability.md 20); but
      where the run before it was for a group that is no more, it names the one before that.
  I3  A context names everything that the process had been given and that is not stable.
  I4  A process has so many runs at most of which it is not known where they stand; what would be
      more waits here, in its order.
  I5  What was sent to a group that has been deleted is given up from the place of that in the order
      on. What its process sends behind it names the place, and is given to nobody before it.
"""

from __future__ import annotations

from groupcore.batch import MESSAGE_COST_BYTES
from groupcore.context import Numbers, merge_into
from groupcore.sequencing.events import Accepted, Congestion
from groupcore.sequencing.names import GroupId, MessageId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.resending import Resending, Runs
from groupcore.sequencing.sections import RUNS_MAX, STRETCH_BYTES, Local, Section, Unaccepted
from groupcore.sequencing.stream import Frame
from groupcore.sequencing.ties import TieMeter
from groupcore.view import Address

AHEAD_MAX = 512
"""Runs of a process under way; what would be more waits, the process does not."""
PORTION = 64
"""What waits so goes on when there is room for so many, in few sections."""
ASKED_GROUPS_MAX = 4
"""Groups of a process above which its context is that of its node, which costs less."""
FIRST, LATER = 0, 1
"""Whether a stretch is what comes first of its process in a turn."""
Sections = dict[Address, list[Section]]
"""Sections by the sequencers that they are for."""


class Sender:
    """All processes of this node, as senders.

    `outstanding`: what each has sent and not seen accepted, by process and chain number.
    """

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.locals: dict[Process, Local] = {}
        self.tie_meter = TieMeter()
        self.outstanding: dict[int, Runs] = {}
        self.again = Resending(plane, self.outstanding, self._port)
        self._sending: dict[int, Local] = {}
        self._levels: tuple[Sections, Sections] = ({}, {})
        self._outstanding_bytes = 0
        self._congested = False
        self._hints: dict[GroupId, tuple[Address, int]] = {}

    # --- sending --------------------------------------------------------------------------------

    def send(self, local: Local, group: GroupId, payloads: list[bytes], size_bytes: int) -> int:
        """Send messages of a process when the turn ends; its own number of the last one."""
        first = local.numbers.get(group, 0) + 1
        last = local.numbers[group] = first + len(payloads) - 1
        outbox = local.outbox
        if not outbox:
            self._sending[local.process.number] = local
        if outbox and outbox[-1].group == group:
            outbox[-1].payloads += payloads
            outbox[-1].size_bytes += size_bytes
        else:
            outbox.append(Unaccepted(group, first, list(payloads), size_bytes))
        self._outstanding_bytes += size_bytes + MESSAGE_COST_BYTES * len(payloads)
        return last

    def close(self, process: Process) -> None:
        """The process ends; what it has sent leaves nevertheless."""
        local = self.locals.get(process)
        if local is not None and local.outbox:
            local.closing = True
        else:
            self.locals.pop(process, None)

    def open_local(self, process: Process) -> Local | None:
        """The process, when it may send."""
        local = self.locals.get(process)
        return None if local is None or local.closing else local

    def groups_under_way(self) -> set[GroupId]:
        """The groups in which something is not accepted yet."""
        return {run.group for runs in self.outstanding.values() for run in runs.values()}

    def flush(self, now: float) -> None:
        """The turn ends: what was sent in it leaves, with what other processes send there, too."""
        if not self._sending:
            return
        for number, local in list(self._sending.items()):
            self._send_runs(local, now)
            if not local.outbox:
                del self._sending[number]
                if local.closing:
                    del self.locals[local.process]
        given: Numbers | None = None
        levels, self._levels = self._levels, ({}, {})
        for level in levels:
            for sections in level.values():
                for section in sections:
                    sender = self.locals.get(section.sender) if section.sender else None
                    if sender is not None and len(sender.groups) <= ASKED_GROUPS_MAX:
                        section.numbers.update(self.context_of(sender))
                    else:
                        given = given if given is not None else self._plane.given()
                        section.numbers.update(given)
                    self._plane.sends.append(section.batch(self._plane.me))
        self._tell_congestion()

    def _send_runs(self, local: Local, now: float) -> None:
        """Put the runs into sections, by stretches that go to one sequencer; some may stay (I4)."""
        room = AHEAD_MAX - len(self.outstanding.get(local.process.number, ()))
        if room < min(PORTION, len(local.outbox)):
            return
        limit = self._plane.options.section_bytes - STRETCH_BYTES
        stretch: list[Unaccepted] = []
        owner: Address | None = None
        level = FIRST
        room_bytes = taken = 0
        for run in local.outbox:
            to = self._port(run.group)
            if stretch and to != owner:
                self._send_stretch(local, owner, level, stretch, room_bytes, now)
                stretch, room_bytes, level = [], 0, LATER
            if room <= 0:
                break
            owner = to
            taken += 1
            for part in run.parts(limit):
                takes = part.room_bytes
                if stretch and (room_bytes + takes > limit or len(stretch) == RUNS_MAX):
                    self._send_stretch(local, owner, level, stretch, room_bytes, now)
                    stretch, room_bytes = [], 0
                stretch.append(part)
                room_bytes += takes
                room -= 1
        if stretch:
            self._send_stretch(local, owner, level, stretch, room_bytes, now)
        local.outbox = local.outbox[taken:]

    def _send_stretch(
        self,
        local: Local,
        owner: Address | None,
        level: int,
        runs: list[Unaccepted],
        room_bytes: int,
        now: float,
    ) -> None:
        """Put a stretch into a section, and keep its runs until they are accepted."""
        process = local.process
        under_way = self.outstanding.get(process.number)
        if under_way is None:
            under_way = self.outstanding[process.number] = {}
        after = next(reversed(under_way)) if under_way else 0
        former = under_way[after].group if after else 0
        if owner is None:
            section = Section(self._plane.me)
            section.numbers.update(self.context_of(local))  # it is sent when there is an owner
        else:
            section = self._section(owner, level, len(runs), room_bytes)
            before = local.told.get(owner, 0)
            section.add(process, local.chain + 1, after, before, runs, room_bytes)
            section.place = max(section.place, local.void)
            local.told[owner] = local.chain + len(runs)
        wait_s, numbers = self._plane.options.resend_s, section.numbers
        for chain, run in enumerate(runs, local.chain + 1):
            run.chain, run.after = chain, after
            run.numbers, run.sent_at, run.wait_s = numbers, now, wait_s
            run.place = local.void
            under_way[chain] = run
            if former and former != run.group:
                self.tie_meter.count(former, run.group)
            after, former = chain, run.group
        local.chain = after
        self.again.sent(now)
        if self._plane.trace is not None:
            self._plane.trace.sent(process, runs)

    def _section(self, owner: Address, level: int, runs: int, room_bytes: int) -> Section:
        """Where the runs go: what other processes send there goes with them."""
        sections = self._levels[level].setdefault(owner, [])
        limit = self._plane.options.section_bytes
        if not sections or not sections[-1].has_room(runs, room_bytes, limit):
            sections.append(Section(owner))
        return sections[-1]

    def _port(self, group: GroupId) -> Address | None:
        """Where the group's requests go: what a former sequencer has said, else the directory."""
        entry = self._plane.directory.entries.get(group)
        if entry is None:
            return None
        hint = self._hints.get(group)
        return hint[0] if hint is not None and hint[1] > entry.epoch else entry.owner

    # --- contexts -------------------------------------------------------------------------------

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

    def leave(self, local: Local, group: GroupId, record: Record) -> None:
        """A process is in a group no longer; what it was given there stays in its past."""
        local.groups.pop(group, None)
        if record.hold is not None:
            merge_into(local.past, record.hold.context)
        self._plane.drop_stable(local.past)

    # --- accepted -------------------------------------------------------------------------------

    def on_frame(
        self,
        frame: Frame,
        stretches: list[tuple[int, int, int, int]],
        columns: tuple[tuple[int, ...], ...],
    ) -> None:
        """A frame of processes of this node has been recorded: their messages are accepted.

        But for runs that wait for their group's former ones: they are once they are on record.
        """
        plane = self._plane
        address, frame_number = frame.stream.address, frame.number
        rows = list(zip(*columns, strict=True))
        for number, runs, chain, start in stretches:
            process = Process(plane.me, number)
            key = plane.senders.key(process)
            local = self.locals.get(process)
            if local is not None and frame_number > local.past.get(address, 0):
                local.past[address] = frame_number
            under_way = self.outstanding.get(number, {})
            at = chain
            for group, seqno, first, count in rows[start : start + runs]:
                run, last = under_way.get(at), first + count - 1
                at += 1
                record = plane.records.get(group)
                if run is None or record is None or record.senders.get(key, 0) < last:
                    continue
                self._take(number, under_way, run)
                message = MessageId(process, last)
                if local is not None:
                    plane.events.append(Accepted(group, message, seqno + count - 1))
                if plane.unsaved is not None:
                    plane.await_saved(address, frame_number, group, message)
        self._tell_congestion()

    def on_repeated(self, process: Process, group: GroupId, number: int) -> None:
        """The messages up to this number had been accepted; where, this node's record says.

        Does it not yet, the frame is still to come. A new node has the frame in its record only.
        """
        local, record = self.locals.get(process), self._plane.records.get(group)
        if record is None:
            return
        stream, frame = record.place[:2]
        if stream is None:
            return
        last = record.senders.get(self._plane.senders.key(process), 0)
        if last < number:
            return
        if local is not None:
            merge_into(local.past, {stream: frame})
        under_way = self.outstanding.get(process.number, {})
        runs = [run for run in under_way.values() if run.group == group and run.last <= last]
        for run in runs:
            self._take(process.number, under_way, run)
        if runs:
            message = MessageId(process, last)
            if local is not None:
                self._plane.events.append(Accepted(group, message, 0))
            self._plane.await_saved(stream, frame, group, message)
            self._tell_congestion()

    def _take(self, process: int, under_way: Runs, run: Unaccepted) -> None:
        """The run is under way no longer."""
        del under_way[run.chain]
        if not under_way:
            del self.outstanding[process]
        self._outstanding_bytes -= run.cost_bytes
        if self.again.recovering:
            self.again.accepted(run.group, process)

    # --- where groups are -----------------------------------------------------------------------

    def redirect(self, group: GroupId, owner: Address, epoch: int) -> None:
        """A former sequencer says where the port is; counts until the directory is as far."""
        self._hints[group] = (owner, epoch)

    def forget_redirects(self, groups: tuple[GroupId, ...]) -> None:
        """The directory has got further."""
        for group in groups:
            self._hints.pop(group, None)

    def forget_group(self, group: GroupId) -> None:
        """The group is no more: what was not accepted is given up (I5)."""
        for local in self._sending.values():
            for run in [run for run in local.outbox if run.group == group]:
                self._outstanding_bytes -= run.cost_bytes
            local.outbox = [run for run in local.outbox if run.group != group]
        self.again.forget(group)
        for process, under_way in list(self.outstanding.items()):
            void: dict[int, int] = {}
            for run in [run for run in under_way.values() if run.group == group]:
                self._take(process, under_way, run)
                void[run.chain] = void.get(run.after, run.after)
            if not void:
                continue
            for run in under_way.values():
                run.after = void.get(run.after, run.after)  # I2
                run.place = self._plane.ordered
            sender = self.locals.get(Process(self._plane.me, process))
            if sender is not None:
                sender.void = self._plane.ordered

    def _tell_congestion(self) -> None:
        limit = self._plane.options.outstanding_bytes
        on = self._outstanding_bytes > (limit // 2 if self._congested else limit)
        if on != self._congested:
            self._congested = on
            self._plane.events.append(Congestion(on))
