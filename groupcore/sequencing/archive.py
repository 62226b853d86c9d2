"""The archive: what a group's next first member begins with when all former ones are gone.

Idea. A state of the group as of some number, as its host gave it, and the runs behind it. It knows
nothing of what the messages mean. Every node with a log keeps it of every group; after a restart it
is put together again from the log. `archivists` says who keeps it of which group. A newer state
takes the place of runs: of a group whose runs outgrow its state, and, when those of all groups are
more than a node should hold and give away, of the groups whose oldest run is the oldest. What
nobody can give a newer state of is put on the node's shelf, as states are.

Source. Design, 4.11 and 6; decisions 0026 and 0037.

Invariants.
  I1  State and runs follow each other without a gap, up to the group's record.
  I2  A group that has runs in memory is in `behind`, once, and `runs_bytes` is what these take.
  I3  What is not needed any more is on the shelf no longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgpack import packb, unpackb

from groupcore.batch import Batch, unpack_messages
from groupcore.context import Numbers, decode_context, encode_context, merge, merge_into
from groupcore.errors import WireError
from groupcore.sequencing import columns
from groupcore.sequencing.events import (
    Delivered,
    Departed,
    Enrolled,
    Joined,
    ServiceEvent,
    StateInstalled,
)
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.record import GONE, JOINED
from groupcore.sequencing.shelf import MemoryShelf, Shelf
from groupcore.view import Address, View

if TYPE_CHECKING:
    from groupcore.sequencing.stream import Frame

NONE: Mapping[GroupId, int] = {}
WIDTH = 6
SHELVED_LEAST_BYTES = 200
"""Smaller states stay in memory: their places on the shelf would take as much."""
TAIL_OF_BYTES = 64 << 10
"""Of a group that takes more only the end is packed where the rest is there already."""
TAIL_BYTES = 16 << 10
"""How much of it."""
RUN_COST_BYTES = 200
"""What a run takes beside its messages, in memory and in a node's state."""


class Kept(NamedTuple):
    """A run behind the state; `size` 0: a membership change, and `first` says what."""

    seqno: int
    process: Process
    first: int
    size: int
    payloads: list[bytes]

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.seqno + max(self.size, 1) - 1

    def before(self, seqno: int) -> Kept | None:
        """What of it lies before a number."""
        if self.last < seqno:
            return self
        size = seqno - self.seqno
        return self._replace(size=size, payloads=self.payloads[:size]) if size > 0 else None


class Archived:
    """One group: `state` as of `seqno` (None: nothing), what that depends on, the runs behind.

    The runs lie in one list, `WIDTH` values each, with the packet that they came in until they are
    looked at: there are many, and nearly always nobody ever does. Those that were `shelve`d come
    first: their numbers there, with the last number of a message in each. `origins`: in whose
    stream the runs stand, from which number on.
    """

    __slots__ = (
        "_flat",
        "_shelf",
        "_shelved",
        "_state",
        "context",
        "origins",
        "seqno",
        "shelved_bytes",
        "size_bytes",
        "state_bytes",
    )

    def __init__(self, shelf: Shelf, seqno: int = 0, state: bytes | None = None) -> None:
        self.seqno = seqno
        self.context: Numbers = {}
        self.origins: list[tuple[int, Address]] = []
        self.size_bytes = self.shelved_bytes = 0
        self.state_bytes = len(state or b"")
        self._shelf = shelf
        self._state: bytes | int | None = state
        self._shelved: tuple[tuple[int, int], ...] = ()
        self._flat: list[Any] = []
        if state is not None and len(state) > SHELVED_LEAST_BYTES:
            self._state = shelf.put(state)

    @property
    def state(self) -> bytes | None:
        """The state; None where there is none."""
        return self._shelf.get(self._state) if isinstance(self._state, int) else self._state

    def add(
        self, seqno: int, process: Process, first: int, count: int, batch: Batch, offset: int
    ) -> None:
        """The next run, whose messages are at `offset` in the packet's body."""
        self._flat += (seqno, process, first, count, batch, offset)
        self.size_bytes += len(batch.body) * count // max(batch.count, 1)

    def keep(self, run: Kept) -> None:
        """The next run, by itself."""
        self._flat += (*run, 0)
        self.size_bytes += sum(map(len, run.payloads))

    @property
    def cost_bytes(self) -> int:
        """What the runs take."""
        return self.size_bytes + RUN_COST_BYTES * (len(self._flat) // WIDTH)

    @property
    def size_whole_bytes(self) -> int:
        """What it takes in a node's state, on the shelf or not."""
        return self.state_bytes + self.cost_bytes + self.shelved_bytes

    @property
    def has_tail(self) -> bool:
        """Whether only its end need be packed where the rest is known."""
        has_runs = bool(self._flat or self._shelved)
        return has_runs and self.size_whole_bytes > TAIL_OF_BYTES

    def tail(self) -> list[Kept]:
        """The last runs, some `TAIL_BYTES` of them."""
        size = 0
        chosen: list[Kept] = []
        for run in reversed(list(self.runs())):
            size += RUN_COST_BYTES + sum(map(len, run.payloads))
            if chosen and size > TAIL_BYTES:
                break
            chosen.append(run)
        return chosen[::-1]

    def go_on(self, later: Archived, runs: list[Kept]) -> bool:
        """Have the last runs of a `later` copy of the same group; False if some are missing."""
        begins = runs[0].seqno
        former = [one for run in self.runs() if (one := run.before(begins)) is not None]
        last = former[-1].last if former else self.seqno
        if last + 1 < begins:
            return False
        self._flat, self._shelved, self.size_bytes, self.shelved_bytes = [], (), 0, 0
        for run in (*former, *runs):
            if run.last > self.seqno:
                self.keep(run)
        self.context = later.context
        self.origins = [one for one in self.origins if one[0] < begins] + [
            one for one in later.origins if one[0] >= begins
        ]
        return True

    def origin_at(self, seqno: int) -> int:
        """Which of `origins` a number is of."""
        later = (at for at, (begins, _) in enumerate(self.origins) if begins > seqno)
        return max(next(later, len(self.origins)) - 1, 0)

    def origin_of(self, seqno: int) -> Address | None:
        """In whose stream a number stands; None where a former version has not noted it."""
        known = self.origins and self.origins[0][0] <= seqno
        return self.origins[self.origin_at(seqno)][1] if known else None

    def shelve(self) -> None:
        """Put the runs that are in memory on the shelf."""
        if self._flat:
            runs = list(self._in_memory())
            self._shelved += ((self._shelf.put(packb(runs)), runs[-1].last),)
            self.shelved_bytes += self.cost_bytes
            self._flat, self.size_bytes = [], 0

    def drop(self) -> None:
        """It is needed no more (I3)."""
        if isinstance(self._state, int):
            self._shelf.drop(self._state)
        for number, _ in self._shelved:
            self._shelf.drop(number)

    def runs(self, behind: int = 0) -> Iterator[Kept]:
        """The runs, those behind this number at least."""
        for number, last in self._shelved:
            if last > behind:
                yield from unpack_runs(unpackb(self._shelf.get(number)))
        yield from self._in_memory()

    def _in_memory(self) -> Iterator[Kept]:
        """Those that are here; the packets that they came in are let go."""
        flat = self._flat
        for at in range(0, len(flat), WIDTH):
            source = flat[at + 4]
            if type(source) is not list:
                source = flat[at + 4] = _open(source, flat[at + 5], flat[at + 3])
            yield Kept(flat[at], flat[at + 1], flat[at + 2], flat[at + 3], source)

    def events(self, group: GroupId, before: int, me: Address) -> Iterator[ServiceEvent]:
        """What a host at `me` is told that begins with it: the state, the runs before a number."""
        yield StateInstalled(group, self.seqno, self.state)
        for run in self.runs():
            if run.seqno >= before:
                return
            if run.size:
                yield Delivered(group, run.seqno, run.process, run.first, list(run.payloads))
            elif run.first != JOINED:
                yield Departed(group, run.seqno, run.process, run.first == GONE, past=True)
            else:
                said = Enrolled if run.process.node == me else Joined
                yield said(group, run.seqno, run.process)


# What msgpack hands over is a node's own packing: Any lives here.


def unpack_runs(packed: list[Any]) -> Iterator[Kept]:
    """The runs as they were packed; WireError when they are none."""
    for run in columns.items(packed):
        seqno, (node, number), first, count, payloads = _run_items(run)
        process = Process(columns.address(node), columns.number(number))
        columns.counted(seqno, first)
        yield Kept(seqno, process, first, count, columns.blobs(payloads, columns.number(count)))


def _run_items(run: object) -> list[Any]:
    values = columns.items(run, 5)
    columns.items(values[1], 2)
    return values


def _in_row(runs: Iterable[Kept], behind: int) -> Iterator[Kept]:
    """The runs, as long as each follows its former one without a gap (I1); WireError."""
    for run in runs:
        if run.seqno > behind + 1:
            raise columns.bad("a gap between runs")
        behind = max(behind, run.last)
        yield run


def _origins(packed: object) -> list[tuple[int, Address]]:
    rows = [columns.items(one, 3) for one in columns.items(packed)]
    return [(columns.counted(begins)[0], columns.address(origin)) for begins, *origin in rows]


def _packed(group: GroupId, one: Archived, known: int | None) -> list[Any]:
    """A group; if it is large and known, its end: without a state, and marked by one item more."""
    origins = [[begins, *origin] for begins, origin in one.origins]
    context = encode_context(one.context)
    if known is not None and one.has_tail:
        tail = one.tail()
        if tail[0].seqno <= known + 1:
            return [group, one.seqno, None, context, tail, origins, True]
    return [group, one.seqno, one.state, context, list(one.runs()), origins]


def _open(batch: Batch, offset: int, count: int) -> list[bytes]:
    """A run's messages; empty ones where the body does not open, as at the members."""
    try:
        payloads = unpack_messages(batch.body)
    except WireError:
        payloads = []
    if len(payloads) != batch.count:
        payloads = [b""] * batch.count
    return payloads[offset : offset + count]


class Archive:
    """All groups of a node. `large`: those whose runs have outgrown their state.

    `is_whole`: nothing was missing of what was opened. `behind`: those that have runs, the one
    whose first run came first ahead; `runs_bytes`: what all runs take, which is to be `total_max`
    at most, as far as there are hosts to give newer states.
    """

    def __init__(self, bytes_max: int, total_max: int, shelf: Shelf | None = None) -> None:
        self.groups: dict[GroupId, Archived] = {}
        self.large: dict[GroupId, None] = {}
        self.behind: dict[GroupId, None] = {}
        self.runs_bytes = 0
        self.is_whole = True
        self.total_max = total_max
        self.shelf: Shelf = MemoryShelf() if shelf is None else shelf
        self._bytes_max = bytes_max

    def add(
        self,
        group: GroupId,
        seqno: int,
        process: Process,
        first: int,
        count: int,
        frame: Frame,
        offset: int,
    ) -> None:
        """The next run of a group has been recorded (I1)."""
        one = self.groups.get(group)
        if one is None:
            one = self.groups[group] = Archived(self.shelf)
        if seqno + count <= one.seqno + bool(count):
            return  # the state is newer
        self.behind[group] = None
        self.runs_bytes -= one.size_bytes
        one.add(seqno, process, first, count, frame.batch, offset)
        self.runs_bytes += one.size_bytes + RUN_COST_BYTES
        if one.size_bytes > self._bytes_max and one.size_bytes > 2 * one.state_bytes:
            self.large[group] = None
        address = frame.stream.address
        if not one.origins or one.origins[-1][1] != address:
            one.origins.append((seqno, address))
        if frame.number > one.context.get(address, 0):
            one.context[address] = frame.number
        if frame.context:
            merge_into(one.context, frame.context)

    def get(self, group: GroupId) -> Archived:
        """What there is of a group."""
        return self.groups.get(group) or Archived(self.shelf)

    def replace(self, group: GroupId, seqno: int, state: bytes, context: Numbers) -> None:
        """A newer state: the runs up to it may go."""
        former = self.get(group)
        if seqno <= former.seqno:
            return
        one = self.groups[group] = Archived(self.shelf, seqno, state)
        one.context = merge(former.context, context)
        one.origins = former.origins[former.origin_at(seqno) :]
        for run in former.runs(seqno):
            if run.last > seqno:
                one.keep(run)
        former.drop()
        self.runs_bytes += one.cost_bytes - former.cost_bytes
        self.behind.pop(group, None)
        if one.cost_bytes:
            self.behind[group] = None

    def oldest(self, most: int) -> list[GroupId]:
        """Groups that are to have newer states, as all runs take too much; these come last then."""
        if self.runs_bytes <= self.total_max:
            return []
        chosen = list(islice(self.behind, most))
        for group in chosen:
            del self.behind[group]
            self.behind[group] = None
        return chosen

    def shelve(self, group: GroupId) -> None:
        """Nobody can give a newer state: have the runs out of memory."""
        one = self.groups.get(group)
        if one is not None:
            self.runs_bytes -= one.cost_bytes
            one.shelve()
            self.behind.pop(group, None)

    def forget(self, group: GroupId) -> None:
        """The group is deleted."""
        one = self.groups.pop(group, None)
        if one is not None:
            self.runs_bytes -= one.cost_bytes
            one.drop()
        self.large.pop(group, None)
        self.behind.pop(group, None)

    def clear(self) -> None:
        """Know nothing."""
        for one in self.groups.values():
            one.drop()
        self.groups.clear()
        self.large.clear()
        self.behind.clear()
        self.runs_bytes = 0

    def pack(self, groups: Iterable[GroupId], known: Mapping[GroupId, int] = NONE) -> bytes:
        """These groups, as bytes for a node's state.

        Of large ones that are `known` up to a number, from an earlier part, only the end.
        """
        packed: bytes = packb(
            [
                _packed(group, one, known.get(group))
                for group in groups
                if (one := self.groups.get(group)) is not None
            ]
        )
        return packed

    def beside(self) -> Archive:
        """An empty one with the same shelf: what is packed is opened there, and counts later."""
        return Archive(self._bytes_max, self.total_max, self.shelf)

    def open(self, part: bytes | list[Any]) -> None:
        """A part of what was packed; of a group that stands in several parts the last one counts.

        Logs of earlier versions have the groups themselves, each as a part, or say nothing of the
        streams in which the runs stand. WireError when it is no part, or not of an archive.
        """
        packed = columns.items(columns.unpacked(part)) if isinstance(part, bytes) else [part]
        for row in packed:
            if not 5 <= len(columns.items(row)) <= 7:
                raise columns.bad("not a group of an archive")
            group, seqno, state, context, runs, *more = row
            columns.number(group)
            columns.counted(seqno)
            kept = decode_context(columns.blob(context))
            origins = _origins(more[0]) if more else []
            one = Archived(self.shelf, seqno, None if state is None else columns.blob(state))
            one.context, one.origins = kept, origins
            if more[1:]:
                self._open_tail(group, one, list(unpack_runs(runs)))
                continue
            try:
                for run in _in_row(unpack_runs(runs), seqno):
                    one.keep(run)
            except WireError:
                one.drop()
                raise
            self.forget(group)
            self._enter(group, one)

    def _open_tail(self, group: GroupId, later: Archived, runs: list[Kept]) -> None:
        """The end of a group that stands in an earlier part."""
        one = self.groups.get(group)
        if one is None or not runs:
            self.is_whole = False
            return
        self.runs_bytes -= one.cost_bytes
        self.is_whole &= one.go_on(later, runs)
        self._enter(group, one)

    def _enter(self, group: GroupId, one: Archived) -> None:
        self.groups[group] = one
        if one.cost_bytes:
            self.behind[group] = None
            self.runs_bytes += one.cost_bytes

    def become(self, opened: Archive) -> None:
        """Be what was opened beside this one, which is used up."""
        self.clear()
        self.groups, self.behind = opened.groups, opened.behind
        self.runs_bytes = opened.runs_bytes


def archivists(group: GroupId, view: View) -> tuple[Address, ...]:
    """The members of the view that keep the group's archive: all of them."""
    del group
    return view.members
