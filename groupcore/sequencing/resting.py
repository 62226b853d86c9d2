"""Resting: a frame is recorded behind what it rests on.

Idea. What a node has recorded counts as saved there once its log is stored up to then, and its
next life drops the frames of groups that the log does not know, with all that rests on those. A
frame may rest on one that is here and whose group this node has still to hear of. If it was
recorded before that one, a node could drop what it has said to be saved.

Source. Decision 0044.

Invariants.
  I1  All that a recorded frame rests on is recorded, or its stream has ended: so the log knows it.
"""

from __future__ import annotations

from groupcore.context import Numbers, decode_context
from groupcore.errors import WireError
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.stream import Stream
from groupcore.view import Address


class Resting:
    """The streams whose next frame is held, and rests on what is not recorded."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._waiting: dict[Address, None] = {}

    def is_next(self, stream: Stream, header: Accept) -> bool:
        """Whether what the frame that is recorded next rests on is on record (I1).

        Where a stream has ended, that was in a view's cut, and what it rests on as well: this node
        had heard of all those groups when it heard of the view.
        """
        if not header.rests or stream.end is not None:
            return True
        streams = self._plane.streams
        for address, number in _rests_of(stream, header).items():
            named = streams.get(address)
            if named is not None and named.recorded < named.last_of(number):
                self._waiting[stream.address] = None
                return False
        return True

    def take(self) -> list[Stream]:
        """Those that have waited: they are looked at again."""
        waiting, self._waiting = self._waiting, {}
        streams = self._plane.streams
        return [streams[address] for address in waiting if address in streams]


def _rests_of(stream: Stream, header: Accept) -> Numbers:
    """On what the frame rests that is recorded next; on nothing where that cannot be read."""
    opened = stream.opened.get(stream.recorded)
    try:
        return decode_context(header.rests) if opened is None else opened.rests
    except WireError:
        return {}
