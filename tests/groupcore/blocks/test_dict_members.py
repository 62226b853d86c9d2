"""ReplicatedDict: members come, crash and come back; every write is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from groupcore.blocks.dict_state import OPERATIONS_MAX
from groupcore.blocks.errors import (
    OutcomeUnknownError,
)
from groupcore.blocks.replicated_dict import Replaced, ReplicatedDict
from groupcore.blocks.values import pack_value
from groupcore.errors import ChannelClosedError, NotPrimaryError
from tests.groupcore.blocks.dict_peers import DictPeer, dict_peers
from tests.groupcore.blocks.group import FakeGroup, settle, until


async def test_a_joiner_takes_the_content_and_goes_on_from_there() -> None:
    group, (a,) = await dict_peers(1)
    await a.dict.update({"k": 1, "l": [2]})
    c = DictPeer(group, "c")
    seen: list[object] = []
    c.dict.watch(seen.append)
    group.join(c.channel)
    assert c.dict.stale
    await until(lambda: not c.dict.stale)
    assert seen == [Replaced()]
    await a.dict.set("k", 5)
    await settle()
    assert dict(c.dict) == dict(a.dict)
    assert c.state() == a.state()
    assert await c.stock.increment("n") == 1


async def test_the_content_survives_the_coordinators_crash() -> None:
    group, (a, b, c) = await dict_peers(3)
    await a.dict.set("k", 1)
    writing = asyncio.create_task(b.stock.increment("n"))
    await settle()
    group.crash(a.channel)
    await b.dict.set("l", 2)
    await writing
    await settle()
    assert dict(b.dict) == dict(c.dict) == {"k": 1, "l": 2}


async def exclude_and_return(group: FakeGroup, peer: DictPeer) -> None:
    group.exclude(peer.channel)
    await settle()
    assert peer.dict.stale
    group.join(peer.channel)
    await until(lambda: not peer.dict.stale)


async def test_a_member_that_was_excluded_reads_on_and_comes_back_to_the_same_content() -> None:
    group, (a, b) = await dict_peers(2)
    await a.dict.set("k", 1)
    await settle()
    group.exclude(b.channel)
    await settle()
    assert b.dict.stale
    assert dict(b.dict) == {"k": 1}
    await a.dict.set("k", 2)
    group.join(b.channel)
    await until(lambda: not b.dict.stale)
    assert dict(b.dict) == {"k": 2}
    assert b.state() == a.state()


async def test_a_write_that_was_ordered_before_its_writer_was_excluded_is_done_once() -> None:
    group, (a, b) = await dict_peers(2)
    group.deaf = b.channel  # ordered and done at a, and never delivered to b in that life
    writing = asyncio.create_task(b.stock.increment("n"))
    await until(lambda: a.stock.get("n") == 1)
    group.deaf = None
    await exclude_and_return(group, b)
    assert await writing == 1
    assert a.stock["n"] == b.stock["n"] == 1
    assert "resent" not in b.stock.counters()


async def test_a_write_that_was_lost_with_its_writers_life_is_sent_again() -> None:
    group, (a, b) = await dict_peers(2)
    group.hold()
    writing = asyncio.create_task(b.stock.increment("n"))
    await settle()
    group.exclude(b.channel)
    group.release()
    await settle()
    assert "n" not in a.stock
    group.join(b.channel)
    assert await writing == 1
    await settle()
    assert a.stock["n"] == b.stock["n"] == 1
    assert b.stock.counters()["resent"] == 1


async def test_a_write_that_is_sent_twice_is_done_once() -> None:
    _, (a, b) = await dict_peers(2)
    operation = [["z", 1], 1, 0, "increment", ["n", 1]]
    await a.adapter.multicast(pack_value(operation), "stock")
    await b.adapter.multicast(pack_value(operation), "stock")
    await settle()
    assert a.stock["n"] == b.stock["n"] == 1
    operation[1:3] = [2, 1]  # the first is answered: its result is not kept any more
    await a.adapter.multicast(pack_value(operation), "stock")
    await a.adapter.multicast(pack_value([["z", 1], 1, 0, "increment", ["n", 1]]), "stock")
    await settle()
    assert a.stock["n"] == b.stock["n"] == 2
    assert a.state() == b.state()


async def test_after_a_view_from_disk_writes_under_way_are_sent_again_and_done_once() -> None:
    group, (a, b) = await dict_peers(2)
    group.hold()
    writing = asyncio.create_task(a.stock.increment("n"))
    await settle()
    group.held.clear()  # lost with the memory of the majority
    c = DictPeer(group, "c")
    group.recover(c.channel)
    group.release()
    assert await writing == 1
    await until(lambda: not c.dict.stale and not b.dict.stale)
    assert a.stock["n"] == 1
    await until(lambda: b.stock.get("n") == c.stock.get("n") == 1)


async def test_a_write_that_may_wait_waits_until_the_member_is_back() -> None:
    group, (a, b) = await dict_peers(2)
    group.exclude(b.channel)
    await settle()
    writing = asyncio.create_task(b.dict.set("k", 1))
    await settle()
    assert not writing.done()
    group.join(b.channel)
    await writing
    await settle()
    assert a.dict["k"] == 1


async def test_a_write_that_shall_not_wait_fails_outside_the_primary_view() -> None:
    group = FakeGroup()
    a, b = DictPeer(group, "a"), DictPeer(group, "b", writes="fail")
    with pytest.raises(NotPrimaryError):
        await b.dict.set("k", 1)
    group.join(a.channel, b.channel)
    await settle()
    await b.dict.set("k", 1)
    b.channel.set_primary(False)
    await settle()
    with pytest.raises(NotPrimaryError, match="outside the primary view"):
        await b.dict.set("k", 2)
    assert b.dict["k"] == 1


async def test_a_write_that_shall_not_wait_and_was_sent_has_an_unknown_outcome() -> None:
    group = FakeGroup()
    a, b = DictPeer(group, "a"), DictPeer(group, "b", writes="fail")
    group.join(a.channel, b.channel)
    await settle()
    group.hold()
    writing = asyncio.create_task(b.dict.set("k", 1))
    await settle()
    group.exclude(b.channel)
    with pytest.raises(OutcomeUnknownError):
        await writing


async def test_writes_end_with_the_channel() -> None:
    group, (_, b) = await dict_peers(2)
    group.hold()
    writing = asyncio.create_task(b.dict.set("k", 1))
    await settle()
    b.channel.end()
    with pytest.raises(ChannelClosedError):
        await writing
    with pytest.raises(ChannelClosedError):
        await b.dict.set("k", 2)


async def test_a_dict_that_is_closed_writes_no_more() -> None:
    _, (a,) = await dict_peers(1)
    await a.dict.close()
    with pytest.raises(ChannelClosedError):
        await a.dict.set("k", 1)
    await a.stock.set("n", 1)


async def test_a_write_whose_waiting_is_cancelled_frees_its_place() -> None:
    group, (a,) = await dict_peers(1)
    group.hold()
    writing = asyncio.create_task(a.dict.set("k", 1))
    await settle()
    writing.cancel()
    group.release()
    await settle()
    assert a.dict["k"] == 1
    assert a.dict.counters()["unawaited_results"] == 1


async def test_a_writer_has_a_window_of_writes_under_way() -> None:
    group, (a,) = await dict_peers(1)
    group.hold()
    writes = [asyncio.create_task(a.stock.increment("n")) for _ in range(OPERATIONS_MAX + 5)]
    await settle()
    assert len(group.held) == OPERATIONS_MAX
    group.release()
    await asyncio.gather(*writes)
    assert a.stock["n"] == OPERATIONS_MAX + 5


OPERATIONS: list[Callable[[ReplicatedDict[object], int], Awaitable[object]]] = [
    lambda d, n: d.set(f"k{n % 3}", n),
    lambda d, n: d.pop(f"k{n % 3}", -1),
    lambda d, n: d.compare_and_set(f"k{n % 3}", n - 3, n),
    lambda d, n: d.increment(f"c{n % 2}", n),
    lambda d, n: d.update({f"k{n % 2}": n, "last": n}),
]


async def test_members_that_come_and_go_while_all_write_end_alike() -> None:
    group, (a, b, c) = await dict_peers(3)
    writes = [
        asyncio.ensure_future(OPERATIONS[n % len(OPERATIONS)](peer.dict, n))
        for n in range(60)
        for peer in (a, b, c)
    ]
    await exclude_and_return(group, b)
    late = DictPeer(group, "d")
    group.join(late.channel)
    await exclude_and_return(group, c)
    await asyncio.gather(*writes)
    await until(lambda: not late.dict.stale)
    await settle()
    assert a.state() == b.state() == c.state() == late.state()
