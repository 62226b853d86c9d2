"""The gate of a channel: whether a message may be sent now, waits, or is refused.

Ordered messages wait while the group is congested. Outside the primary view they wait too, or are
refused, as the application chooses; what is there can be read all the time.
"""

from __future__ import annotations

import asyncio

from groupcore.aio.lives import Lives
from groupcore.aio.node import Node
from groupcore.errors import (
    ChannelClosedError,
    GroupcoreError,
    MessageTooLargeError,
    NotPrimaryError,
    SettingsError,
)
from groupcore.events import (
    Congested,
    Event,
    Excluded,
    PrimaryLost,
    PrimaryRegained,
    ViewInstalled,
)
from groupcore.view import View

WHEN_NOT_PRIMARY = ("wait", "fail")
"""What an ordered send does outside the primary view."""


class Gate:
    """What decides on sending; `sending` is the node while nothing stands against it."""

    def __init__(self, lives: Lives, when_not_primary: str) -> None:
        """SettingsError when `when_not_primary` is not one of `WHEN_NOT_PRIMARY`."""
        if when_not_primary not in WHEN_NOT_PRIMARY:
            raise SettingsError(
                f"when_not_primary {when_not_primary!r} is none of {', '.join(WHEN_NOT_PRIMARY)}"
            )
        self.view: View | None = None
        self.primary = False
        self.sending: Node | None = None
        self.error: GroupcoreError | None = None
        self._lives = lives
        self._fails = when_not_primary == "fail"
        self._connected = False
        self._congested = False
        self._changed = asyncio.Event()

    def open(self) -> None:
        """The channel connects: sends may wait from now on."""
        self._connected = True

    def close(self, error: GroupcoreError | None = None) -> None:
        """Nothing is sent any more; whoever waits is told."""
        self._connected = False
        self.error = self.error or error
        self.view = None
        self.primary = False
        self.sending = None
        self._changed.set()

    def on_event(self, event: Event) -> None:
        """What may open or shut the gate."""
        match event:
            case ViewInstalled(view):
                self.view = view
                self.primary = True
                self._congested = False if event.fresh else self._congested
            case PrimaryLost():
                self.primary = False
            case PrimaryRegained():
                self.primary = True
            case Congested(on):
                self._congested = on
            case Excluded():
                self.view = None
                self.primary = self._congested = False
        free = self.primary and self.view is not None and not self._congested
        self.sending = self._lives.node if free else None
        self._changed.set()

    async def passed(self) -> None:
        """Wait until ordered messages may be sent; ChannelClosedError, NotPrimaryError."""
        while self.sending is None:
            self.check_open()
            if self._fails and not self.primary:
                raise NotPrimaryError(
                    "this member is outside the primary view; send again after PrimaryRegained or "
                    "a new view, or let sends wait with when_not_primary='wait'"
                )
            self._changed.clear()
            await self._changed.wait()

    async def uncongested(self) -> None:
        """Wait while too much is on the way; ChannelClosedError."""
        while self._congested:
            self.check_open()
            self._changed.clear()
            await self._changed.wait()

    def check_open(self) -> None:
        """ChannelClosedError unless the channel is connected, or about to be."""
        if self.error is not None:
            raise ChannelClosedError(f"the channel has ended: {self.error}")
        if not self._connected:
            raise ChannelClosedError("the channel is not connected; connect it before sending")

    def living(self, payload: bytes) -> Node:
        """The node that can send this message now, if the caller does not mind congestion."""
        self.check_open()
        bytes_max = self._lives.message_bytes_max
        if len(payload) > bytes_max:
            raise MessageTooLargeError(
                f"a message of {len(payload)} bytes is above {bytes_max}; split it"
            )
        node = self._lives.node
        if node is None or self.view is None:
            raise NotPrimaryError("this member is in no view now; send when it has one again")
        return node
