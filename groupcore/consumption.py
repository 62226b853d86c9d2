"""What has come up from each sender, and how much of it the application has consumed.

A plain ledger, no time and no messages. The application says only how much it has not consumed
yet; since it consumes in the order of delivery, that is the newest part of what came up, and
everything older is consumed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from groupcore.view import Address


class Stream:
    """The multicasts of one sender, or its unicasts to this member. Costs in bytes.

    `received` has come up, `unread` of all that ever came is not consumed; the `told` pair is what
    the sender knows.
    """

    __slots__ = ("multicast", "received", "sender", "told_received", "told_unread", "unread")

    def __init__(self, sender: Address, multicast: bool) -> None:
        self.sender = sender
        self.multicast = multicast
        self.received = self.unread = 0
        self.told_received = self.told_unread = 0

    @property
    def consumed(self) -> int:
        """How much is consumed; below 0 when more waits from before the view."""
        return self.received - self.unread

    @property
    def news(self) -> int:
        """How much is consumed that the sender does not know of."""
        return self.consumed - (self.told_received - self.told_unread)

    @property
    def news_to_be(self) -> int:
        """What `news` would be if the application had consumed everything."""
        return self.received - self.told_received + self.told_unread

    def tell(self) -> tuple[int, int]:
        """What to tell the sender, who knows it from now on."""
        self.told_received, self.told_unread = self.received, self.unread
        return self.received, self.unread


class Consumption:
    """The ledger of one member."""

    __slots__ = ("_consumed", "_passed", "_settleable", "_waiting", "multicasts", "unicasts")

    def __init__(self) -> None:
        self.multicasts: dict[Address, Stream] = {}
        self.unicasts: dict[Address, Stream] = {}
        self._waiting: deque[tuple[Stream, int]] = deque()
        self._passed = 0
        self._settleable = 0
        self._consumed = 0

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Every stream of which something has come."""
        return (*self.multicasts.values(), *self.unicasts.values())

    def has_news_to_be(self, least_bytes: float) -> bool:
        """Whether a sender would have so much to hear of if the application consumed all."""
        return any(stream.news_to_be >= least_bytes for stream in self.streams)

    def stream(self, sender: Address, multicast: bool) -> Stream:
        """The stream of that sender."""
        streams = self.multicasts if multicast else self.unicasts
        stream = streams.get(sender)
        if stream is None:
            stream = streams[sender] = Stream(sender, multicast)
        return stream

    def add(self, stream: Stream, cost_bytes: int) -> None:
        """Something of the stream goes up to the application."""
        stream.received += cost_bytes
        stream.unread += cost_bytes
        self._passed += cost_bytes
        waiting = self._waiting
        if waiting and waiting[-1][0] is stream:
            cost_bytes += waiting.pop()[1]
        waiting.append((stream, cost_bytes))

    def end_turn(self) -> None:
        """The application now knows of all that has come up: `settle` may count it."""
        self._settleable = self._passed

    def settle(self, backlog_bytes: int) -> list[Stream]:
        """Everything but the newest `backlog_bytes` of what the application knows is consumed.

        The streams of which something was, some of them perhaps twice.
        """
        due = self._settleable - backlog_bytes - self._consumed
        touched: list[Stream] = []
        waiting = self._waiting
        while due > 0 and waiting:
            stream, cost_bytes = waiting.popleft()
            taken = min(cost_bytes, due)
            stream.unread -= taken
            due -= taken
            self._consumed += taken
            if taken < cost_bytes:
                waiting.appendleft((stream, cost_bytes - taken))
            touched.append(stream)
        return touched

    def begin_view(self, members: Iterable[Address]) -> None:
        """Multicasts are counted anew in each view; who has left it is forgotten."""
        staying = frozenset(members)
        self.multicasts = {m: stream for m, stream in self.multicasts.items() if m in staying}
        self.unicasts = {m: stream for m, stream in self.unicasts.items() if m in staying}
        for stream in self.multicasts.values():
            stream.received = stream.told_received = 0
