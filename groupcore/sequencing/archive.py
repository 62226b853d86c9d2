"""The archive: what a group's next first member begins with when all former ones are gone.

Idea. A state of the group as of some number, as its host gave it, and the runs behind it. It knows
nothing of what the messages mean. Every node with a log keeps it of every group; after a restart it
is put together again from the log. `archivists` says who keeps it of which group.

Source. Design, 4.11 and 6; decision 0026.

Invariants.
  I1  State and runs follow each other without a gap, up to the group's record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groupcore.batch import Batch, unpack_messages
from groupcore.context import Numbers, decode_context, encode_context, merge_into
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
from groupcore.sequencing.record import GONE, JOINED, Run
from groupcore.view import Address, View


class Kept:
    """A run behind the state; `count` 0: a membership change, and `first` says what."""

    __slots__ = ("_batch", "_offset", "_payloads", "count", "first", "process", "seqno")

    def __init__(
        self,
        seqno: int,
        process: Process,
        first: int,
        count: int,
        source: tuple[Batch, int] | list[bytes],
    ) -> None:
        self.seqno = seqno
        self.process = process
        self.first = first
        self.count = count
        self._payloads: list[bytes] | None = None
        self._batch: Batch | None = None
        self._offset = 0
        if isinstance(source, list):
            self._payloads = source
        else:
            self._batch, self._offset = source

    @property
    def payloads(self) -> list[bytes]:
        """Its messages; empty ones where the body does not open, as at the members."""
        if self._payloads is not None or self._batch is None:
            return self._payloads or []
        batch = self._batch
        try:
            payloads = unpack_messages(batch.body)
        except WireError:
            payloads = []
        if len(payloads) != batch.count:
            payloads = [b""] * batch.count
        return payloads[self._offset : self._offset + self.count]

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.seqno + max(self.count, 1) - 1


class Archived:
    """One group: `state` as of `seqno` (None: nothing), what that depends on, the runs behind."""

    __slots__ = ("context", "runs", "seqno", "size_bytes", "state")

    def __init__(self, seqno: int = 0, state: bytes | None = None) -> None:
        self.seqno = seqno
        self.state = state
        self.context: Numbers = {}
        self.runs: list[Kept] = []
        self.size_bytes = 0

    def events(self, group: GroupId, before: int, me: Address) -> Iterator[ServiceEvent]:
        """What a host at `me` is told that begins with it: the state, the runs before a number."""
        yield StateInstalled(group, self.seqno, self.state)
        for run in self.runs:
            if run.seqno >= before:
                return
            if run.count:
                yield Delivered(group, run.seqno, run.process, run.first, list(run.payloads))
            elif run.first != JOINED:
                yield Departed(group, run.seqno, run.process, run.first == GONE)
            else:
                said = Enrolled if run.process.node == me else Joined
                yield said(group, run.seqno, run.process)


class Archive:
    """All groups of a node. `large`: those whose runs have outgrown their state."""

    def __init__(self, bytes_max: int) -> None:
        self.groups: dict[GroupId, Archived] = {}
        self.large: dict[GroupId, None] = {}
        self._bytes_max = bytes_max

    def add(self, run: Run) -> None:
        """The next run of its group has been recorded (I1)."""
        frame = run.frame
        one = self.groups.get(run.record.group)
        if one is None:
            one = self.groups[run.record.group] = Archived()
        if run.last <= one.seqno:
            return  # the state is newer
        kept = Kept(run.seqno, run.process, run.first, run.count, (frame.batch, run.offset))
        one.runs.append(kept)
        batch = frame.batch
        one.size_bytes += len(batch.body) * run.count // max(batch.count, 1)
        if one.size_bytes > self._bytes_max and one.size_bytes > 2 * len(one.state or b""):
            self.large[run.record.group] = None
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
        one.context = {**former.context, **context}
        one.runs = [run for run in former.runs if run.last > seqno]
        one.size_bytes = sum(sum(map(len, run.payloads)) for run in one.runs)

    def forget(self, group: GroupId) -> None:
        """The group is deleted."""
        self.groups.pop(group, None)
        self.large.pop(group, None)

    # What msgpack hands over is a node's own packing: Any lives here.

    def pack(self) -> list[Any]:
        """Plain values for a node's state."""
        return [
            [
                group,
                one.seqno,
                one.state,
                encode_context(one.context),
                [[run.seqno, *run.process, run.first, run.count, run.payloads] for run in one.runs],
            ]
            for group, one in self.groups.items()
        ]

    def restore(self, packed: list[Any]) -> None:
        """Be what was packed."""
        self.groups.clear()
        for group, seqno, state, context, runs in packed:
            one = self.groups[group] = Archived(seqno, state)
            one.context = decode_context(context)
            for at, node, number, first, count, payloads in runs:
                process = Process(Address(*node), number)
                one.runs.append(Kept(at, process, first, count, payloads))
                one.size_bytes += sum(map(len, payloads))


def archivists(group: GroupId, view: View) -> tuple[Address, ...]:
    """The members of the view that keep the group's archive: all of them."""
    del group
    return view.members
