"""How far a member has come in a total order: the position, and each sender's highest seqno.

A plain container, no time and no messages. Seqnos count the batches of one sender; positions count
messages. All members that deliver the same batches hold the same tables.
"""

from __future__ import annotations

from collections.abc import Iterable

from groupcore.batch import Batch
from groupcore.order_state import OrderState
from groupcore.view import Address


class OrderProgress:
    """The received-table and the position of one member."""

    __slots__ = ("opened", "position", "received")

    def __init__(self) -> None:
        self.position = 0
        self.received: dict[Address, int] = {}
        self.opened: dict[Address, int] = {}

    def take(self, batch: Batch, origin: Address, seqno: int) -> Batch | None:
        """The next batch in the order, for the layer above: its header off, its sender restored.

        None when it is not the next of its sender: it came twice. All members drop it alike.
        """
        received = self.received
        if seqno != received.get(origin, 0) + 1:
            return None
        received[origin] = seqno
        if batch.is_piece:
            self.opened.setdefault(origin, seqno - 1)
        elif self.opened:
            self.opened.pop(origin, None)
        first = self.position + 1
        self.position += batch.count
        return batch.ordered(origin, first)

    def close_bodies(self) -> None:
        """A view ends: of a body whose last piece has not come, no piece counts as received."""
        self.received = self.settled()
        self.opened = {}

    def settled(self) -> dict[Address, int]:
        """The received-table without the pieces of incomplete bodies."""
        settled = {**self.received, **self.opened}
        return {origin: seqno for origin, seqno in settled.items() if seqno}

    def keep(self, members: Iterable[Address]) -> None:
        """Forget everybody else."""
        self.received = {m: self.received[m] for m in members if m in self.received}

    def begin(self, position: int, state: OrderState | None) -> None:
        """Start anew where one was told, with the table that one was given."""
        self.position, self.opened = position, {}
        self.received = {} if state is None else dict(state.received)

    def state(self) -> OrderState:
        """What a member that joins at the end of this view must be given; a copy."""
        return OrderState(self.position, self.settled())
