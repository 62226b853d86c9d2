"""The archive: what a group's next first member begins with when all former ones are gone.

Idea. A state of the group as of some number, as its host gave it, and the runs behind it. It knows
nothing of what the messages mean. Every node with a log keeps it of every group; after a restart it
is put together again from the log. `archivists` says who keeps it of which group. A newer state
takes the place of runs: of a group whose runs outgrow its state, and, when those of all groups are
more than a node should hold and give away, of the groups whose oldest run is the oldest.

Source. Design, 4.11 and 6; decisions 0026 and 0037.

Invariants.
  I1  State and runs follow each other without a gap, up to the group's record.
  I2  A group that has runs is in `behind`, once, and `runs_bytes` is what all of them take.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from groupcore.batch import Batch, unpack_messages
from groupcore.context import Numbers, decode_context, encode_context, merge, merge_into
from groupcore.errors import WireError
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
from groupcore.view import Address, View

if TYPE_CHECKING:
    from groupcore.sequencing.stream import Frame

WIDTH = 6
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


class Archived:
    """One group: `state` as of `seqno` (None: nothing), what that depends on, the runs behind.

    The runs lie in one list, `WIDTH` values each, with the packet that they came in until they are
    looked at: there are many, and nearly always nobody ever does.
    """

    __slots__ = ("_flat", "context", "seqno", "size_bytes", "state")

    def __init__(self, seqno: int = 0, state: bytes | None = None) -> None:
        self.seqno = seqno
        self.state = state
        self.context: Numbers = {}
        self.size_bytes = 0
        self._flat: list[Any] = []

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

    def detach(self) -> None:
        """Let the packets go that the runs came in: others' messages are in them, too."""
        for _ in self.runs():
            pass

    def runs(self) -> Iterator[Kept]:
        """The runs; the packets that they came in are let go."""
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

    `behind`: those that have runs, the one whose first run came first ahead; `runs_bytes`: what all
    runs take, which is to be `total_max` at most, as far as there are hosts to give newer states.
    """

    def __init__(self, bytes_max: int, total_max: int) -> None:
        self.groups: dict[GroupId, Archived] = {}
        self.large: dict[GroupId, None] = {}
        self.behind: dict[GroupId, None] = {}
        self.runs_bytes = 0
        self.total_max = total_max
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
            one = self.groups[group] = Archived()
        if seqno + count <= one.seqno + bool(count):
            return  # the state is newer
        self.behind[group] = None
        self.runs_bytes -= one.size_bytes
        one.add(seqno, process, first, count, frame.batch, offset)
        self.runs_bytes += one.size_bytes + RUN_COST_BYTES
        if one.size_bytes > self._bytes_max and one.size_bytes > 2 * len(one.state or b""):
            self.large[group] = None
        address = frame.stream.address
        if frame.number > one.context.get(address, 0):
            one.context[address] = frame.number
        if frame.context:
            merge_into(one.context, frame.context)

    def get(self, group: GroupId) -> Archived:
        """What there is of a group."""
        return self.groups.get(group) or Archived()

    def replace(self, group: GroupId, seqno: int, state: bytes, context: Numbers) -> None:
        """A newer state: the runs up to it may go."""
        former = self.get(group)
        if seqno <= former.seqno:
            return
        one = self.groups[group] = Archived(seqno, state)
        one.context = merge(former.context, context)
        for run in former.runs():
            if run.last > seqno:
                one.keep(run)
        self.runs_bytes += one.cost_bytes - former.cost_bytes
        self.behind.pop(group, None)
        if one.cost_bytes:
            self.behind[group] = None

    def oldest(self, most: int) -> list[GroupId]:
        """Groups that are to have newer states, as all runs take too much; these come last then.

        Whose state nobody can give now keeps its messages, and nothing of others with them.
        """
        if self.runs_bytes <= self.total_max:
            return []
        chosen = list(islice(self.behind, most))
        for group in chosen:
            del self.behind[group]
            self.behind[group] = None
            self.groups[group].detach()
        return chosen

    def forget(self, group: GroupId) -> None:
        """The group is deleted."""
        one = self.groups.pop(group, None)
        if one is not None:
            self.runs_bytes -= one.cost_bytes
        self.large.pop(group, None)
        self.behind.pop(group, None)

    def clear(self) -> None:
        """Know nothing."""
        self.groups.clear()
        self.large.clear()
        self.behind.clear()
        self.runs_bytes = 0

    # What msgpack hands over is a node's own packing: Any lives here.

    def pack(self) -> list[Any]:
        """Plain values for a node's state."""
        return [
            [group, one.seqno, one.state, encode_context(one.context), list(one.runs())]
            for group, one in self.groups.items()
        ]

    def restore(self, packed: list[Any]) -> None:
        """Be what was packed."""
        self.clear()
        for group, seqno, state, context, runs in packed:
            one = self.groups[group] = Archived(seqno, state)
            one.context = decode_context(context)
            for at, (node, number), first, count, payloads in runs:
                one.keep(Kept(at, Process(Address(*node), number), first, count, payloads))
            if one.cost_bytes:
                self.behind[group] = None
                self.runs_bytes += one.cost_bytes


def archivists(group: GroupId, view: View) -> tuple[Address, ...]:
    """The members of the view that keep the group's archive: all of them."""
    del group
    return view.members
