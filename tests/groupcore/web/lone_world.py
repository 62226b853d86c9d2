"""A world of one node, and an order for it that costs next to nothing.

What one process sends is in one order already: that in which it was sent. So nothing has to be
delayed, numbered elsewhere or waited for, and a test that asks for very much is not busy with the
simulated network. What the node sends in one turn comes back in a later one, at once.
"""

from __future__ import annotations

from groupcore.sequencing.events import (
    Delivered,
    Departed,
    Enrolled,
    Joined,
    Released,
    StateInstalled,
)
from groupcore.sequencing.names import Order
from groupcore.shared.memory import MemoryOrder, Network
from groupcore.shared.sequences import Context, Seat, Slot
from groupcore.shared.testing import Weather, World

NOTHING = Context()


class LoneOrder(MemoryOrder):
    """The order of one node's groups: none is volatile, and nobody else has them."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self._network = network
        self._sent: list[tuple[Seat, Slot]] = []

    def send(self, seat: Seat, payload: bytes) -> int:
        """See `MemoryOrder`."""
        assert seat.sequence.order is not Order.VOLATILE, "a lone node shows nothing to others"
        seat.sent += 1
        self._request(
            seat, Slot(seat.sequence.id, seat.process, seat.sent, payload, context=NOTHING)
        )
        return seat.sent

    def trim(self) -> None:
        """Nothing is kept."""

    def crash(self, node: str) -> None:
        """Nobody is left who could be told."""

    def _request(self, seat: Seat, slot: Slot) -> None:
        self._sent.append((seat, slot))
        if len(self._sent) == 1:
            self._network.carry(seat.node, "turn", self._turn, self._sent.clear)

    def _turn(self) -> None:
        """All that was sent until now is delivered; runs of one group go together."""
        sent, self._sent = self._sent, []
        at = 0
        while at < len(sent):
            seat, slot = sent[at]
            end = at + 1
            while slot.payload is not None and end < len(sent) and sent[end][0] is seat:
                if sent[end][1].payload is None:
                    break
                end += 1
            self._number_run(seat, [one for _, one in sent[at:end]])
            at = end

    def _number_run(self, seat: Seat, run: list[Slot]) -> None:
        slot, group, first = run[0], seat.sequence.id, seat.sequence.first + 1
        seat.sequence.first += len(run)
        seat.delivered = seat.sequence.first
        if slot.payload is not None:
            payloads = [one.payload for one in run if one.payload is not None]
            seat.feed(Delivered(group, first, slot.process, slot.number, payloads))
        elif slot.joined:
            seat.joined_at = first
            seat.feed(StateInstalled(group, first - 1, None))
            seat.feed(Enrolled(group, first, slot.process))
            seat.feed(Joined(group, first, slot.process))
        else:
            seat.delivered = None
            seat.feed(Departed(group, first, slot.process, False))
            seat.feed(Released(group))


class LoneWorld(World):
    """A world in which there is one node, whose groups begin with it."""

    def __init__(self, seed: int, weather: Weather | None = None) -> None:
        super().__init__(seed, weather)
        self._order = LoneOrder(self)
