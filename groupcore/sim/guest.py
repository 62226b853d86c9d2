"""What else runs on a simulated node, beside the stack and its application."""

from __future__ import annotations

from typing import Protocol

from groupcore.endpoint import Endpoint, Turn


class Guest(Protocol):
    """One for all lives of a node; it hears of each, and has its say in every turn.

    `keeps_state`: what a new life has to get is the guest's, who says when it is there.
    """

    keeps_state: bool

    def may_start(self) -> bool:
        """Whether the next life may begin already."""

    def begin_life(self, endpoint: Endpoint) -> tuple[int, int] | None:
        """A life begins, with this endpoint; how much of the order it has, None: the journal's."""

    def end_life(self, goes_on: bool) -> None:
        """The life is over; nothing of it is kept. `goes_on`: the process has another one."""

    def view(self) -> None:
        """A view has been written down."""

    def feed(self, now: float) -> None:
        """A turn is about to end: hand over what has been asked for since the last one."""

    def store(self, turn: Turn) -> None:
        """A turn has ended: store the data plane's log; the records follow."""

    def hear(self, turn: Turn) -> None:
        """A turn has ended and this is what it has caused."""


class NoGuest:
    """Nothing else runs there."""

    keeps_state = False

    def may_start(self) -> bool:
        """See `Guest`."""
        return True

    def begin_life(self, endpoint: Endpoint) -> tuple[int, int] | None:
        """See `Guest`."""
        return None

    def store(self, turn: Turn) -> None:
        """See `Guest`."""

    def end_life(self, goes_on: bool) -> None:
        """See `Guest`."""

    def view(self) -> None:
        """See `Guest`."""

    def feed(self, now: float) -> None:
        """See `Guest`."""

    def hear(self, turn: Turn) -> None:
        """See `Guest`."""
