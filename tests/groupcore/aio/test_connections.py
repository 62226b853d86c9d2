"""The rules of the connections that watch over members."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from groupcore.aio.connections import WATCHED, Connections
from groupcore.peers import SocketAddress
from groupcore.view import Address, View
from tests.groupcore.layers.building import A, B, C, view_of

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Member:
    """One member's connections, and whose closed."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.place: SocketAddress = (LOOPBACK, free_port())
        self.closed: asyncio.Queue[Address] = asyncio.Queue()
        self.connections = Connections(self.closed.put_nowait)

    def watch(self, view: View, *others: Member) -> None:
        places = {other.address: other.place for other in others}
        self.connections.watch(view, self.address, places)

    def is_watched(self) -> bool:
        return bool(self.connections._watchers)


@asynccontextmanager
async def members(*addresses: Address) -> AsyncIterator[list[Member]]:
    all_ = [Member(address) for address in addresses]
    for member in all_:
        await member.connections.listen(member.place)
    try:
        yield all_
    finally:
        for member in all_:
            await member.connections.close()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while True:
            if is_so():
                return
            await asyncio.sleep(0)


async def until_watched(member: Member) -> None:
    await until(member.is_watched)


async def test_a_process_that_ends_is_told_by_its_closed_connection() -> None:
    async with members(A, B) as (a, b):
        a.watch(view_of(A, B), b)
        await until_watched(b)
        await b.connections.close()
        async with asyncio.timeout(5):
            assert await a.closed.get() == B


async def test_who_has_left_the_view_is_watched_no_more() -> None:
    async with members(A, B, C) as (a, b, c):
        a.watch(view_of(A, B, C), b, c)
        await until_watched(b)
        await until_watched(c)
        a.watch(view_of(A, C, number=2), c)
        await until(lambda: not b.is_watched())
        await c.connections.close()
        async with asyncio.timeout(5):
            assert await a.closed.get() == C
        assert a.closed.empty()


async def test_each_member_watches_the_few_that_come_after_it() -> None:
    many = [Address(name, 1) for name in "abcdef"]
    async with members(*many) as all_:
        last = all_[-1]
        last.watch(view_of(*many), *all_)
        for member in all_[:WATCHED]:
            await until_watched(member)
        assert not any(member.is_watched() for member in all_[WATCHED:])


async def test_a_member_that_cannot_be_connected_to_is_not_watched_until_the_next_view() -> None:
    async with members(A, B) as (a, b):
        await b.connections.close()
        a.watch(view_of(A, B), b)
        await until(lambda: not a.connections._watching)
        assert a.closed.empty()
        await b.connections.listen(b.place)
        a.watch(view_of(A, B, number=2), b)
        await until_watched(b)


async def test_who_sends_anything_on_such_a_connection_is_hung_up_on() -> None:
    async with members(B) as (b,):
        reader, writer = await asyncio.open_connection(*b.place)
        writer.write(b"hello")
        async with asyncio.timeout(5):
            assert await reader.read() == b""
        writer.close()


async def test_a_taken_port_costs_only_the_watching() -> None:
    async with members(A) as (a,):
        other = Connections(lambda _: None)
        await other.listen(a.place)
        await other.close()
