"""The log: what this node must find again after a restart, in the order in which it happened here.

Idea. Views and commands as they were applied, the frames of all streams as they were received.
The driver stores what has gathered in one commit and says so (`stored`); nothing waits for it to
be delivered. What a node has recorded is **saved** here once everything that was in its log by then
is stored; what is saved at a quorum survives the power cut of all nodes.

Source. Design, section 6; reliability.md, acknowledgement rule; decision 0026.

Invariants.
  I1  What is said to be saved is stored, with every command that it needs.
  I2  A part that is `fresh`, or a checkpoint, stands for everything before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgpack import packb

from groupcore.events import ViewInstalled
from groupcore.view import Address, View
from groupcore.wire import encode_packet, encode_value

if TYPE_CHECKING:
    from groupcore.sequencing.stream import Stream

LIFE, VIEW, COMMAND, FRAMES, OVER, STATE = range(6)
"""Kinds of entries; `groupcore.sequencing.restoring` reads them."""

Position = tuple[int, int]
"""A place in the control plane's order: an epoch, and a position in it."""


@dataclass(slots=True)
class LogPart:
    """What one turn adds to the log.

    `mark` grows by one a part. `fresh`: what was stored before goes, in the same commit.
    `checkpoint`: it contains what was stored before, which goes with the part that is `dropping`.
    """

    mark: int
    data: bytes
    fresh: bool = False
    checkpoint: bool = False
    dropping: bool = False


class Log:
    """One life's log. `saved`: how much of each stream is saved here; `place`: of the order.

    `size_bytes`: what it has grown by since it last held a whole state. `doomed`: how often
    something was found in it that is to be gone (`groupcore.sequencing.erasing`).
    """

    def __init__(self, me: Address) -> None:
        self.mark = 0
        self.stored_mark = 0
        self.place: Position = (0, 0)
        self.saved: dict[Address, int] = {}
        self.size_bytes = 0
        self.doomed = 0
        self._state_bytes = 0
        self._entries: list[list[object]] = [[LIFE, list(me)]]
        self._parts: list[LogPart] = []
        self._said: dict[Address, int] = {}
        self._pending: deque[tuple[int, Address | None, int, int]] = deque()
        self._news = False

    # --- entries --------------------------------------------------------------------------------

    def view(self, event: ViewInstalled, place: Position) -> None:
        """A view has been applied; the order stands at `place`."""
        holder = (event.holders or event.view.members)[0]
        ends = [list(holder), [[list(one), end] for one, end in event.streams.items()]]
        entry = [VIEW, encode_value(event.view, View), list(place), ends]
        if event.lacking:
            entry.append([list(member) for member in event.lacking])
        self._entries.append(entry)
        self._await(None, *place)

    def command(self, by: Address, payload: bytes, place: Position) -> None:
        """A command has been applied: the one at `place`."""
        self._entries.append([COMMAND, list(by), payload, list(place)])
        self._await(None, *place)

    def frames(self, stream: Stream) -> None:
        """The frames of a stream that are new since the last call, and how far it is recorded."""
        if stream.received <= stream.logged:
            stream.logged = stream.received
            return
        first = stream.logged + 1
        packets = [encode_packet(batch) for _, batch in stream.kept(first, stream.received)]
        if packets:
            assert len(packets) == stream.received - stream.logged, "no frame goes before its log"
            self._entries.append([FRAMES, list(stream.address), first, packets, stream.recorded])
        stream.logged = stream.received

    def more(self, streams: Iterable[Stream]) -> None:
        """Before the first view: frames that others have given, and nothing that follows of it."""
        for stream in streams:
            self.frames(stream)

    def over(self, stream: Address) -> None:
        """All have stored the stream to its end: nobody will ask for it."""
        self._entries.append([OVER, list(stream)])
        self.saved.pop(stream, None)
        self._said.pop(stream, None)

    def state(self, state: bytes, place: Position) -> None:
        """Begin anew with a node's whole state, as of `place` (I2)."""
        if self._entries:
            self._close()
        self._entries = [[STATE, state]]
        self._close(fresh=True)
        self._await(None, *place)
        self._state_bytes, self.size_bytes = len(state), 0

    def checkpoint(self, state: bytes, again_bytes: int) -> None:
        """A node's whole state, from which a restart can begin once `drop` has been said.

        `again_bytes`: what is put into the log again behind it. It counts with the state: else what
        has not been recorded for long would make the next checkpoint due at once.
        """
        if self._entries:
            self._close()
        self._entries = [[STATE, state]]
        self._close(checkpoint=True)
        self._state_bytes, self.size_bytes = len(state) + again_bytes, 0

    def drop(self) -> None:
        """What lies before the last checkpoint goes (I2)."""
        self._close(dropping=True)

    def doom(self) -> None:
        """Something in it is to be gone: with the next checkpoint that is begun."""
        self.doomed += 1

    def is_large(self, least: int) -> bool:
        """Whether the log has outgrown what it is the log of."""
        return self.size_bytes > max(least, 2 * self._state_bytes)

    # --- what is stored -------------------------------------------------------------------------

    def recorded(self, stream: Stream) -> None:
        """This node has recorded more of a stream."""
        address, frame = stream.address, min(stream.recorded, stream.received)
        if frame > self._said.get(address, -1):
            self._said[address] = frame
            self._await(address, frame, 0)

    def _await(self, address: Address | None, one: int, two: int) -> None:
        mark = self.next_mark
        if mark <= self.stored_mark:
            self._reached(address, one, two)
        else:
            self._pending.append((mark, address, one, two))

    def _reached(self, address: Address | None, one: int, two: int) -> None:
        if address is None:
            self.place = (one, two)
            self._news = True
        elif address in self._said:
            self.saved[address] = one

    def stored(self, mark: int) -> bool:
        """Everything up to this part is safely on disk (I1); whether `place` is news."""
        self._news = False
        self.stored_mark = max(mark, self.stored_mark)
        while self._pending and self._pending[0][0] <= mark:
            self._reached(*self._pending.popleft()[1:])
        return self._news

    @property
    def next_mark(self) -> int:
        """The mark that is stored when everything up to now is."""
        return self.mark + 1 if self._entries else self.mark

    def take(self, streams: Iterable[Stream]) -> list[LogPart]:
        """What is to be stored, in this order; `streams` as they are at the turn's end."""
        for stream in streams:
            self.frames(stream)
            self.recorded(stream)
        if self._entries:
            self._close()
        parts, self._parts = self._parts, []
        return parts

    def _close(self, fresh: bool = False, checkpoint: bool = False, dropping: bool = False) -> None:
        self.mark += 1
        data: bytes = packb(self._entries, use_bin_type=True)
        self._parts.append(LogPart(self.mark, data, fresh, checkpoint, dropping))
        self._entries = []
        self.size_bytes += len(data)
