"""The sequencer: numbers for the messages of the groups that this node owns.

Idea. What arrives is checked against the last message of its sender, given the group's next
numbers and multicast in the next frame of this node's stream (`stamping`). What comes out of turn
is asked for again; what came before is acknowledged to its sender alone.

Source. Paper, section 4.1 "on DO-MULTICAST", Table 2; section 4.3 (suspend, forward, resume).

Invariants.
  I1  A message gets one number (reliability.md 2, 20): only the one behind its sender's last.
  I2  Numbers are given only while this node owns the group and is primary (10, 11).
  I3  FIFO: messages of one sender to one group get numbers in their order (6).
  I4  Unstable frames are bounded by the window; requests wait in order meanwhile, and while the
      view is stopped.
  I5  No run gets its numbers before all have that are before it in its process's chain: no run can
      come to wait for itself (decisions 0020 and 0025).
  I6  What does not hold the messages that it says gets no numbers, none of it.
"""

from __future__ import annotations

from itertools import islice

from groupcore.batch import PACKED_BYTES, unpack_messages
from groupcore.context import Numbers, decode_context, encode_context, merge_into
from groupcore.errors import WireError
from groupcore.sequencing.asked import Asked, Piece, by_stretches
from groupcore.sequencing.balancing import LoadMeter
from groupcore.sequencing.chains import Standing
from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.headers import (
    ASKED,
    Accept,
    Forward,
    Join,
    Leave,
    Redirect,
    Repeated,
    Send,
    pack_column,
    unpack_column,
    unpack_stretches,
)
from groupcore.sequencing.intake import Intake, Request
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.ownership import Owned, Ownership
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.sections import room_of
from groupcore.sequencing.stamping import Stamper, Stamping
from groupcore.sequencing.stream import Opened
from groupcore.sequencing.waiting import Waiting
from groupcore.view import Address

EARLY_MAX = 4_096
"""Runs of one group that wait until it is here; more are sent again by their nodes."""


class Sequencer:
    """All groups of this node; `meter` counts what it numbers."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.ownership = Ownership(plane)
        self._stamper = stamper = Stamper(plane)
        self.enrolment = Enrolment(plane, self.ownership, stamper.next_frame, stamper.multicast)
        self.meter = LoadMeter()
        self.intake = Intake(plane, self._handle)
        self.early: dict[GroupId, list[Asked]] = {}
        self.waiting = Waiting(plane)

    # --- ownership ------------------------------------------------------------------------------

    def own(self, last: dict[GroupId, int], behind: Numbers, cause: str) -> None:
        """Sequence these groups from here on; `last` and `behind` as of a `Takeover`."""
        if self._plane.trace is not None:
            self._plane.trace.owns(last, cause)
        self.ownership.own(last, behind)
        for group in last:
            self.enrolment.began(group)

    def disown(self, groups: tuple[GroupId, ...]) -> None:
        """Sequence them no longer; what waited for them goes to who does."""
        for group in groups:
            self.ownership.disown(group)
            self.enrolment.disowned(group)
            self.meter.groups.pop(group, None)
            for asked in self._plane.watch.handed_on(group, self.early.pop(group, [])):
                asked.forwarded = False  # this node knows now whose it is
                self._redirect(asked)
        # All at once: one after the other they would each wait for the one before to come round.
        waiting = self.waiting.take_of(groups)
        for asked in waiting:
            asked.forwarded = False
        self.enrolment.expel_gone()
        self._admit_all(waiting)
        self._stamper.close()

    def suspend(self, groups: tuple[GroupId, ...]) -> None:
        """Give no numbers in these groups: they migrate."""
        for group in groups:
            self.ownership.suspend(group, True)

    def unsuspend(self, groups: tuple[GroupId, ...]) -> None:
        """They stay after all."""
        for group in groups:
            self.ownership.suspend(group, False)
        self.enrolment.expel_gone()
        for group in groups:
            self._retry(group)
        self._stamper.close()

    def start(self) -> None:
        """Begin with what is ready by now; cheap when there is nothing. `number` has to follow."""
        started = self.ownership.start()
        for group in started:
            self._plane.resumed(group, self.ownership.owned[group].seqno, self.early.get(group, ()))
        self.enrolment.expel_gone()
        for group in started:
            self._retry(group)
        self.enrolment.retry_entries()
        if not self._plane.numbers_nothing:
            self.intake.retry()
            if self._plane.chains.moved:
                self._go_on()

    def number(self) -> None:
        """Number what has come, and send what has its numbers."""
        self.intake.handle_new()
        self._stamper.close()

    def _retry(self, group: GroupId) -> None:
        """What came too early may be numbered now."""
        self.enrolment.retry(group)
        self._admit_all(self.early.pop(group, []))

    # --- requests -------------------------------------------------------------------------------

    def _handle(self, request: Request) -> None:
        batch = request.batch
        header = batch.headers[-1]
        match header:
            case Send():
                self._on_send(request, batch.sender, header)
            case Forward():
                self._on_send(request, header.origin, header)
            case Join() | Leave():
                self.enrolment.request(batch.sender, header)
        if self._plane.chains.moved:
            self._go_on()

    def _on_send(self, request: Request, origin: Address, header: Send | Forward) -> None:
        plane, batch = self._plane, request.batch
        runs = len(header.groups) // 8
        try:
            columns = (
                unpack_column(header.groups, runs),
                unpack_column(header.firsts, runs),
                unpack_column(header.counts, runs),
            )
            stretches = unpack_stretches(header.stretches, ASKED, runs)
            keys = plane.senders.of_node(origin, [stretch[0] for stretch in stretches])
            if runs == 1 and self._is_repeated(origin, stretches[0], keys, columns):
                return  # most of what is sent again: before anything else is looked at
            numbers = decode_context(header.context)
        except WireError as error:
            plane.counters[f"dropped.{error.reason}"] += 1
            return
        if numbers and not plane.is_credible(numbers):
            plane.counters["dropped.bad_context"] += 1
            return
        counts = columns[2]
        if sum(counts) != batch.count or 0 in counts or not plane.in_view(origin):
            plane.counters["dropped.bad_section"] += 1
            return
        if header.place > plane.ordered or not self.intake.knows(numbers):
            self.intake.put_off(request)
            return
        try:
            payloads = unpack_messages(batch.body)
        except WireError:
            payloads = []
        if len(payloads) != batch.count:
            plane.counters["dropped.bad_section"] += 1  # I6: before anything has a number
            return
        size = len(batch.body)
        room = room_of(runs, len(stretches), size)
        stamping = self._stamper.frame(runs, room)
        reached = plane.chains.reached
        seqnos: list[int] = []
        if all(after <= reached(keys[process]) for process, _, _, after, _ in stretches):
            seqnos = self._number_all(stamping.number, stretches, columns, keys, numbers)
        each = size // batch.count
        for group, count, _ in zip(columns[0], counts, seqnos, strict=False):
            self.meter.count(group, origin, count, count * each)
        whole = len(seqnos) == runs
        if whole and not stamping.runs and 2 * room > plane.options.section_bytes:
            self._pass_on(request, payloads, origin, header, stretches, seqnos, numbers)
            self._note_places(stretches, keys, (plane.me, stamping.number, numbers))
            return
        if seqnos:
            stamping.since = min(stamping.since, request.since)
            stamping.place = max(stamping.place, header.place)
        if whole:
            stamping.add_section(origin, stretches, columns, seqnos, payloads, numbers, room)
            self._note_places(stretches, keys, (plane.me, stamping.number, stamping.numbers))
        else:
            said = (stretches, keys, columns, payloads, request.since)
            asked = by_stretches(origin, type(header) is Forward, header.place, *said)
            self._take_apart(asked, stamping, seqnos, numbers)

    def _note_places(
        self, stretches: list[tuple[int, ...]], keys: dict[int, int], place: Standing
    ) -> None:
        """The runs of these stretches have got their places."""
        for process, count, chain, _, _ in stretches:
            self._plane.chains.note_received(keys[process], chain + count - 1, place)

    def _pass_on(
        self,
        request: Request,
        payloads: list[bytes],
        origin: Address,
        header: Send | Forward,
        stretches: list[tuple[int, ...]],
        seqnos: list[int],
        numbers: Numbers,
    ) -> None:
        """A section that fills a frame nearly alone: its body is passed on as it is."""
        plane = self._plane
        places = [(process, runs, chain, 0) for process, runs, chain, _, _ in stretches]
        rests = plane.loose(numbers)
        accept = Accept(
            self._stamper.next_frame(),
            plane.view_number,
            header.place,
            (origin,),
            encode_context(numbers),
            encode_context(rests),
            pack_column([number for place in places for number in place]),
            header.groups,
            pack_column(seqnos),
            header.firsts,
            header.counts,
        )
        opened = Opened(numbers, list(places), rests)
        self._stamper.stamp(accept, request.batch.body, opened, payloads, request.since)

    def _number_all(
        self,
        frame: int,
        stretches: list[tuple[int, ...]],
        columns: tuple[tuple[int, ...], ...],
        keys: dict[int, int],
        numbers: Numbers,
    ) -> list[int]:
        """Numbers for the runs of a section, in one frame; of those before the first that has to
        be looked at by itself."""
        plane = self._plane
        seqnos: list[int] = []
        senders: list[int] = []
        for process, runs, _, after, _ in stretches:
            senders += [keys[process]] * runs
            if after:
                plane.chains.add_place(keys[process], numbers, but=(plane.me, frame))
        for sender, group, first, count in zip(senders, *columns, strict=True):
            active = self.ownership.active(group)
            if active is None:
                break
            owned, record = active
            if first != (owned.senders.get(sender) or record.senders.get(sender, 0)) + 1:
                break
            seqnos.append(owned.seqno + 1)
            owned.seqno += count
            owned.senders[sender] = first + count - 1
            owned.frame = frame
            if owned.carry:
                plane.drop_stable(owned.carry)
                merge_into(numbers, owned.carry)
        if numbers:
            plane.drop_stable(numbers)
        return seqnos

    def _is_repeated(
        self,
        origin: Address,
        stretch: tuple[int, ...],
        keys: dict[int, int],
        columns: tuple[tuple[int, ...], ...],
    ) -> bool:
        """Whether the only run of a section has its numbers already."""
        plane = self._plane
        (group,), (first,), (count,) = columns
        active = self.ownership.active(group)
        if active is None or not count:
            return False
        last = self._last(*active, keys[stretch[0]])
        if last < first + count - 1:
            return False
        plane.counters["repeated"] += 1
        plane.to(origin, Repeated(group, stretch[0], last))
        return True

    def _last(self, owned: Owned, record: Record, sender: int) -> int:
        """The sender's own number of its last message in a group that has its number here."""
        return owned.senders.get(sender) or record.senders.get(sender, 0)

    def _take_apart(
        self, stretches: list[Asked], stamping: Stamping, seqnos: list[int], numbers: Numbers
    ) -> None:
        """Not every run of the section can be numbered: those that can are, in one frame.

        The first ones may have their numbers already; the others are looked at by stretches.
        """
        plane = self._plane
        place = (plane.me, stamping.number, stamping.numbers)
        given = iter(seqnos)
        for asked in stretches:
            asked.numbers = numbers
            for seqno in islice(given, len(asked.runs)):
                run = (asked.origin, asked.process, asked.chain)
                stamping.add(*run, asked.runs[0], seqno, numbers)
                plane.chains.note_received(asked.key, asked.chain, place)
                asked.drop_first()
        self._admit_all([asked for asked in stretches if asked.runs])

    # --- stretches by themselves ----------------------------------------------------------------

    def _admit_all(self, stretches: list[Asked]) -> None:
        """Number what can be numbered of these."""
        for asked in stretches:
            self._admit(asked)

    def _admit(self, asked: Asked) -> None:
        """Number the runs of a stretch one after the other, or see what is wrong with them."""
        plane = self._plane
        if not plane.in_view(asked.origin):
            plane.counters["dropped.gone"] += 1  # it waited here while its node went
            return
        key = asked.key
        while asked.runs:
            group, first, payloads = asked.runs[0]
            active = self.ownership.active(group)
            if active is None:
                self._redirect(asked.take_first())
                continue
            if asked.after > plane.chains.reached(key):
                self.waiting.add(asked)
                return
            owned, record = active
            last = self._last(owned, record, key)
            if first + len(payloads) - 1 <= last:
                plane.counters["repeated"] += 1
                plane.to(asked.origin, Repeated(group, asked.process, last))
                asked.drop_first()
                continue
            if first > last + 1:
                plane.counters["out_of_sequence"] += 1  # its sender sends again
                return
            self._number(asked, owned, (group, last + 1, payloads[last + 1 - first :]))
            asked.drop_first()

    def _number(self, asked: Asked, owned: Owned, run: Piece) -> None:
        """Give the first run of a stretch its numbers, in the frame that is put together."""
        plane, key = self._plane, asked.key
        group, first, payloads = run
        size = sum(map(len, payloads))
        stamping = self._stamper.frame(1, room_of(1, 1, size + PACKED_BYTES * len(payloads)))
        if asked.after:
            plane.chains.add_place(key, stamping.numbers, but=(plane.me, stamping.number))
        if owned.carry:
            plane.drop_stable(owned.carry)
            merge_into(stamping.numbers, owned.carry)
        place = (asked.origin, asked.process, asked.chain)
        stamping.since = min(stamping.since, asked.since)
        stamping.place = max(stamping.place, asked.place)
        stamping.add(*place, run, owned.seqno + 1, asked.numbers)
        owned.seqno += len(payloads)
        owned.senders[key] = first + len(payloads) - 1
        owned.frame = stamping.number
        plane.chains.note_received(key, asked.chain, (plane.me, stamping.number, stamping.numbers))
        self.meter.count(group, asked.origin, len(payloads), size)

    def _go_on(self) -> None:
        """Look at what waits for messages that have their places by now, until nothing moves."""
        while self._plane.chains.moved:
            self._admit_all(self.waiting.take_ready())

    def _redirect(self, asked: Asked) -> None:
        """Not (any more, yet) this node's: forward it, and tell the sender where the port is."""
        plane, group = self._plane, asked.runs[0][0]
        owner = plane.owner(group)
        if group not in plane.records or owner is None:
            plane.counters["unknown_group"] += 1
        elif owner == plane.me or asked.forwarded or group in self.ownership.owned:
            # It migrates, or has just come: it waits here, where it is wanted in any case.
            early = self.early.setdefault(group, [])
            if len(early) < EARLY_MAX:
                early.append(asked)
            else:
                plane.counters["not_now"] += 1  # its sender sends it again
        else:
            plane.counters["forwarded"] += 1
            epoch = plane.directory.entries[group].epoch
            plane.to(asked.origin, Redirect(group, owner, epoch))
            plane.sends.append(asked.forward(plane.me, owner))
