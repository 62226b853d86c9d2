"""A sender's own multicasts of one view: numbered, in flight, held by all.

A plain container, no time and no messages. A batch gets its number when it is added, so all that
is added in one step lies in one view; it is sent when the window has room, and it is in flight
until every other member has acknowledged it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groupcore.batch import Batch
from groupcore.view import Address
from groupcore.window import Window


class Outgoing:
    """What this member multicasts in one view, to `others`; `window` is still empty."""

    __slots__ = ("acknowledged", "beyond", "in_flight_bytes", "sent", "stable", "window")

    def __init__(self, window: Window, others: Iterable[Address]) -> None:
        self.window = window
        self.acknowledged = dict.fromkeys(others, window.highest)
        self.beyond: dict[int, set[Address]] = {}
        self.sent = window.highest
        self.stable = window.highest
        self.in_flight_bytes = 0

    @property
    def alone(self) -> bool:
        """Whether there is nobody to send to."""
        return not self.acknowledged

    @property
    def all_hold(self) -> bool:
        """Whether everybody holds everything that has a number."""
        return self.stable == self.window.highest

    @property
    def waits(self) -> bool:
        """Whether something has a number and no room in the window."""
        return self.sent < self.window.highest

    def add(self, batch: Batch) -> int:
        """Number the batch; it is held here at once. The number is returned."""
        seqno = self.window.highest + 1
        self.window.add(seqno, batch)
        return seqno

    def has_room(self, window_bytes: int) -> bool:
        """Whether another batch may be sent now."""
        return self.in_flight_bytes < window_bytes or self.alone

    def sendable(self, window_bytes: int) -> Iterator[tuple[int, Batch]]:
        """What may be sent now, in order; each counts as in flight when it is taken."""
        while self.sent < self.window.highest and self.has_room(window_bytes):
            self.sent += 1
            batch = self.window.batches[self.sent]
            self.in_flight_bytes += batch.size_bytes
            yield self.sent, batch
        if self.alone:
            self.settle_to(self.sent, self.sent)

    def acknowledge(self, member: Address, received: int) -> bool:
        """The member holds everything up to a number; False when that is no news."""
        if received <= self.acknowledged.get(member, received):
            return False
        self.acknowledged[member] = min(received, self.sent)
        return True

    def acknowledge_one(self, member: Address, seqno: int) -> bool:
        """The member holds one batch beyond a gap; False when that is no news.

        What everybody holds one way or the other is not in flight any more, so the loss of one
        batch does not close the window. It is kept all the same until the gap before it is closed.
        """
        if not self.acknowledged.get(member, seqno) < seqno <= self.sent:
            return False
        holders = self.beyond.setdefault(seqno, set())
        if member in holders:
            return False
        holders.add(member)
        self._free(seqno, holders)
        return True

    def holds(self, member: Address, seqno: int) -> bool:
        """Whether the member has acknowledged this batch."""
        up_to = self.acknowledged.get(member, 0)
        return seqno <= up_to or member in self.beyond.get(seqno, ())

    def settle(self) -> bool:
        """Let go of what everybody has acknowledged; False when that is no news."""
        stable = min(self.acknowledged.values(), default=0)
        return self.settle_to(stable, stable)

    def settle_to(self, stable: int, collectable: int) -> bool:
        """Everybody holds all up to `stable`; keep what is above `collectable`.

        False when that opens nothing. What was not sent yet is held by nobody else.
        """
        stable = min(stable, self.sent)
        grows = stable > self.stable
        if grows:
            self._settle(stable)
        self.window.purge(min(collectable, stable))
        return grows

    def _free(self, seqno: int, holders: set[Address]) -> None:
        """Out of flight, once and for all, when everybody holds it: all are its holders then."""
        if all(self.holds(member, seqno) for member in self.acknowledged):
            holders.update(self.acknowledged)
            self.in_flight_bytes -= self.window.batches[seqno].size_bytes

    def _settle(self, stable: int) -> None:
        everybody = len(self.acknowledged)
        for seqno in range(self.stable + 1, stable + 1):
            holders = self.beyond.pop(seqno, None) if self.beyond else None
            if holders is None or len(holders) < everybody:
                self.in_flight_bytes -= self.window.batches[seqno].size_bytes
        self.stable = stable
