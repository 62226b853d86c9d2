"""What the server needs of a channel, and nothing more.

`groupcore.aio.Channel` has it; tests use a hub of channels in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from groupcore.endpoint import Delivery
from groupcore.events import Event
from groupcore.view import Address, View

Receiver = Callable[[list[Delivery | Event]], None]
"""Takes what one loop turn has delivered, in order."""


class GroupChannel(Protocol):
    """One node's membership of the group, in total order."""

    @property
    def address(self) -> Address:
        """This life of this node."""

    async def connect(self, epoch: int = 0, position: int = 0) -> View:
        """Join; what the application's storage holds is told. Returns with the first view."""

    async def close(self) -> None:
        """Leave gracefully, bounded in time."""

    def multicast_nowait(self, payload: bytes) -> None:
        """Send to the group in order."""

    async def unicast(self, destination: Address, payload: bytes) -> None:
        """Send to one member, FIFO."""

    def synced(self, epoch: int, position: int) -> None:
        """Everything up to there is on this node's disk."""

    def counters(self) -> dict[str, int]:
        """Counters by name; drops are named `...drops.REASON`."""
