"""Fragmentation: bodies larger than a datagram travel in pieces.

Idea. A body above the limit is cut into numbered pieces that go down one after the other in one
step, each with the headers of the whole. Below is a FIFO layer, so the pieces of one sender
arrive in order and a receiver has at most one incomplete body for each sender and kind of cast.
Only the last piece counts messages, so a position in the order is the number of a message.

Place. Above the layers that repair multicasts and unicasts. Above NAKACK and below SEQUENCER, all
pieces of a multicast get their numbers in one step, so they lie in one view. Above TOTAL each
piece has a place in the order, and TOTAL sends all pieces of an incomplete body again in the next
view. So what is incomplete when a view ends is dropped, at every member alike.

Source. JGroups FRAG2; docs/threats.md, T8 (limits before allocation).

Invariants.
  I1  A body arrives whole, with the headers that it left with, or not at all.
  I2  A piece that does not continue what is here drops both; memory stays below the limits.
  I3  Nothing incomplete crosses a view.
  I4  The whole has the count and the position of its last piece; the other pieces count nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Up
from groupcore.events import Event, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.view import Address

FRAGMENTS_MAX = 1024
MESSAGE_BYTES_MAX = 16 << 20


@travels(14)
@dataclass(slots=True)
class Fragment(Header):
    """Sender to receivers: piece `index` (from 0) of `total` of one body."""

    kind: ClassVar[str] = "fragmentation.fragment"
    index: int
    total: int

    @property
    def continues(self) -> bool:
        """Whether it is not the first piece: a body begins and ends in one view."""
        return self.index > 0


@dataclass(slots=True)
class Partial:
    """A body of which some pieces are here."""

    total: int
    pieces: list[bytes]
    size_bytes: int


class Fragmentation(Layer):
    """Cuts and joins bodies."""

    name = "FRAG"
    headers = (Fragment,)
    hears = (ViewInstalled,)
    provides = frozenset({"large messages"})
    requires_below = frozenset({"reliable multicast", "reliable unicast"})

    def __init__(self, body_bytes_max: int) -> None:
        self.body_bytes_max = body_bytes_max
        self.partial: dict[tuple[Address, bool], Partial] = {}
        self.dropped = 0

    @property
    def body_limit_bytes(self) -> int:
        """Largest body that can be cut into as many pieces as there may be."""
        return min(MESSAGE_BYTES_MAX, self.body_bytes_max * FRAGMENTS_MAX)

    def counters(self) -> dict[str, int]:
        """Pieces dropped, and bodies that are incomplete."""
        return {"dropped": self.dropped, "incomplete": len(self.partial)}

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """Cut what is too large for a datagram."""
        size = self.body_bytes_max
        if batch.size_bytes <= size or not batch.reliable:
            return [Down(batch)]
        assert batch.size_bytes <= self.body_limit_bytes, "the endpoint has checked the size"
        total = -(-batch.size_bytes // size)
        body = bytes(batch.body)
        return [
            Down(
                Batch(
                    batch.sender,
                    batch.destination,
                    (*batch.headers, Fragment(index, total)),
                    body[index * size : (index + 1) * size],
                    batch.count if index == total - 1 else 0,
                )
            )
            for index in range(total)
        ]

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """Join the pieces; pass the whole on."""
        header = batch.headers[-1]
        assert isinstance(header, Fragment)
        key = (batch.sender, batch.destination is None)
        partial = self.partial.pop(key, None)
        if header.index == 0:
            partial = Partial(header.total, [], 0)
        if self.does_not_fit(header, partial, batch.size_bytes):
            self.dropped += 1
            return []
        assert partial is not None
        partial.pieces.append(batch.body)
        partial.size_bytes += batch.size_bytes
        if len(partial.pieces) < partial.total:
            self.partial[key] = partial
            return []
        whole = batch.without_header()
        whole.body = b"".join(partial.pieces)
        whole.position = batch.position
        return [Up(whole)]

    def does_not_fit(self, header: Fragment, partial: Partial | None, size_bytes: int) -> bool:
        """May come, must not count: no beginning, another body, too many, too large (I2)."""
        if partial is None or not 1 <= header.total <= FRAGMENTS_MAX:
            return True
        if header.total != partial.total or header.index != len(partial.pieces):
            return True
        return partial.size_bytes + size_bytes > MESSAGE_BYTES_MAX

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """A view ends: drop what is incomplete (I3); unicasts of those who stay go on."""
        if isinstance(event, ViewInstalled):
            self.partial = {
                (sender, multicast): partial
                for (sender, multicast), partial in self.partial.items()
                if not multicast and sender in event.view.members
            }
        return []
