"""Receiving: a frame that has come counts as received when all that it rests on is here, too.

Idea. A sequencer gives a message its number as soon as it has the frame with the one before, and
does not wait until that is held. So a frame may rest on others that few nodes have. Nobody
acknowledges it without having those: then a quorum that has the frame has them, too, and where
they are lost it is lost with them.

Source. Decision 0025.

Invariants.
  I1  What the frames rest on that a node has received it has received, or a quorum has (I4 of
      `stream`).
      What a quorum has is not rested on: for that nothing is held up (CT2 alone waits for it).
  I2  A chain goes on behind frames only that this node acknowledges: while it is stopped for a view
      change, what comes then may be in no cut.
  I3  A frame that cannot be read as a whole says nothing: no chain has got further by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.context import Numbers, decode_context
from groupcore.errors import WireError
from groupcore.sequencing.headers import Accept, stretches_of, unpack_column
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.stream import Column, Columns, Opened, Stream
from groupcore.view import Address


class Receiving:
    """The frames that have come and wait for others."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._behind: dict[Address, Stream] = {}

    def advance(self, stream: Stream) -> list[Stream]:
        """A frame of this stream has come: the streams of which more is received now."""
        self._behind[stream.address] = stream
        return self._advance_all()

    def look_again(self) -> list[Stream]:
        """The same of all streams, when more than a frame has changed."""
        for address, stream in self._plane.streams.items():
            if stream.received < stream.taken:
                self._behind[address] = stream
        return self._advance_all()

    def _advance_all(self) -> list[Stream]:
        moved: dict[Address, Stream] = {}
        again = True
        while again:
            again = False
            for address, stream in list(self._behind.items()):
                before = stream.received
                while stream.received < stream.taken and self._take_next(stream):
                    pass
                if stream.received > before:
                    moved[address] = stream
                    again = len(self._behind) > 1
                if stream.received >= stream.taken:
                    del self._behind[address]
        return list(moved.values())

    def _take_next(self, stream: Stream) -> bool:
        """Receive the next frame, if what it names is here."""
        batch = stream.next_to_receive()
        header = None if batch is None else batch.headers[-1]
        if isinstance(header, Accept) and batch is not None:
            try:
                rests = decode_context(header.rests)
                opened = Opened(decode_context(header.context), stretches_of(header), rests)
            except WireError:
                stream.received += 1  # it is counted when it is recorded
                return True
            if rests and not self._has(rests):
                return False
            self._open(stream, header, batch.count, opened)
        stream.received += 1
        return True

    def _open(self, stream: Stream, header: Accept, messages: int, opened: Opened) -> None:
        """Keep what has been read of the next frame, and go on behind its runs.

        Where its columns cannot be read it says nothing (I3).
        """
        try:
            whole = opened._replace(columns=_columns(header, messages))
        except WireError:
            return
        if stream.received >= stream.recorded:
            stream.opened[stream.received + 1] = whole
        self._note(stream, header.origins, whole)

    def _has(self, rests: Numbers) -> bool:
        """Whether all that a frame rests on is received here; what is missing is asked for."""
        for named, frame in self._missing(rests):
            if named is not None:
                named.note_last(frame)
            return False
        return True

    def _missing(self, rests: Numbers) -> Iterator[tuple[Stream | None, int]]:
        """The streams, and up to where, of which a frame names more than is received here.

        None for one of which this node has still to hear: its node is in a later view than this.
        """
        streams, gone = self._plane.streams, self._plane.gone
        for address, frame in rests.items():
            named = streams.get(address)
            if named is None:
                if address not in gone:
                    yield None, frame
            elif max(named.received, named.recorded) < named.last_of(frame):
                yield named, frame

    def closed(self, stream: Stream) -> int:
        """The last received frame up to which the stream rests on nothing that is not received."""
        for number, batch in stream.kept(stream.recorded + 1, stream.received):
            header = batch.headers[-1]
            if not isinstance(header, Accept):
                continue
            try:
                rests = decode_context(header.rests)
            except WireError:
                continue  # it is counted when it is recorded
            if any(self._missing(rests)):
                return number - 1
        return stream.received

    def _note(self, stream: Stream, origins: tuple[Address, ...], opened: Opened) -> None:
        """Whoever waits for the places of these runs goes on (I2)."""
        plane, number = self._plane, stream.received + 1
        if plane.frozen is not None and number > plane.frozen.get(stream.address, 0):
            return
        standing = (stream.address, number, opened.context)
        for process, runs, chain, by in opened.stretches:
            key = plane.senders.key_of(origins[by], process)
            plane.chains.note_received(key, chain + runs - 1, standing)


def groups_of(header: Accept, messages: int) -> Column:
    """The groups in a frame; none where it cannot be read: it is counted then, and says nothing."""
    try:
        stretches_of(header)
        decode_context(header.context)
        return _columns(header, messages)[0]
    except WireError:
        return ()


def open_frame(
    stream: Stream, header: Accept, messages: int
) -> tuple[list[tuple[int, ...]], Columns, Numbers]:
    """The stretches of a frame of so many messages, its columns, its context.

    WireError when they cannot be read: every node sets the frame aside at its number then, as it
    says so by its bytes alone.
    """
    opened = stream.opened.pop(stream.recorded, None)
    if opened is None:
        columns = _columns(header, messages)
        return stretches_of(header), columns, decode_context(header.context)
    return opened.stretches, opened.columns or _columns(header, messages), opened.context


def _columns(header: Accept, messages: int) -> Columns:
    count = len(header.groups) // 8
    columns = (
        unpack_column(header.groups, count),
        unpack_column(header.seqnos, count),
        unpack_column(header.firsts, count),
        unpack_column(header.counts, count),
    )
    if sum(columns[3]) != messages or 0 in columns[3]:
        raise WireError("bad_column", f"the runs do not have {messages} messages")
    return columns
