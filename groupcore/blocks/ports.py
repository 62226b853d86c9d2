"""What a building block needs of a channel; `groupcore.aio.Channel` has it.

Blocks are written against this, so that a test can play the channel and decide what arrives when.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from groupcore.aio.inbox import Message
from groupcore.aio.states import StateProvider
from groupcore.aio.transfer_keys import Secret
from groupcore.events import Event
from groupcore.view import Address, View


class GroupChannel(Protocol):
    """One member of one group, as blocks see it."""

    state_provider: StateProvider | None

    @property
    def view(self) -> View | None:
        """The present view, None outside."""
        ...

    @property
    def address(self) -> Address:
        """This member's present life."""
        ...

    @property
    def primary(self) -> bool:
        """Whether this member takes part in the order now."""
        ...

    async def connect(self, epoch: int = 0, position: int = 0) -> View:
        """Join the group, telling what the own storage holds."""
        ...

    async def close(self) -> None:
        """Leave the group."""
        ...

    async def multicast(self, payload: bytes) -> None:
        """Send to the group in the total order; waits while that is not possible."""
        ...

    async def unicast(self, destination: Address, payload: bytes) -> None:
        """Send to one member of the view."""
        ...

    def events(self) -> AsyncIterator[Message | Event]:
        """What is delivered, in its order, for one reader."""
        ...

    async def get_state(self, provider: Address | None = None, timeout_s: float = 10.0) -> bool:
        """Take the state from a member; it comes as a `SetState` among the events."""
        ...


class SealedChannel(GroupChannel, Protocol):
    """A channel for a block that makes connections of its own."""

    @property
    def node_id(self) -> str:
        """This node's own id."""
        ...

    @property
    def secret(self) -> Secret:
        """What connections between the cluster's nodes are sealed with."""
        ...
