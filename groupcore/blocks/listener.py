"""What an adapter calls: the callbacks of one listener, each with a default that does nothing."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeAlias

from groupcore.aio.inbox import Message
from groupcore.errors import GroupcoreError
from groupcore.events import Event, ViewInstalled

Callback: TypeAlias = Awaitable[None] | None
"""What a callback gives back: nothing, or what the adapter awaits before it goes on."""


class Listener:
    """Derive from this and override what you need. Callbacks may be plain or `async` functions.

    They are called one after the other, in the order of delivery, so one that takes long holds up
    all others; give long work to a task of your own. `stateful`: this listener keeps state that
    follows from the ordered messages alone; then it gets none of them before it has the state.
    """

    stateful = False

    def on_message(self, message: Message) -> Callback:
        """A message for this listener; `message.position` is 0 for a unicast."""

    def on_view(self, event: ViewInstalled) -> Callback:
        """A new view, at its place between the messages."""

    def on_event(self, event: Event) -> Callback:
        """Another event of the channel: `PrimaryLost`, `Excluded`, `Saved` and so on."""

    def get_state(self) -> bytes | None:
        """A copy of the state as it is at this place; None when there is none to give."""
        return None

    def set_state(self, state: bytes | None) -> None:
        """Replace the state by this one; None: nobody has any, start with an empty one.

        Raise to refuse a state that cannot be read; it is then asked for again.
        """

    def on_closed(self, error: GroupcoreError | None) -> None:
        """The channel has ended; `error` tells why when nobody asked for it."""
