"""A group of channels in memory: one list is the total order.

It keeps the channel's contract as the server sees it: views, fresh joiners with a position and
holders, deliveries in one order, `Saved` by a majority of synced members, exclusion.
"""

from __future__ import annotations

import asyncio

from groupcore.endpoint import Delivery
from groupcore.errors import NotPrimaryError
from groupcore.events import Event, Excluded, PrimaryLost, PrimaryRegained, Saved, ViewInstalled
from groupcore.view import Address, View
from server.journal import Journal
from server.node import MakeChannel
from server.ports import GroupChannel, Receiver


class MemoryGroup:
    """The members and their order."""

    def __init__(self) -> None:
        self.members: list[MemoryChannel] = []
        self.view: View | None = None
        self.epoch = 0
        self.position = 0
        self.paused = False
        self.held: list[tuple[MemoryChannel, bytes]] = []

    def maker(self, name: str) -> MakeChannel:
        """What a node makes its channel with."""

        def make(receiver: Receiver, journal: Journal) -> GroupChannel:
            return MemoryChannel(self, name, receiver, journal)

        return make

    def join(self, channel: MemoryChannel, epoch: int, position: int) -> View:
        """A new view with this member; an empty group is formed from what it holds."""
        recovered = not self.members
        holders = tuple(member.address for member in self.members)
        if recovered:
            self.epoch = max(self.epoch, epoch) + 1
            self.position = position
            holders = (channel.address,) if position else ()
        self.members.append(channel)
        self.install(channel, holders, recovered)
        assert self.view is not None
        return self.view

    def install(
        self, fresh: MemoryChannel | None, holders: tuple[Address, ...], recovered: bool = False
    ) -> None:
        """Tell everybody of a view."""
        previous = self.view
        floor = self.position if recovered or previous is None else previous.floor
        number = 1 if previous is None else previous.number + 1
        addresses = tuple(member.address for member in self.members)
        self.view = View(number, self.epoch, floor, 7, addresses)
        for member in self.members:
            new = member is fresh
            event = ViewInstalled(
                self.view, None if new else previous, new, holders, self.position, recovered
            )
            member.hand(event)

    def leave(self, channel: MemoryChannel) -> None:
        """A member is gone, gracefully or not."""
        if channel in self.members:
            self.members.remove(channel)
            if self.members:
                self.install(None, ())

    def exclude(self, channel: MemoryChannel) -> None:
        """The others go on without it."""
        self.leave(channel)
        channel.hand(Excluded("a test says so"))

    def rejoin(self, channel: MemoryChannel) -> None:
        """The next life of an excluded member."""
        channel.address = Address(channel.address.name, channel.address.incarnation + 1)
        self.join(channel, 0, 0)

    def send(self, channel: MemoryChannel, payload: bytes) -> None:
        """Give a message the next place, at every member."""
        if self.paused:
            self.held.append((channel, payload))
            return
        self.position += 1
        for member in self.members:
            member.hand(Delivery(channel.address, self.position, [payload]))

    def resume(self) -> None:
        """Order what was held while paused."""
        self.paused = False
        held, self.held = self.held, []
        for channel, payload in held:
            self.send(channel, payload)

    def maybe_saved(self) -> None:
        """Tell all what a majority has synced."""
        synced = sorted((member.synced_at for member in self.members), reverse=True)
        needed = len(self.members) // 2 + 1
        epoch, position = synced[needed - 1]
        if epoch == self.epoch:
            for member in self.members:
                member.hand(Saved(epoch, position))


class MemoryChannel:
    """One member."""

    def __init__(self, group: MemoryGroup, name: str, receiver: Receiver, journal: Journal) -> None:
        self.group = group
        self.address = Address(name, 0)
        self.receiver = receiver
        self.journal = journal
        self.synced_at = (0, 0)
        self.inbox: list[Delivery | Event] = []
        self.closed = False

    async def connect(self, epoch: int = 0, position: int = 0) -> View:
        incarnation, _ = await asyncio.to_thread(self.journal.begin, 1)
        self.address = Address(self.address.name, incarnation)
        return self.group.join(self, epoch, position)

    async def close(self) -> None:
        self.closed = True
        self.group.leave(self)

    def multicast_nowait(self, payload: bytes) -> None:
        if self not in self.group.members:
            raise NotPrimaryError("not a member")
        self.group.send(self, payload)

    async def unicast(self, destination: Address, payload: bytes) -> None:
        for member in self.group.members:
            if member.address == destination:
                member.hand(Delivery(self.address, 0, [payload]))

    def synced(self, epoch: int, position: int) -> None:
        self.synced_at = max(self.synced_at, (epoch, position))
        if self in self.group.members:
            self.group.maybe_saved()

    def counters(self) -> dict[str, int]:
        return {"transport.drops.replayed": 0}

    def lose_primary(self, lost: bool) -> None:
        """The quorum is out of reach, or back."""
        self.hand(PrimaryLost() if lost else PrimaryRegained())

    def hand(self, item: Delivery | Event) -> None:
        """Deliver in a later turn of the loop, together with what else comes."""
        if not self.inbox:
            asyncio.get_running_loop().call_soon(self._deliver)
        self.inbox.append(item)

    def _deliver(self) -> None:
        inbox, self.inbox = self.inbox, []
        if not self.closed:
            self.receiver(inbox)
