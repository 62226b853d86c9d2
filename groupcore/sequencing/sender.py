"""The sending side: sections with contexts, kept until they are accepted.

Idea. What the processes of this node send to one sequencer in one turn leaves in one section, as
far as the order of each process allows. The context is computed then, from what has been given up
to now. A process never waits for an ACCEPT.

The runs of a process are its chain (`chains`): each names the one before it, as long as this node
does not know where that stands (and ties its group to that one's, `ties`). So the sections of a
turn stand in levels: what a process sends to another sequencer than what was before it is one level
further down. All leave at once.

Source. Paper, section 4 (message ids), 4.3 (forwarding pointers, the sender told), 5 (rules 1 to 4
and "Increasing concurrency").

Invariants.
  I1  Messages of one process to one group are sent, and sent again, in their order (6).
  I2  What is sent again carries the numbers and the context that it had (reliability.md 20); but
      where the run before it was for a group that is no more, it names the one before that.
  I3  A context names everything that the process had been given and that is not stable.
  I4  A process has so many runs at most of which it is not known where they stand; what would be
      more waits here, in its order.
"""

from __future__ import annotations

from collections import deque

from groupcore.context import Numbers, merge_into
from groupcore.sequencing.asked import Piece
from groupcore.sequencing.events import Accepted, Congestion
from groupcore.sequencing.names import GroupId, MessageId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.sections import RUNS_MAX, Local, Section, Unaccepted, cost, split
from groupcore.sequencing.stream import Frame
from groupcore.sequencing.ties import TieMeter
from groupcore.view import Address

AHEAD_MAX = 512
"""Runs of a process under way; what would be more waits, the process does not."""
ASKED_GROUPS_MAX = 4
"""Groups of a process above which its context is that of its node, which costs less."""
RESENT_AT_ONCE = 64
"""Runs of one process and group that are sent again together."""


class Sender:
    """All processes of this node, as senders."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.locals: dict[Process, Local] = {}
        self.tie_meter = TieMeter()
        self.outstanding: dict[tuple[GroupId, Process], deque[Unaccepted]] = {}
        self._outbox: dict[Process, list[Piece]] = {}
        self._closing: set[Process] = set()
        self._chains: dict[Process, dict[int, Unaccepted]] = {}
        self._levels: list[dict[Address, list[Section]]] = []
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
        given: Numbers | None = None
        levels, self._levels = self._levels, []
        for level in levels:
            for sections in level.values():
                for section in sections:
                    local = self.locals.get(section.sender) if section.sender else None
                    if local is not None and len(local.groups) <= ASKED_GROUPS_MAX:
                        section.numbers.update(self.context_of(local))
                    else:
                        given = given if given is not None else self._plane.given()
                        section.numbers.update(given)
                    self._plane.sends.append(section.batch(self._plane.me))
        self._tell_congestion()

    def _send_runs(self, local: Local, runs: list[Piece], now: float) -> list[Piece]:
        """Put the runs into sections, by stretches that go to one sequencer; what is left (I4)."""
        limit = self._plane.options.section_bytes
        stretch: list[Piece] = []
        owner: Address | None = None
        level = size = 0
        room = AHEAD_MAX - len(self._chains.get(local.process, ()))
        for at, run in enumerate(runs):
            to = self._port(run[0])
            if stretch and to != owner:
                self._send_stretch(local, owner, level, stretch, now)
                stretch, size, level = [], 0, level + 1
            if room <= 0:
                if stretch:
                    self._send_stretch(local, owner, level, stretch, now)
                return runs[at:]
            owner = to
            for part in split(run, limit):
                bytes_more = sum(map(len, part[2]))
                if stretch and (size + bytes_more > limit or len(stretch) == RUNS_MAX):
                    self._send_stretch(local, owner, level, stretch, now)
                    stretch, size = [], 0
                stretch.append(part)
                size += bytes_more
                room -= 1
        if stretch:
            self._send_stretch(local, owner, level, stretch, now)
        return []

    def _send_stretch(
        self, local: Local, owner: Address | None, level: int, runs: list[Piece], now: float
    ) -> None:
        """Put a stretch into a section of its level, and keep its runs until they are accepted."""
        process = local.process
        chain = self._chains.get(process)
        if chain is None:
            chain = self._chains[process] = {}
        after = next(reversed(chain)) if chain else 0
        former = chain[after].group if after else 0
        if owner is None:
            section = Section(self._plane.me)
            section.numbers.update(self.context_of(local))  # it is sent when there is an owner
        else:
            section = self._section(owner, level, runs)
            before = local.told.get(owner, 0)
            section.add(process, local.chain + 1, after, before, runs)
            local.told[owner] = local.chain + len(runs)
        wait_s = self._plane.options.resend_s
        for piece in runs:
            local.chain += 1
            run = Unaccepted(local.chain, after, piece, section.numbers, now, wait_s)
            after = local.chain
            chain[after] = run
            if former and former != run.group:
                self.tie_meter.count(former, run.group)
            former = run.group
            key = (run.group, process)
            queue = self.outstanding.get(key)
            if queue is None:
                queue = self.outstanding[key] = deque()
            queue.append(run)
        if self._resend_at is None:
            self._resend_at = now + wait_s

    def _section(self, owner: Address, level: int, runs: list[Piece]) -> Section:
        """Where the runs go: what other processes send there at the same level goes with them."""
        while len(self._levels) <= level:
            self._levels.append({})
        sections = self._levels[level].setdefault(owner, [])
        size = sum(sum(map(len, piece[2])) for piece in runs)
        limit = self._plane.options.section_bytes
        if not sections or not sections[-1].has_room(len(runs), size, limit):
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
        senders: list[int],
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
        columns = zip(senders, groups, firsts, seqnos, counts, strict=True)
        for sender, group, first, seqno, count in columns:
            process = plane.senders.process(sender)
            local = self.locals.get(process)
            if local is not None and number > local.past.get(address, 0):
                local.past[address] = number
            record = plane.records.get(group)
            last = first + count - 1
            if record is not None and record.senders.get(sender, 0) >= last:
                self.accepted(process, group, last, seqno + count - 1, address, number)

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
            self.accepted(process, group, last, 0, record.stream, record.frame)

    def accepted(
        self, process: Process, group: GroupId, last: int, seqno: int, stream: Address, frame: int
    ) -> None:
        """Messages of a process, closed or not, are accepted; their node may wait for `Saved`."""
        key = (group, process)
        queue = self.outstanding.get(key)
        if queue is None or queue[0].last > last:
            return
        chain = self._chains[process]
        while queue and queue[0].last <= last:
            run = queue.popleft()
            del chain[run.chain]
            self._outstanding_bytes -= cost(run.payloads)
        if not chain:
            del self._chains[process]
        if not queue:
            del self.outstanding[key]
            self._recovering.pop(key, None)
        elif key in self._recovering:
            self._eager[key] = None
        message = MessageId(process, last)
        if process in self.locals:
            self._plane.events.append(Accepted(group, message, seqno))
        self._plane.await_saved(stream, frame, group, message)
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
        soonest: float | None = None
        for process, chain in self._chains.items():
            head = next(iter(chain.values()))
            due = head.sent_at + head.wait_s
            if now >= due:
                head.wait_s = min(head.wait_s * 2, options.resend_max_s)
                self._recovering[head.group, process] = 1
                self._send_again(head.group, process, now, 1)
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
            if not queue or next(iter(self._chains[key[1]])) != queue[0].chain:
                continue  # it is behind others of its process, and may well be waiting there
            if now >= queue[0].sent_at + self._plane.options.resend_s:
                most = self._recovering[key] = min(2 * self._recovering[key], RESENT_AT_ONCE)
                self._send_again(*key, now, most)

    def send_again(self, groups: tuple[GroupId, ...], now: float) -> None:
        """The groups' sequencers are other ones: send what they may not have."""
        moved = set(groups)
        for key in [key for key in self.outstanding if key[0] in moved]:
            self._send_again(*key, now, RESENT_AT_ONCE)

    def on_missing(self, process: Process, chain: int, node: Address, now: float) -> None:
        """A sequencer lacks the runs up to there that were sent to it."""
        runs = self._chains.get(process, {})
        lost = [r for r in runs.values() if r.chain <= chain and self._port(r.group) == node]
        # Each section behind the one that is missing is answered so: once is enough for a while.
        if lost and (not lost[0].again or now >= lost[0].sent_at + self._plane.options.repair_s):
            for run in lost[:RESENT_AT_ONCE]:
                self._send_run(process, run, node, now)

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
            chain = self._chains[key[1]]
            void: dict[int, int] = {}
            for run in self.outstanding.pop(key):
                self._outstanding_bytes -= cost(run.payloads)
                void[run.chain] = void.get(run.after, run.after)
                del chain[run.chain]
            for run in chain.values():
                run.after = void.get(run.after, run.after)  # I2
            if not chain:
                del self._chains[key[1]]

    def _send_again(self, group: GroupId, process: Process, now: float, most: int) -> None:
        """The first unaccepted runs of a process to a group, in order, as they were (I1, I2)."""
        owner = self._port(group)
        for sent, run in enumerate(self.outstanding[group, process]):
            if sent == most:
                break
            self._send_run(process, run, owner, now)

    def _send_run(
        self, process: Process, run: Unaccepted, owner: Address | None, now: float
    ) -> None:
        run.sent_at, run.again = now, True
        if owner is not None:
            self._plane.sends.append(run.alone(process, owner).batch(self._plane.me))
            self._plane.counters["resent"] += 1

    def _tell_congestion(self) -> None:
        limit = self._plane.options.outstanding_bytes
        on = self._outstanding_bytes > (limit // 2 if self._congested else limit)
        if on != self._congested:
            self._congested = on
            self._plane.events.append(Congestion(on))
