"""The sequencer: numbers for the messages of the groups that this node owns.

Idea. What arrives is checked against the last message of its sender, given the group's next
numbers and multicast as the next frame of this node's stream, with its body unopened. What comes
out of turn is asked for again; what came before is acknowledged to its sender alone.

Source. Paper, section 4.1 "on DO-MULTICAST", Table 2; section 4.3 (suspend, forward, resume).

Invariants.
  I1  A message gets one number (reliability.md 2, 20): only the one behind its sender's last.
  I2  Numbers are given only while this node owns the group and is primary (10, 11).
  I3  FIFO: messages of one sender to one group get numbers in their order (6).
  I4  Unstable frames are bounded by the window; requests wait in order meanwhile.
"""

from __future__ import annotations

from collections import deque

from groupcore.batch import Batch, pack_messages, unpack_messages
from groupcore.context import Numbers, decode_context, encode_context, merge_into
from groupcore.errors import WireError
from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.headers import (
    Accept,
    Forward,
    Join,
    Leave,
    Missing,
    Redirect,
    Repeated,
    Send,
    pack_column,
    unpack_column,
)
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.ownership import Owned, Ownership
from groupcore.sequencing.plane import Plane
from groupcore.view import Address

EARLY_MAX = 4_096
"""Runs of one group that wait until it is here; more are sent again by their nodes."""
REQUESTS_MAX = 65_536
"""Requests that wait for the window; more are dropped and sent again by their nodes."""


Early = tuple[Address, "Send | Forward", int, list[bytes]]
"""A run that cannot be numbered yet: whose, its header, its first number, the messages."""


class Sequencer:
    """All groups of this node; `load` counts messages and bytes of each since it was taken."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.ownership = Ownership(plane)
        self.enrolment = Enrolment(plane, self.ownership, self._multicast)
        self.load: dict[GroupId, list[int]] = {}
        self._requests: deque[Batch] = deque()
        self._early: dict[GroupId, list[Early]] = {}

    # --- ownership ------------------------------------------------------------------------------

    def own(self, last: dict[GroupId, int], behind: Numbers) -> None:
        """Sequence these groups from here on; `last` and `behind` as of a `Takeover`."""
        self.ownership.own(last, behind)
        for group in last:
            self.enrolment.began(group)

    def disown(self, groups: tuple[GroupId, ...]) -> None:
        """Sequence them no longer; what waited for them goes to who does."""
        for group in groups:
            self.ownership.disown(group)
            self.enrolment.disowned(group)
            self.load.pop(group, None)
            for origin, header, first, mine in self._early.pop(group, ()):
                self._redirect(origin, header, group, first, mine)

    def suspend(self, groups: tuple[GroupId, ...]) -> None:
        """Give no numbers in these groups: they migrate."""
        for group in groups:
            self.ownership.suspend(group, True)

    def unsuspend(self, groups: tuple[GroupId, ...]) -> None:
        """They stay after all."""
        for group in groups:
            self.ownership.suspend(group, False)
            self._retry(group)

    def start(self) -> None:
        """Begin with what is ready by now; cheap when there is nothing."""
        for group in self.ownership.start():
            self._retry(group)
        self.enrolment.expel_gone()

    def _retry(self, group: GroupId) -> None:
        """What came too early may be numbered now."""
        self.enrolment.retry(group)
        for origin, header, first, mine in self._early.pop(group, ()):
            self._on_run(origin, header, group, first, mine)

    # --- requests -------------------------------------------------------------------------------

    def request(self, batch: Batch) -> None:
        """A request of a node; it waits while the window is full (I4)."""
        if self._requests or self._full:
            if len(self._requests) < REQUESTS_MAX:
                self._requests.append(batch)
            else:
                self._plane.counters["requests_dropped"] += 1
            return
        self._handle(batch)

    def resume(self) -> None:
        """The window may have opened."""
        while self._requests and not self._full:
            self._handle(self._requests.popleft())

    @property
    def _full(self) -> bool:
        return self._plane.own.kept_bytes > self._plane.options.window_bytes

    def _handle(self, batch: Batch) -> None:
        header = batch.headers[-1]
        match header:
            case Send():
                self._on_send(batch, batch.sender, header)
            case Forward():
                self._on_send(batch, header.origin, header)
            case Join() | Leave():
                self.enrolment.request(batch.sender, header)

    def _on_send(self, batch: Batch, origin: Address, header: Send | Forward) -> None:
        plane = self._plane
        count = len(header.groups) // 8
        try:
            groups = unpack_column(header.groups, count)
            firsts = unpack_column(header.firsts, count)
            counts = unpack_column(header.counts, count)
        except WireError as error:
            plane.counters[f"dropped.{error.reason}"] += 1
            return
        if sum(counts) != batch.count or 0 in counts or not plane.in_view(origin):
            plane.counters["dropped.bad_section"] += 1
            return
        process = Process(origin, header.process)
        sender = plane.senders.key(process)
        seqnos: list[int] = []
        carry: Numbers | None = None
        number = plane.own.received + 1
        for index, group in enumerate(groups):
            active = self.ownership.active(group)
            if active is None:
                break
            owned, record = active
            last = owned.senders.get(sender) or record.senders.get(sender, 0)
            if firsts[index] != last + 1:
                break
            size = counts[index]
            seqnos.append(owned.seqno + 1)
            owned.seqno += size
            owned.senders[sender] = last + size
            owned.frame = number
            if owned.carry:
                carry = self._carried(owned, carry)
        done = len(seqnos)
        if done == count and count:
            self._stamp(
                batch.body,
                batch.count,
                Accept(
                    number,
                    origin,
                    header.process,
                    self._context(header.context, carry),
                    header.groups,
                    pack_column(seqnos),
                    header.firsts,
                    header.counts,
                ),
            )
        else:
            self._one_by_one(batch, origin, header, groups, firsts, counts, seqnos, carry)
        self._count_load(groups, counts, done, len(batch.body), batch.count)

    def _one_by_one(
        self,
        batch: Batch,
        origin: Address,
        header: Send | Forward,
        groups: tuple[int, ...],
        firsts: tuple[int, ...],
        counts: tuple[int, ...],
        seqnos: list[int],
        carry: Numbers | None,
    ) -> None:
        """Not every run of the section can be numbered: those that can are, in a frame each."""
        try:
            payloads = unpack_messages(batch.body)
        except WireError:
            payloads = []
        if len(payloads) != batch.count:
            self._plane.counters["dropped.bad_section"] += 1
            payloads = [b""] * batch.count  # what has been numbered is numbered
        offset = 0
        done = len(seqnos)
        context = self._context(header.context, carry)
        for index, group in enumerate(groups):
            mine = payloads[offset : offset + counts[index]]
            offset += counts[index]
            if index < done:
                self.ownership.owned[group].frame = self._plane.own.received + 1
                self._stamp_run(
                    origin, header.process, context, group, seqnos[index], firsts[index], mine
                )
            else:
                self._on_run(origin, header, group, firsts[index], mine)

    def _on_run(
        self, origin: Address, header: Send | Forward, group: int, first: int, mine: list[bytes]
    ) -> None:
        """One run by itself: number what is new of it, or say what is wrong."""
        plane = self._plane
        active = self.ownership.active(group)
        if active is None:
            self._redirect(origin, header, group, first, mine)
            return
        owned, record = active
        process = Process(origin, header.process)
        sender = plane.senders.key(process)
        last = owned.senders.get(sender) or record.senders.get(sender, 0)
        if first > last + 1:
            plane.counters["out_of_sequence"] += 1
            plane.to(origin, Missing(group, header.process, last + 1))
            return
        if first + len(mine) - 1 <= last:
            plane.counters["repeated"] += 1
            plane.to(origin, Repeated(group, header.process, last))
            return
        mine = mine[last + 1 - first :]
        seqno = owned.seqno + 1
        owned.seqno += len(mine)
        owned.senders[sender] = last + len(mine)
        owned.frame = plane.own.received + 1
        carry = self._carried(owned, None) if owned.carry else None
        context = self._context(header.context, carry)
        self._stamp_run(origin, header.process, context, group, seqno, last + 1, mine)

    def _redirect(
        self, origin: Address, header: Send | Forward, group: int, first: int, mine: list[bytes]
    ) -> None:
        """Not (any more, yet) this node's: forward it, and tell the sender where the port is."""
        plane = self._plane
        owner = plane.owner(group)
        if group not in plane.records or owner is None:
            plane.counters["unknown_group"] += 1
        elif owner == plane.me or type(header) is Forward or group in self.ownership.owned:
            # It migrates, or has just come: it waits here, where it is wanted in any case.
            early = self._early.setdefault(group, [])
            if len(early) < EARLY_MAX:
                early.append((origin, header, first, mine))
            else:
                plane.counters["not_now"] += 1  # its sender sends it again
        else:
            plane.counters["forwarded"] += 1
            plane.to(origin, Redirect(group, owner, plane.directory.entries[group].epoch))
            forward = Forward(
                origin,
                header.process,
                header.context,
                pack_column([group]),
                pack_column([first]),
                pack_column([len(mine)]),
            )
            body = pack_messages(mine)
            plane.sends.append(Batch(plane.me, owner, (forward,), body, len(mine)))

    # --- stamping -------------------------------------------------------------------------------

    def _stamp_run(
        self,
        origin: Address,
        process: int,
        context: bytes,
        group: int,
        seqno: int,
        first: int,
        payloads: list[bytes],
    ) -> None:
        accept = Accept(
            self._plane.own.received + 1,
            origin,
            process,
            context,
            pack_column([group]),
            pack_column([seqno]),
            pack_column([first]),
            pack_column([len(payloads)]),
        )
        self._stamp(pack_messages(payloads), len(payloads), accept)

    def _stamp(self, body: bytes, count: int, accept: Accept) -> None:
        self._multicast(Batch(self._plane.me, None, (accept,), body, count))

    def _multicast(self, batch: Batch) -> None:
        self._plane.own.append(batch)
        self._plane.sends.append(batch)

    def _carried(self, owned: Owned, carry: Numbers | None) -> Numbers | None:
        """What the group carries over from former sequencers, as long as it is not stable."""
        self._plane.drop_stable(owned.carry)
        if not owned.carry:
            return carry
        carry = {} if carry is None else carry
        merge_into(carry, owned.carry)
        return carry

    def _context(self, context: bytes, carry: Numbers | None) -> bytes:
        """C_m = merge(what the sequencer adds, C_p) (paper, section 5, rule 3).

        The group's own entry is its number; stable entries have been left out by the sender.
        """
        if not carry:
            return context
        try:
            numbers, ids = decode_context(context)
        except WireError:
            numbers, ids = {}, {}
        merge_into(numbers, carry)
        return encode_context(numbers, ids)

    def _count_load(
        self,
        groups: tuple[int, ...],
        counts: tuple[int, ...],
        done: int,
        size_bytes: int,
        messages: int,
    ) -> None:
        for index in range(done):
            counted = self.load.get(groups[index])
            if counted is None:
                counted = self.load[groups[index]] = [0, 0]
            counted[0] += counts[index]
            counted[1] += size_bytes * counts[index] // messages
