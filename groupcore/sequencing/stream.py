"""Streams: the frames of one sequencer as a node receives, keeps and gives them away.

Idea. A sequencer's frames are numbered without holes. A node takes them in order, asks at once
for what is missing, and keeps every one until all nodes have delivered it, so that any node can
repair any other, and what a quorum has received cannot be lost with the sequencer.

Source. Amoeba's history buffer and negative acknowledgement (paper, section 3.2), counted by
frames of a sequencer instead of messages of a group.

Invariants.
  I1  Frames are recorded in order, each once.
  I2  Nothing behind `end` is recorded; once fenced, nothing is received behind `allowed`.
  I3  A frame is dropped only when it is stable.
  I4  Who has received a frame has received what it rests on: then what a quorum has received rests
      on nothing that could be lost (decision 0025).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from groupcore.batch import Batch, unpack_messages
from groupcore.context import Numbers
from groupcore.errors import WireError
from groupcore.sequencing.record import Record, Run
from groupcore.view import Address

MISSING_MAX = 4_096
"""So many missing frames are named at once."""
FRAME_COST_BYTES = 100
"""What a frame counts beside its body: many have none."""


def frame_cost(batch: Batch) -> int:
    """What a frame takes of the window, in bytes."""
    return len(batch.body) + FRAME_COST_BYTES


Column = tuple[int, ...]
Columns = tuple[Column, Column, Column, Column]
"""Of the runs of a frame: groups, numbers, own first numbers, counts."""


class Opened(NamedTuple):
    """What has been read of a frame when it was received, until it is recorded.

    `columns`: None where they have still to be read.
    """

    context: Numbers
    stretches: list[tuple[int, ...]]
    rests: Numbers
    columns: Columns | None = None


class Frame:
    """A recorded frame; `waiting` are those of its runs that have not been delivered here."""

    __slots__ = ("batch", "context", "number", "payloads", "stream", "waiting")

    def __init__(
        self,
        stream: Stream,
        number: int,
        batch: Batch,
        context: Numbers,
    ) -> None:
        self.stream = stream
        self.number = number
        self.batch = batch
        self.context = context
        self.waiting: list[Run] = []
        self.payloads: list[bytes] | None = None

    def messages(self, offset: int, count: int) -> list[bytes]:
        """Messages of the body, opened at the first call; empty ones where it does not open."""
        payloads = self.payloads
        if payloads is None:
            try:
                payloads = unpack_messages(self.batch.body)
            except WireError:
                payloads = []
            if len(payloads) != self.batch.count:
                payloads = [b""] * self.batch.count
            self.payloads = payloads
        if count == len(payloads):
            return payloads
        return payloads[offset : offset + count]


class Stream:
    """The stream of the sequencer at `address`.

    `taken`: all frames up to here are kept or were stable; `received`: and all that they rest on,
    of whatever streams, is received here, too (I4); `recorded`: held and put into the
    records; `delivered`: nothing of them waits here; `stable`: delivered by all; `highest`: that
    there is a frame of this number is known. `started`: where the stream begins for this node is
    known; `base`: behind which frame. `opened`: of the frames that are received and not recorded
    what was read. `logged`: what has been put into the node's log. Of a `fenced` one frames are
    taken up to `allowed` only. `end`: its last frame, once it is agreed.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.started = False
        self.base = 0
        self.taken = 0
        self.received = 0
        self.recorded = 0
        self.delivered = 0
        self.stable = 0
        self.highest = 0
        self.logged = 0
        self.fenced = False
        self.allowed = 0
        self.end: int | None = None
        self.undelivered: dict[int, Frame] = {}
        self.kept_bytes = 0
        self._kept: dict[int, Batch] = {}
        self.opened: dict[int, Opened] = {}

    def start(self, before: int) -> None:
        """The frames behind `before` concern this node."""
        if not self.started:
            self.started = True
            self.base = before
            self.taken = self.received = self.recorded = before
            self.delivered = self.stable = self.logged = before
            self.highest = max(self.highest, before)

    def take(self, number: int, batch: Batch) -> bool:
        """Keep a frame that has come; False when it is not new or not wanted (I2)."""
        if not self.started:
            self.start(number - 1)
        if number <= self.taken or number in self._kept:
            return False
        if self.fenced and number > self.allowed:
            return False
        self._kept[number] = batch
        self.kept_bytes += frame_cost(batch)
        if number > self.highest:
            self.highest = number
        taken = self.taken
        while taken + 1 in self._kept:
            taken += 1
        self.taken = taken
        return True

    def append(self, batch: Batch) -> None:
        """Keep the next frame of one's own stream."""
        self.highest = self.taken = self.received = self.received + 1
        self._kept[self.received] = batch
        self.kept_bytes += frame_cost(batch)

    def note_last(self, number: int) -> None:
        """Its sequencer says that it has sent frames up to here."""
        if number > self.highest and not self.fenced:
            self.highest = number

    def fence(self) -> None:
        """Its node is gone: take nothing more of it, and forget what lies behind a gap."""
        if self.fenced:
            return
        self.fenced = True
        for number in [number for number in self._kept if number > self.received]:
            self.kept_bytes -= frame_cost(self._kept.pop(number))
        self.allowed = self.highest = self.taken = self.received

    def want(self, frame: int) -> None:
        """The view's cut contains it up to here: get that, whether its node is gone or not."""
        if self.fenced:
            self.allowed = max(self.allowed, frame)
        self.highest = max(self.highest, frame)

    def allow(self, frame: int) -> None:
        """Some member has it up to here: get that."""
        self.fence()
        if frame > self.allowed:
            self.allowed = self.highest = frame

    def finish(self, end: int) -> None:
        """Its end is agreed; what has come from behind it was delivered nowhere."""
        self.fence()
        for number in [number for number in self._kept if number > end]:
            self.kept_bytes -= frame_cost(self._kept.pop(number))
        self.received = min(self.received, end)
        self.taken = min(self.taken, end)
        self.allowed = self.highest = self.end = end

    def resume(self, number: int) -> None:
        """A state contains what the frames up to here say; the frames come as any others do."""
        self.start(number)
        self.recorded = max(number, self.recorded)
        self.delivered = max(number, self.delivered)
        self.highest = max(number, self.highest)

    def cut(self, number: int) -> None:
        """Forget the frames behind this one, which is not before the last recorded."""
        for later in [later for later in self._kept if later > number]:
            self.kept_bytes -= frame_cost(self._kept.pop(later))
        self.taken = min(self.taken, number)
        self.received = self.highest = self.logged = min(self.received, number)

    def rewind(self) -> None:
        """Nothing of it is on record any more; the frames are still here."""
        self.recorded = self.delivered = self.stable = self.logged = self.base
        self.undelivered.clear()
        self.end = None

    def skip_to(self, number: int) -> None:
        """A state contains what the frames up to here say, and nobody will ask for them."""
        self.start(number)
        if number < self.base:
            self.base = number
            self.received = self.taken = 0
            self.cut(0)  # between the state and what is here something is missing
        for old in [old for old in self._kept if old <= number]:
            self.kept_bytes -= frame_cost(self._kept.pop(old))
        self.recorded = self.delivered = self.stable = self.logged = number
        self.received = max(number, self.received)
        self.taken = max(number, self.taken)
        while self.taken + 1 in self._kept:
            self.taken += 1
        self.highest = max(self.taken, self.highest)

    @property
    def missing(self) -> tuple[int, int] | None:
        """The first frames that are missing, both ends included, and `MISSING_MAX` at most.

        How far the stream goes is only what its sequencer says: it may say any number.
        """
        if self.highest <= self.taken:
            return None
        first = self.taken + 1
        last, most = first, min(self.highest, self.taken + MISSING_MAX)
        while last < most and last + 1 not in self._kept:
            last += 1
        return first, last

    def last_of(self, number: int) -> int:
        """What there can be of it up to this frame: nothing behind its end."""
        return number if self.end is None else min(number, self.end)

    def next_to_receive(self) -> Batch | None:
        """The frame behind those that are received, when it is here."""
        return self._kept.get(self.received + 1)

    def kept(self, first: int, last: int) -> Iterator[tuple[int, Batch]]:
        """The frames of this range that are here."""
        for number in range(first, last + 1):
            batch = self._kept.get(number)
            if batch is not None:
                yield number, batch

    def next_to_record(self, held: int) -> Batch | None:
        """The next frame to record, when a quorum has it or the stream has ended with it."""
        if self.end is not None:
            held = self.end
        if self.recorded >= held or self.recorded >= self.received:
            return None
        self.recorded += 1
        return self._kept.get(self.recorded)

    def settled(self, number: int, concerns: Callable[[Record], bool]) -> bool:
        """Whether no run of the frames up to this one waits here in a group that counts."""
        if self.end is not None and number > self.end:
            number = self.end  # a power cut has taken what lies behind, and all that was given it
        if self.delivered >= number:
            return True
        if self.recorded < number:
            return False
        for at, frame in self.undelivered.items():
            # A run that was early comes back to a frame that had left: they stand in no order.
            if at <= number and any(concerns(run.record) for run in frame.waiting):
                return False
        return True

    def advance(self) -> None:
        """Move `delivered` on over frames of which nothing waits."""
        self.delivered = min(self.undelivered) - 1 if self.undelivered else self.recorded

    def drop_stable(self, stable: int) -> None:
        """All have delivered up to here (I3)."""
        stable = min(stable, self.delivered)
        for number in range(self.stable + 1, stable + 1):
            batch = self._kept.pop(number, None)
            if batch is not None:
                self.kept_bytes -= frame_cost(batch)
        self.stable = max(stable, self.stable)
