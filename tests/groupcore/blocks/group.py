"""A group in memory for the blocks' tests: channels in one total order, and who fails when.

Everything happens on the running loop without a clock: `settle` gives way until nothing moves.
`hold` keeps what is sent from being ordered, until `release`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from groupcore.aio.inbox import Message
from groupcore.aio.states import StateProvider
from groupcore.errors import ChannelClosedError, NotAMemberError, NotPrimaryError
from groupcore.events import Event, Excluded, PrimaryLost, PrimaryRegained, ViewInstalled
from groupcore.transfer.events import SetState
from groupcore.transfer.sources import StateSource
from groupcore.transfer.version import StateVersion
from groupcore.view import Address, View

TURNS = 200


async def settle() -> None:
    """Let everything happen that can happen."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def until(condition: Callable[[], bool]) -> None:
    """Give way until this holds; AssertionError when it does not come to hold."""
    for _ in range(50 * TURNS):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not come to hold")


@dataclass(eq=False)
class MakeCopy:
    """The place of a transfer: the copies of the members, and what the initiator waits for."""

    initiator: FakeChannel
    position: int
    copies: dict[FakeChannel, asyncio.Future[bytes | None]] = field(default_factory=dict)
    state: asyncio.Future[SetState | None] = field(default_factory=asyncio.Future)


Item = Message | Event | MakeCopy


class FakeGroup:
    """The members, oldest first, and the order."""

    def __init__(self) -> None:
        self.members: list[FakeChannel] = []
        self.position = 0
        self.number = 0
        self.holding = False
        self.held: list[tuple[FakeChannel, bytes]] = []
        self.transfers: list[MakeCopy] = []
        self.deaf: FakeChannel | None = None

    def channel(self, name: str) -> FakeChannel:
        return FakeChannel(self, name)

    def order(self, origin: FakeChannel, payload: bytes) -> None:
        """Give a message its place, unless the order is held."""
        if self.holding:
            self.held.append((origin, payload))
            return
        self.position += 1
        for member in self.members:
            if member is self.deaf:
                continue
            member.put(Message(origin.address, payload, self.position))

    def hold(self) -> None:
        self.holding = True

    def release(self) -> None:
        self.holding = False
        held, self.held = self.held, []
        for origin, payload in held:
            if origin in self.members:
                self.order(origin, payload)

    def join(self, *channels: FakeChannel) -> None:
        """These join together; nobody else notices but by the view."""
        self.members += channels
        self._install(fresh=channels)

    def crash(self, *channels: FakeChannel) -> None:
        """These are gone at once: nothing of theirs is ordered any more."""
        for channel in channels:
            self.members.remove(channel)
            channel.stopped = True
            self._forget(channel)
        if self.members:
            self._install()

    def exclude(self, channel: FakeChannel) -> None:
        """The group goes on without this one, which notices."""
        self.members.remove(channel)
        self._forget(channel)
        self._install()
        channel.put(Excluded("the others did not hear it"))
        channel.view = None
        channel.set_primary(False)
        channel.incarnation += 1

    def recover(self, *fresh: FakeChannel) -> None:
        """A view from disk: those who are left and these, behind a position that is lost."""
        self.members += fresh
        self._install(fresh=fresh, recovered=True)

    def copy(self, initiator: FakeChannel) -> MakeCopy:
        """Order a transfer; every other member's reader comes past it."""
        self.position += 1
        transfer = MakeCopy(initiator, self.position)
        self.transfers.append(transfer)
        for member in self.members:
            if member is not initiator:
                transfer.copies[member] = asyncio.get_running_loop().create_future()
            member.put(transfer)
        return transfer

    def _forget(self, channel: FakeChannel) -> None:
        self.held = [pair for pair in self.held if pair[0] is not channel]
        for transfer in self.transfers:
            copy = transfer.copies.get(channel)
            if copy is not None and not copy.done():
                copy.set_result(None)

    def _install(self, fresh: tuple[FakeChannel, ...] = (), recovered: bool = False) -> None:
        self.number += 1
        previous = tuple(member.address for member in self.members if member not in fresh)
        members = tuple(member.address for member in self.members)
        view = View(self.number, 1, 0, 7, members)
        for member in self.members:
            former = None if member in fresh else View(self.number - 1, 1, 0, 7, previous)
            member.view = view
            holders = previous if member in fresh else ()
            member.put(
                ViewInstalled(view, former, member in fresh, holders, self.position, recovered)
            )
            member.set_primary(True)


class FakeChannel:
    """A channel of a FakeGroup."""

    def __init__(self, group: FakeGroup, name: str) -> None:
        self.group = group
        self.name = name
        self.incarnation = 1
        self.view: View | None = None
        self.state_provider: StateProvider | None = None
        self.stopped = False
        self.fails_to_give = False
        self._primary = False
        self._may_send = asyncio.Event()
        self._items: deque[Item] = deque()
        self._filled = asyncio.Event()

    @property
    def address(self) -> Address:
        return Address(self.name, self.incarnation)

    @property
    def primary(self) -> bool:
        return self._primary

    def set_primary(self, primary: bool) -> None:
        if self._primary and not primary:
            self.put(PrimaryLost())
        if primary and not self._primary:
            self.put(PrimaryRegained())
        self._primary = primary
        if primary:
            self._may_send.set()
        else:
            self._may_send.clear()

    async def connect(self, epoch: int = 0, position: int = 0) -> View:
        self.group.join(self)
        assert self.view is not None
        return self.view

    async def close(self) -> None:
        if self in self.group.members:
            self.group.crash(self)
        self.end()

    def end(self) -> None:
        """End the reader's iteration."""
        self.stopped = True
        self._filled.set()

    def put(self, item: Item) -> None:
        self._items.append(item)
        self._filled.set()

    async def multicast(self, payload: bytes) -> None:
        await self._may_send.wait()
        if self.stopped:
            raise ChannelClosedError("the channel is closed")
        self.group.order(self, payload)

    async def unicast(self, destination: Address, payload: bytes) -> None:
        if self.view is None:
            raise NotPrimaryError("in no view")
        for member in self.group.members:
            if member.address == destination and self in self.group.members:
                member.put(Message(self.address, payload, 0))
                return
        raise NotAMemberError(f"{destination} is not in the view")

    async def events(self) -> AsyncIterator[Message | Event]:
        while True:
            while self._items:
                item = self._items.popleft()
                if not isinstance(item, MakeCopy):
                    yield item
                elif item.initiator is self:
                    state = await item.state
                    if state is not None:
                        yield state
                elif not item.copies[self].done() and not self.fails_to_give:
                    provider = self.state_provider
                    copy = None if provider is None else provider.copy()
                    item.copies[self].set_result(_read(copy))
            if self.stopped:
                return
            self._filled.clear()
            await self._filled.wait()

    async def get_state(self, provider: Address | None = None, timeout_s: float = 10.0) -> bool:
        await self._may_send.wait()
        transfer = self.group.copy(self)
        try:
            for member, copy in transfer.copies.items():
                if provider is not None and member.address != provider:
                    continue
                async with asyncio.timeout(timeout_s):
                    state = await copy
                if state is not None:
                    transfer.state.set_result(
                        SetState(
                            StateVersion(1, 1, self.address),
                            1,
                            transfer.position,
                            member.address,
                            state,
                        )
                    )
                    return True
        except TimeoutError:
            return False
        finally:
            if not transfer.state.done():
                transfer.state.set_result(None)
        return False


def _read(copy: bytes | StateSource | None) -> bytes | None:
    if copy is None or isinstance(copy, bytes):
        return copy
    return copy.read(0, 1 << 30)
