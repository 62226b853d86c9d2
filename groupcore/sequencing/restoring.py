"""Restoring: a new life takes over what the log of the former ones holds.

Idea. Views and commands are applied again, as they came. Frames are only kept: those of a stream
that has ended are recorded up to its end, the others wait until the next view has agreed on theirs.
So nothing is recorded here that others might not know of; and a node that has to take the state of
another one still has its own frames, and offers them. A log with the state of many groups is taken
over in steps, so that whoever has other things to do in the same loop does them in between.

Source. Decision 0026.

Invariants.
  I1  A frame is kept only if the log knows the groups in it, and goes as far in the order as the
      place that it names (`knowing`): no group is mistaken for a later one, or given what it would
      not be.
      None of those is dropped that this node has said to have saved (decision 0044).
  I2  Restored, the node is where its log ends: directory, records, archive, all kept frames.
  I3  Who keeps a frame keeps what it rests on: else the others could never have it, and a view
      whose cut holds it would never begin.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

from msgpack import unpackb
from msgpack.exceptions import UnpackException

from groupcore.errors import WireError
from groupcore.sequencing.chains import Chains
from groupcore.sequencing.directory_changes import (
    Change as DirectoryChange,
)
from groupcore.sequencing.directory_changes import (
    GroupCreated,
    GroupDeleted,
    StreamEnded,
)
from groupcore.sequencing.judging import applied, judged, set_aside
from groupcore.sequencing.knowing import is_known
from groupcore.sequencing.log import COMMAND, FRAMES, LIFE, OVER, STATE, VIEW, Position
from groupcore.sequencing.logged_frames import logged_frame
from groupcore.sequencing.names import SEQNO_MAX, Place
from groupcore.sequencing.node_state import Taking
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.receiver import Receiver
from groupcore.sequencing.receiving import Receiving
from groupcore.sequencing.record import Record
from groupcore.sequencing.stream import Stream
from groupcore.view import Address, View
from groupcore.wire import decode_value


class Restoring:
    """Fills the tables of a new life. `place` is that of the directory, 0 and 0 without a log."""

    def __init__(self, plane: Plane, receiver: Receiver) -> None:
        self._plane = plane
        self._receiver = receiver
        self._receiving = Receiving(plane)
        self._over: list[Address] = []
        self.place = Place(0, 0)

    def steps(self, parts: Iterable[bytes]) -> Iterator[None]:
        """Take over a log, oldest part first, an entry or a slice of a state a step.

        All of it has to be run through before anything else is done with the tables. WireError
        where it is none.
        """
        size = 0
        for at, part in enumerate(parts):
            try:
                yield from self._part(part, at)
            except (UnpackException, ValueError, TypeError, LookupError, RecursionError) as error:
                raise WireError("bad_log", f"part {at + 1}: {error!r}"[:120]) from None
            size += len(part) if at else 0
        if self._plane.log is not None:
            self._plane.log.size_bytes = size
        yield from self._cut([one for one in self._plane.streams.values() if one.end is None])
        self._record()

    def _part(self, part: bytes, at: int) -> Iterator[None]:
        """The part at this place; checksums hold of it, so what is wrong in it a build has made."""
        for kind, *entry in unpackb(part, strict_map_key=False):
            if kind != STATE:
                self._entry(kind, entry)
            elif at == 0:  # a later one has not become the beginning
                yield from self._on_state(entry[0])
            yield

    def _entry(self, kind: int, entry: list[Any]) -> None:
        plane = self._plane
        if kind == LIFE:
            plane.stream(_address(entry[0])).start(0)
        elif kind == VIEW:
            plane.place = _position(entry[1])
            self._on_view(decode_value(entry[0], View), *entry[2:])
        elif kind == COMMAND:
            plane.place = _position(entry[2])
            self.place = Place(self.place.view, self.place.commands + 1)
            self._on_command(_address(entry[0]), entry[1])
        elif kind == FRAMES:
            self._on_frames(_address(entry[0]), _number(entry[1]), entry[2])
        elif kind == OVER:
            self._over.append(_address(entry[0]))
        else:
            raise WireError("bad_log", f"an entry of kind {kind}")

    def _on_state(self, state: bytes) -> Iterator[None]:
        forget_records(self._plane)
        taking = Taking(self._plane, state)
        while not taking.step():
            yield
        self.place = taking.finish()

    def _on_view(
        self, view: View, ends: list[Any] | None, lacking: Sequence[list[Any]] = ()
    ) -> None:
        plane = self._plane
        former = plane.directory.view
        gone = [m for m in (former.members if former else ()) if m not in view.members]
        self.place = Place(view.number, 0)
        plane.gone.update(gone)
        for member in view.members:
            plane.stream(member).start(0)
        self._act(plane.directory.on_view(view, gone, [_address(one) for one in lacking]))
        if ends is not None:
            holder, streams = ends
            cut = {_address(address): _number(end) for address, end in streams}
            self._act(plane.directory.end_streams(cut, _address(holder)))

    def _on_command(self, by: Address, payload: bytes) -> None:
        plane = self._plane
        changes: list[DirectoryChange] = []
        command, _, error = judged(payload)
        if command is not None:
            changes, error = applied(plane.directory, command, by)
        if error is not None:  # it was then, too
            set_aside(plane, by, self.place, error)
        self._act(changes)

    def _act(self, changes: list[DirectoryChange]) -> None:
        plane = self._plane
        for change in changes:
            match change:
                case GroupCreated(group, _, order):
                    if group not in plane.records:
                        plane.records[group] = Record(group, order)
                case GroupDeleted(group):
                    plane.records.pop(group, None)
                    if plane.archive is not None:
                        plane.archive.forget(group)
                    if plane.log is not None:
                        plane.log.doom()  # what was sent to it is in the log
                case StreamEnded(address, frame):
                    plane.stream(address).finish(frame)

    def _on_frames(self, address: Address, first: int, packets: list[bytes]) -> None:
        stream = self._plane.stream(address)
        for number, packet in enumerate(packets, first):
            stream.take(number, logged_frame(packet, address))
        for moved in self._receiving.advance(stream):
            moved.logged = moved.received

    def _cut(self, streams: list[Stream]) -> Iterator[None]:
        """Keep what the log knows (I1), and of that what rests on nothing that is not kept (I3)."""
        for stream in streams:
            stream.cut(self._known(stream))
            yield
        ends: list[int] | None = None
        while ends != (ends := (yield from self._closed(streams))):
            for stream, end in zip(streams, ends, strict=True):
                stream.cut(end)

    def _closed(self, streams: list[Stream]) -> Generator[None, None, list[int]]:
        """Up to where each stream rests on nothing that is not kept."""
        ends = []
        for stream in streams:
            ends.append(self._receiving.closed(stream))
            yield
        return ends

    def _known(self, stream: Stream) -> int:
        """The last frame before one that rests on what the log does not know (I1)."""
        newest = self._plane.directory.newest_group
        for number, batch in stream.kept(stream.recorded + 1, stream.received):
            if not is_known(batch, self.place, newest):
                return number - 1
        return stream.received

    def _record(self) -> None:
        """Streams that have ended: up to their end (I2)."""
        plane = self._plane
        plane.ready, plane.ordered = True, self.place
        for stream in list(plane.streams.values()):
            if stream.end is not None:
                self._receiver.record(stream)
        plane.ready = False
        for address in self._over:
            plane.streams.pop(address, None)
            plane.gone.add(address)


def forget_streams(plane: Plane) -> None:
    """This node joins, and takes another one's state: it forgets its frames.

    What is missing of the streams that go on is not to be had any more from where the log ends, and
    what was in the view's cut is in the state.
    """
    for address in [one for one in plane.streams if one != plane.me]:
        del plane.streams[address]


def forget_records(plane: Plane) -> None:
    """Another node's state comes in the place of one's own; frames are kept."""
    plane.records.clear()
    plane.chains = Chains()
    plane.early = 0
    if plane.archive is not None:
        plane.archive.clear()
    for address, stream in plane.streams.items():
        if address != plane.me:
            stream.rewind()


def _address(value: object) -> Address:
    """A node; WireError. What is no name or number is found here, not where it is looked up."""
    address: Address = decode_value(value, Address)
    return address


def _number(value: object) -> int:
    """A number of a frame; WireError."""
    if type(value) is not int or not 0 <= value <= SEQNO_MAX:
        raise WireError("bad_log", "not a number of a frame")
    return value


def _position(value: object) -> Position:
    """A place in the control plane's order: its epoch and number; WireError."""
    match value:
        case [int(epoch), int(position)]:
            return epoch, position
    raise WireError("bad_log", "not a place in the order")
