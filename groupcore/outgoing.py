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
    """What this member multicasts in one view, to `others`."""

    __slots__ = ("acknowledged", "in_flight_bytes", "sent", "stable", "window")

    def __init__(self, window: Window, others: Iterable[Address]) -> None:
        self.window = window
        self.acknowledged = dict.fromkeys(others, 0)
        self.sent = 0
        self.stable = 0
        self.in_flight_bytes = 0

    @property
    def alone(self) -> bool:
        """Whether there is nobody to send to."""
        return not self.acknowledged

    @property
    def all_hold(self) -> bool:
        """Whether everybody holds everything that has a number."""
        return self.stable == self.window.highest

    def add(self, batch: Batch) -> int:
        """Number the batch; it is held, and counts as delivered, here at once."""
        seqno = self.window.highest + 1
        self.window.delivered = seqno
        self.window.add(seqno, batch)
        return seqno

    def sendable(self, window_bytes: int) -> Iterator[tuple[int, Batch]]:
        """What may be sent now, in order; each counts as in flight when it is taken."""
        while self.sent < self.window.highest and (
            self.in_flight_bytes < window_bytes or self.alone
        ):
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

    def _settle(self, stable: int) -> None:
        for seqno in range(self.stable + 1, stable + 1):
            self.in_flight_bytes -= self.window.batches[seqno].size_bytes
        self.stable = stable
