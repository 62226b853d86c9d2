"""The inbox of a channel that is read by iteration: messages and events in one order, bounded."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from groupcore.aio.errors import ReaderTooSlowError
from groupcore.aio.unread import Unread
from groupcore.batch import MESSAGE_COST_BYTES
from groupcore.endpoint import Delivery
from groupcore.errors import GroupcoreError
from groupcore.events import (
    Congested,
    Event,
    Excluded,
    Left,
    PrimaryLost,
    PrimaryRegained,
    Refused,
    Saved,
    ViewInstalled,
)
from groupcore.transfer.events import GetApplicationState, SetState
from groupcore.view import Address

log = logging.getLogger(__name__)

INBOX_ITEMS_MAX = 1 << 20
"""Most messages and events that may wait for the reader."""

APPLICATION_EVENTS = (
    Congested,
    Excluded,
    Left,
    PrimaryLost,
    PrimaryRegained,
    Refused,
    Saved,
    SetState,
    ViewInstalled,
)
"""What of a stack's events concerns the application."""


@dataclass(slots=True)
class Message:
    """One message: who multicast it, its place in the total order (0: unicast), its bytes."""

    origin: Address
    payload: bytes
    position: int


class Inbox:
    """What was delivered and not yet read, for one reader.

    A request for a copy of the state waits in line too: `on_copy` is called with it when the reader
    asks for what follows it, so when the application has done with all that came before.
    """

    def __init__(self, on_copy: Callable[[GetApplicationState], None] | None = None) -> None:
        self._on_copy = on_copy
        self._items: deque[Message | Event] = deque()
        self._filled = asyncio.Event()
        self._closed = False
        self._error: GroupcoreError | None = None
        self._unread = Unread()
        self.on_relief: Callable[[], None] | None = None

    def backlog_bytes(self) -> int:
        """What is here and not read, as flow control counts it; `on_relief` tells of half of it."""
        return self._unread.backlog_bytes(len(self._items))

    def put(self, deliveries: list[Delivery | Event]) -> None:
        """Add what a turn has delivered; ReaderTooSlowError when it is too much to keep."""
        items = self._items
        unread = self._unread
        for item in deliveries:
            if isinstance(item, Event):
                items.append(item)
                unread.add(1, 0)
                continue
            payloads = item.payloads
            count = len(payloads)
            unread.add(count, sum(map(len, payloads)) + MESSAGE_COST_BYTES * count)
            if item.position:
                items.extend(
                    Message(item.origin, payload, position)
                    for position, payload in enumerate(item.payloads, item.position)
                )
            else:
                items.extend(Message(item.origin, payload, 0) for payload in item.payloads)
        self._filled.set()
        if len(items) > INBOX_ITEMS_MAX:
            raise ReaderTooSlowError(
                f"{len(items)} messages wait to be read, at most {INBOX_ITEMS_MAX} may; "
                "the channel is closed"
            )

    def close(self, error: GroupcoreError | None = None) -> None:
        """End the iteration when all was read; with an error, it is raised there."""
        self._closed = True
        self._error = self._error or error
        self._filled.set()

    async def read(self) -> AsyncIterator[Message | Event]:
        """Everything in its order, until the channel is closed."""
        while True:
            while self._items:
                item = self._items.popleft()
                if type(item) is not GetApplicationState:
                    yield item
                elif self._on_copy is not None:
                    self._on_copy(item)
                if len(self._items) == self._unread.wake_at and self.on_relief is not None:
                    self.on_relief()
            if self._closed:
                if self._error is not None:
                    raise self._error
                return
            self._filled.clear()
            await self._filled.wait()


class Outlet:
    """Where a channel's deliveries go: to the receiver if there is one, else into the inbox."""

    def __init__(
        self,
        name: str,
        inbox: Inbox,
        receiver: Callable[[list[Delivery | Event]], None] | None,
        fail: Callable[[GroupcoreError], None],
    ) -> None:
        self._name = name
        self._inbox = inbox
        self._receiver = receiver
        self._fail = fail

    def hand_over(self, passed: list[Delivery | Event]) -> None:
        """Hand over in this order; a receiver that raises is logged and goes on."""
        if not passed:
            return
        if self._receiver is None:
            try:
                self._inbox.put(passed)
            except ReaderTooSlowError as error:
                self._fail(error)
            return
        try:
            self._receiver(passed)
        except Exception:
            log.exception("the receiver of %s failed", self._name)
