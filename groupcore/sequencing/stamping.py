"""The frames of a sequencer's stream: what a turn has numbered leaves in as few as hold it.

Idea. A frame costs each node about the same whatever is in it. So what has its numbers gathers in
one frame, of whatever nodes and processes it is, until the turn ends or the frame is full. A
section that would nearly fill a frame goes alone, with its body unopened.

Invariants.
  I1  Frames have consecutive numbers, in the order in which their runs got theirs.
  I2  No frame is left open when a turn ends, or where the view may be stopped.
"""

from __future__ import annotations

from math import inf

from groupcore.batch import PACKED_BYTES, Batch, pack_messages
from groupcore.context import Numbers, encode_context, merge_into
from groupcore.sequencing.asked import Piece
from groupcore.sequencing.headers import ACCEPTED, Accept, pack_column
from groupcore.sequencing.names import BEGINNING
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.sections import RUN_BYTES, RUNS_MAX, STRETCH_BYTES
from groupcore.sequencing.stream import Opened
from groupcore.view import Address


class Stamping:
    """The next frame of a sequencer while it is put together: what a turn has brought.

    `room_bytes` is what is taken up of it, `place` the latest that its runs name. `since`: when the
    oldest request in it has come, by the service's clock.
    """

    __slots__ = (
        "_counts",
        "_firsts",
        "_groups",
        "_origins",
        "_payloads",
        "_seqnos",
        "_stretches",
        "number",
        "numbers",
        "place",
        "room_bytes",
        "since",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.numbers: Numbers = {}
        self.place = BEGINNING
        self.since = inf
        self.room_bytes = 0
        self._origins: dict[Address, int] = {}
        self._stretches: list[int] = []
        self._groups: list[int] = []
        self._seqnos: list[int] = []
        self._firsts: list[int] = []
        self._counts: list[int] = []
        self._payloads: list[bytes] = []

    @property
    def runs(self) -> int:
        """How many are in it."""
        return len(self._groups)

    def add(
        self,
        origin: Address,
        process: int,
        chain: int,
        run: Piece,
        seqno: int,
        numbers: Numbers,
    ) -> None:
        """Put a run of a node's process in that has its numbers; `numbers` is its context."""
        group, first, payloads = run
        by = self._origins.setdefault(origin, len(self._origins))
        ends = self._stretches
        if ends and ends[-4] == process and ends[-1] == by and ends[-2] + ends[-3] == chain:
            ends[-3] += 1
        else:
            ends += (process, 1, chain, by)
            self.room_bytes += STRETCH_BYTES
        self._groups.append(group)
        self._seqnos.append(seqno)
        self._firsts.append(first)
        self._counts.append(len(payloads))
        self._payloads += payloads
        self.room_bytes += RUN_BYTES + sum(map(len, payloads)) + PACKED_BYTES * len(payloads)
        merge_into(self.numbers, numbers)

    def stretches(self) -> list[tuple[int, ...]]:
        """Whose runs are in it: process, runs, chain number of the first, place of the node."""
        flat = self._stretches
        return [tuple(flat[at : at + ACCEPTED]) for at in range(0, len(flat), ACCEPTED)]

    def add_section(
        self,
        origin: Address,
        stretches: list[tuple[int, ...]],
        columns: tuple[tuple[int, ...], ...],
        seqnos: list[int],
        payloads: list[bytes],
        numbers: Numbers,
        room_bytes: int,
    ) -> None:
        """Put all runs of a section in; `columns`: their groups, first numbers and counts."""
        by = self._origins.setdefault(origin, len(self._origins))
        for process, runs, chain, *_ in stretches:
            self._stretches += (process, runs, chain, by)
        self._groups += columns[0]
        self._seqnos += seqnos
        self._firsts += columns[1]
        self._counts += columns[2]
        self._payloads += payloads
        self.room_bytes += room_bytes
        merge_into(self.numbers, numbers)

    def header(self, view: int, rests: bytes) -> Accept:
        """That of the frame, made in this view, which rests on these."""
        return Accept(
            self.number,
            view,
            self.place,
            tuple(self._origins),
            encode_context(self.numbers),
            rests,
            pack_column(self._stretches),
            pack_column(self._groups),
            pack_column(self._seqnos),
            pack_column(self._firsts),
            pack_column(self._counts),
        )

    @property
    def payloads(self) -> list[bytes]:
        """The messages of all runs."""
        return self._payloads


class Stamper:
    """This node's own stream, as it is made."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._open: Stamping | None = None

    def frame(self, runs: int, room_bytes: int) -> Stamping:
        """The frame in which so many runs have room that take so much, or which is empty."""
        one = self._open
        if one is not None and one.runs:
            limit = self._plane.options.section_bytes
            if one.runs + runs > RUNS_MAX or one.room_bytes + room_bytes > limit:
                self.close()
        if self._open is None:
            self._open = Stamping(self._plane.own.received + 1)
        return self._open

    def next_frame(self) -> int:
        """The number of a frame that is made by itself, behind the open one."""
        self.close()
        return self._plane.own.received + 1

    def close(self) -> None:
        """The open frame is complete (I2)."""
        one, self._open = self._open, None
        if one is None or not one.runs:
            return
        plane = self._plane
        plane.drop_stable(one.numbers)
        rests = plane.loose(one.numbers)
        accept = one.header(plane.view_number, encode_context(rests))
        body = pack_messages(one.payloads)
        opened = Opened(one.numbers, one.stretches(), rests)
        self.stamp(accept, body, opened, one.payloads, one.since)

    def stamp(
        self, accept: Accept, body: bytes, opened: Opened, payloads: list[bytes], since: float
    ) -> None:
        """Send the next frame, of runs: its messages are `payloads`, and packed its body."""
        plane = self._plane
        if plane.trace is not None:
            told = (opened.context, opened.stretches, payloads, len(body), since)
            plane.trace.stamped(accept, *told)
        plane.watch.stamped(accept.frame, len(payloads), len(body), since, opened.rests)
        self.multicast(Batch(plane.me, None, (accept,), body, len(payloads)), opened)

    def multicast(self, batch: Batch, opened: Opened | None = None) -> None:
        """Send the next frame; `opened` is what is in it."""
        plane = self._plane
        plane.own.append(batch)
        if opened is not None:
            plane.own.opened[plane.own.received] = opened
        plane.sends.append(batch)
