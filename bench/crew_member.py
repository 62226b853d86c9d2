"""One process of a crew: a member that sends at a steady rate and notes what happens when.

Times are nanoseconds of the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from groupcore.aio import Channel
from groupcore.aio.allocator import keep_freed_memory
from groupcore.endpoint import Delivery
from groupcore.events import Event, Excluded, ViewInstalled
from groupcore.peers import SocketAddress
from groupcore.stacks import DEFAULT_STACK, StackOptions

STAMP = struct.Struct("!QQ")
"""The head of every message: the life of its sender, and its number in this life."""
SETTLED_S = 2.0
"""A message that has not come back after so long is lost."""


@dataclass(frozen=True, slots=True)
class Duty:
    """What a member does: where it joins, how much it sends."""

    name: str
    port: int
    key: bytes
    cluster_size: int
    rate_per_s: float = 200.0
    size_bytes: int = 100
    stack: str = DEFAULT_STACK
    options: StackOptions = field(default_factory=StackOptions)


@dataclass(slots=True)
class Log:
    """What a member has seen in its life. `sent` and `back` by message number."""

    sent: dict[int, int] = field(default_factory=dict)
    back: dict[int, int] = field(default_factory=dict)
    delivered: list[int] = field(default_factory=list)
    views: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    doubled: int = 0

    def lost(self, now: int) -> int:
        """Own messages that should have come back and have not."""
        settled = now - int(SETTLED_S * 1e9)
        return sum(seqno not in self.back for seqno, at in self.sent.items() if at < settled)


class CrewMember:
    """Sends, receives, obeys the pipe."""

    def __init__(self, duty: Duty, pipe: Connection) -> None:
        self.duty = duty
        self.pipe = pipe
        self.log = Log()
        self.seen: Counter[tuple[int, int]] = Counter()
        self.life = time.time_ns()
        self.channel = Channel(
            "crew",
            node_id=duty.name,
            multicast=f"228.8.8.8:{duty.port}",
            key=duty.key,
            cluster_size=duty.cluster_size,
            stack=duty.stack,
            stack_options=duty.options,
            receiver=self.receive,
        )

    def receive(self, items: list[Delivery | Event]) -> None:
        """Note every message and every view, and tell the parent of views."""
        now = time.monotonic_ns()
        for item in items:
            if isinstance(item, Delivery):
                for payload in item.payloads:
                    self.note(STAMP.unpack_from(payload), now)
            elif isinstance(item, ViewInstalled):
                self.log.views.append((now, item.view.names))
                self.pipe.send(("view", self.duty.name, now, item.view))
            elif isinstance(item, Excluded):
                self.pipe.send(("excluded", self.duty.name, now, None))

    def note(self, stamp: tuple[int, int], now: int) -> None:
        """One message more."""
        self.log.delivered.append(now)
        self.seen[stamp] += 1
        if self.seen[stamp] > 1:
            self.log.doubled += 1
        if stamp[0] == self.life:
            self.log.back.setdefault(stamp[1], now)

    async def send(self) -> None:
        """One message after the other at the rate; a late one counts from when it was due."""
        interval_ns = int(1e9 / self.duty.rate_per_s)
        due, seqno = time.monotonic_ns(), 0
        rest = bytes(max(0, self.duty.size_bytes - STAMP.size))
        while True:
            due += interval_ns
            await asyncio.sleep(max(0.0, (due - time.monotonic_ns()) / 1e9))
            seqno += 1
            self.log.sent[seqno] = due
            await self.channel.multicast(STAMP.pack(self.life, seqno) + rest)

    async def run(self) -> None:
        """Join, send, obey until told to leave."""
        await self.channel.connect()
        sender = asyncio.create_task(self.send()) if self.duty.rate_per_s else None
        loop = asyncio.get_running_loop()
        while True:
            order, argument = await loop.run_in_executor(None, self.pipe.recv)
            if order == "leave":
                break
            if order == "log":
                self.pipe.send(("log", self.duty.name, time.monotonic_ns(), self.log))
            elif order == "place":
                self.pipe.send(("place", self.duty.name, 0, self.channel.socket_address))
            elif order == "deafen":
                deafen(self.channel, argument)
        if sender is not None:
            sender.cancel()
        await self.channel.close()
        self.pipe.send(("left", self.duty.name, time.monotonic_ns(), None))


def deafen(channel: Channel, to: frozenset[SocketAddress]) -> None:
    """Hear nothing from these places any more: done by both sides, it is a partition."""
    sockets = channel._lives.sockets  # only a hand in the socket parts processes of one machine
    drain = type(sockets).drain

    def deaf(on_datagram: Callable[[memoryview, SocketAddress], None]) -> None:
        def hear(datagram: memoryview, source: SocketAddress) -> None:
            if source not in to:
                on_datagram(datagram, source)

        drain(sockets, hear)

    sockets.drain = deaf  # type: ignore[method-assign]


def run_member(duty: Duty, pipe: Connection) -> None:
    """The process's main function."""
    import uvloop

    keep_freed_memory()
    uvloop.run(CrewMember(duty, pipe).run())
