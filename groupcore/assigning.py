"""The sequencer's book of one view: what it was asked to broadcast, and what it has.

A plain container, no time and no messages. A request is accepted once, in the order of its
origin's seqnos; it gets its sequence id only when the window has room, so everything that has an
id is on its way, and what has none is simply asked for again in the next view.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from groupcore.batch import Batch
from groupcore.outgoing import Outgoing
from groupcore.view import Address
from groupcore.window import Window

Asked = tuple[Address, int, Batch]
"""Whose message, its number among those of its origin, and the message."""


class Assigning:
    """One sequencer, one view; `received`: the highest seqno ordered of each member before it."""

    __slots__ = ("accepted", "out", "unplaced", "waiting")

    def __init__(
        self, window: Window, others: Iterable[Address], received: Mapping[Address, int]
    ) -> None:
        self.accepted = dict(received)
        self.waiting: deque[Asked] = deque()
        self.out = Outgoing(window, others)
        self.unplaced = dict.fromkeys(self.out.acknowledged)

    def accept(self, origin: Address, seqno: int, batch: Batch) -> bool:
        """Take a request; False when it is not the next of its origin, a duplicate mostly."""
        if seqno != self.accepted.get(origin, 0) + 1:
            return False
        self.accepted[origin] = seqno
        self.waiting.append((origin, seqno, batch))
        return True

    def assignable(self, window_bytes: int) -> Iterator[Asked]:
        """What may get the next id now; the caller adds each to `out` before the next."""
        while self.waiting and self.out.has_room(window_bytes):
            yield self.waiting.popleft()
