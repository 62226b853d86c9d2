"""Fragments: a state in pieces, at the taker's own pace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from groupcore.blocks.errors import TransferFailedError
from groupcore.blocks.fragments import COPIES_MAX, Fragments, Source
from groupcore.errors import NotPrimaryError
from groupcore.view import Address
from tests.groupcore.blocks.group import FakeGroup, settle, until
from tests.groupcore.blocks.peers import Peer

STATE = bytes(range(256)) * 1000


class Bytes:
    """A copy in memory."""

    def __init__(self, state: bytes) -> None:
        self.state = state
        self.closed = False

    @property
    def size_bytes(self) -> int:
        return len(self.state)

    def read(self, offset: int, size: int) -> bytes:
        return self.state[offset : offset + size]

    def close(self) -> None:
        self.closed = True


class Giver(Peer):
    """A member whose state is in fragments."""

    def __init__(self, group: FakeGroup, name: str, state: bytes | None = STATE) -> None:
        super().__init__(group, name)
        self.state = state
        self.made: list[Bytes] = []
        self.fragments = Fragments(self.adapter, self.rpc, copy=self.copy)

    def copy(self, taker: Address) -> Source | Awaitable[Source | None] | None:
        if self.state is None:
            return None
        self.made.append(Bytes(self.state))
        return self.made[-1]


async def givers(*states: bytes | None) -> tuple[FakeGroup, list[Giver]]:
    group = FakeGroup()
    made = [Giver(group, name, state) for name, state in zip("abcd", states, strict=False)]
    group.join(*(giver.channel for giver in made))
    await settle()
    return group, made


async def test_a_state_is_taken_piece_by_piece_with_its_progress() -> None:
    _, (a, b, c) = await givers(STATE, STATE, None)
    progress = []
    pieces = []
    async with await c.fragments.open() as state:
        assert state.size_bytes == len(STATE)
        async for piece in state:
            pieces.append(piece)
            progress.append(state.offset)
    assert b"".join(pieces) == STATE
    assert progress == sorted(progress)
    assert progress[-1] == len(STATE)
    await settle()
    assert a.fragments.copies == b.fragments.copies == 0
    assert all(copy.closed for copy in a.made + b.made)


async def test_who_does_not_ask_for_the_next_piece_pauses() -> None:
    _, (a, b) = await givers(STATE, None)
    state = await b.fragments.open()
    first = await state.read(1000)
    await settle()
    assert a.made[0].closed is False
    assert first + await state.read(5) == STATE[:1005]
    await state.close()
    await settle()
    assert a.made[0].closed


async def test_the_copies_of_several_providers_are_of_one_place_in_the_order() -> None:
    _, (a, b, c) = await givers(STATE, STATE, None)
    await a.adapter.multicast(b"", "other")
    state = await c.fragments.open()
    assert (state.epoch, state.position) == (1, 2)
    assert state.providers == [a.address, b.address]


async def test_the_next_provider_goes_on_at_the_same_byte_when_one_dies() -> None:
    group, (a, _, c) = await givers(STATE, STATE, None)
    state = await c.fragments.open()
    taken = await state.read(100_000)
    group.crash(a.channel)
    async for piece in state:
        taken += piece
    assert taken == STATE


async def test_when_no_provider_is_left_the_transfer_fails() -> None:
    group, (a, b) = await givers(STATE, None)
    state = await b.fragments.open()
    group.crash(a.channel)
    with pytest.raises(TransferFailedError, match="no provider"):
        await state.read()


async def test_what_differs_from_the_providers_copy_is_found_at_the_end() -> None:
    group, (a, _, c) = await givers(STATE, STATE[::-1], None)
    state = await c.fragments.open()
    await state.read(100)
    group.crash(a.channel)
    with pytest.raises(TransferFailedError, match="not what its provider has"):
        async for _ in state:
            pass


async def test_a_provider_that_sends_no_piece_is_left_out() -> None:
    _, (a, _b, c) = await givers(STATE, STATE, None)
    state = await c.fragments.open()
    a.made[0].state = b""
    taken = b"".join([piece async for piece in state])
    assert taken == STATE


async def test_a_member_without_state_gives_none() -> None:
    _, (a, b) = await givers(None, STATE)
    with pytest.raises(TransferFailedError, match="none of"):
        await b.fragments.open()
    taker = Fragments(b.adapter, b.rpc, "only takes")
    with pytest.raises(TransferFailedError):
        await taker.open([a.address])


async def test_before_the_first_view_nothing_is_opened() -> None:
    with pytest.raises(NotPrimaryError):
        await Giver(FakeGroup(), "a").fragments.open(timeout_s=0.0)


async def test_a_copy_can_take_its_time_outside_the_order() -> None:
    gate = asyncio.Event()

    class Slow(Giver):
        async def copy(self, taker: Address) -> Source:
            await gate.wait()
            return Bytes(b"later")

    group = FakeGroup()
    a, b = Slow(group, "a"), Giver(group, "b", None)
    group.join(a.channel, b.channel)
    await settle()
    opening = asyncio.create_task(b.fragments.open([a.address], ordered=False))
    await settle()
    assert await b.rpc.call_one(a.address, "add", 1, ordered=True) == 2
    gate.set()
    assert await (await opening).read() == b"later"


async def test_an_empty_state_is_one() -> None:
    _, (_, b) = await givers(b"", None)
    async with await b.fragments.open() as state:
        assert await state.read() == b""


async def test_the_copies_of_a_taker_that_left_go() -> None:
    group, (a, b) = await givers(STATE, None)
    await b.fragments.open()
    assert a.fragments.copies == 1
    group.crash(b.channel)
    await until(lambda: a.fragments.copies == 0)
    assert a.made[0].closed


async def test_a_provider_keeps_a_bounded_number_of_copies() -> None:
    _, (a, b) = await givers(STATE, None)
    states = [await b.fragments.open() for _ in range(COPIES_MAX + 1)]
    assert a.fragments.copies == COPIES_MAX
    with pytest.raises(TransferFailedError):
        await states[0].read()
    assert await states[1].read(10) == STATE[:10]


async def test_one_who_gives_no_more_refuses() -> None:
    _, (a, b) = await givers(STATE, None)
    await b.fragments.open()
    a.fragments.close()
    assert a.made[0].closed
    with pytest.raises(TransferFailedError):
        await b.fragments.open([a.address, Address("z", 1)])
