"""Knowing: up to where a stream's frames rest on what a place of the control plane's order knows.

Idea. Numbers of groups are given again where a part of the order is lost. So a frame of a group
that a log does not know counts for nothing there: it is dropped at a start (`restoring`), and a
life that was given it behind that says nothing of it to who forms a view from disk (`cut`).

Place. A predicate over one frame, and `Known`, which goes on where it has stopped.
Source. Decisions 0026, 0044 and 0187.

Invariants.
  I1  What is known names no group that is newer than the directory, and no place behind `ordered`.
  I2  What is known of all streams together rests on nothing else that has not ended.
"""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.context import Numbers, decode_context
from groupcore.digest import Digest
from groupcore.errors import WireError
from groupcore.sequencing.headers import Accept, Change
from groupcore.sequencing.names import Place
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.receiving import groups_of
from groupcore.sequencing.stream import Stream
from groupcore.view import Address


def is_known(batch: Batch, place: Place, newest_group: int) -> bool:
    """Whether the order up to this place, with groups up to that one, has what a frame names."""
    header = batch.headers[-1]
    groups: tuple[int, ...] = ()
    if isinstance(header, Accept):
        if header.place > place:
            return False
        groups = groups_of(header, batch.count)
    elif isinstance(header, Change):
        groups = (header.group,)
    return max(groups, default=0) <= newest_group


class Known:
    """Of a life that has only its log: its order stands still, so what is known only grows."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._upto: dict[Address, int] = {}

    def digest(self) -> Digest:
        """Up to where each stream that has not ended is known (I1, I2); frames are read once."""
        plane = self._plane
        open_streams = [one for one in plane.streams.values() if one.end is None]
        moved = True
        while moved:
            moved = False
            for stream in open_streams:
                before = self._of(stream)
                upto = self._upto[stream.address] = self._go_on(stream, before)
                moved = moved or upto > before
        return {one.address: min(self._of(one), one.received) for one in open_streams}

    def _of(self, stream: Stream) -> int:
        """What was found; all that a state contains is known."""
        return max(self._upto.get(stream.address, 0), stream.base, stream.recorded)

    def _go_on(self, stream: Stream, upto: int) -> int:
        """The last frame, from there on, behind which comes what is not known."""
        plane = self._plane
        newest = plane.directory.newest_group
        for number, batch in stream.kept(upto + 1, stream.received):
            if not is_known(batch, plane.ordered, newest) or not self._rests(batch):
                return upto
            upto = number
        return upto

    def _rests(self, batch: Batch) -> bool:
        """Whether all that a frame rests on is known; who cannot read that rests on nothing."""
        header = batch.headers[-1]
        if not isinstance(header, Accept) or not header.rests:
            return True
        try:
            rests: Numbers = decode_context(header.rests)
        except WireError:
            return True
        streams = self._plane.streams
        for address, number in rests.items():
            stream = streams.get(address)
            if stream is None:
                if address not in self._plane.gone:
                    return False
            elif stream.end is None and self._of(stream) < number:
                return False
        return True
