"""RpcDispatcher: who runs a call, and which answers end it."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.blocks.errors import (
    NestedCallError,
    NoAnswerError,
    SuspectedError,
)
from groupcore.blocks.rpc_calls import Gather
from groupcore.errors import ChannelClosedError, NotPrimaryError
from groupcore.view import Address
from tests.groupcore.blocks.group import FakeGroup, settle, until
from tests.groupcore.blocks.peers import BOTH_WAYS, LONG_S, Peer, peers


@BOTH_WAYS
async def test_all_members_run_it_and_each_answers(ordered: bool) -> None:
    _, (a, b, c) = await peers(3)
    results = await a.rpc.call("add", 2, 3, ordered=ordered)
    assert {member.name: outcome.get() for member, outcome in results.items()} == {
        "a": 5,
        "b": 5,
        "c": 5,
    }
    assert a.ran == b.ran == c.ran == [(2, 3)]


@BOTH_WAYS
async def test_some_members_run_it(ordered: bool) -> None:
    _, (a, b, c) = await peers(3)
    results = await a.rpc.call("add", 1, members=(b.address, c.address), ordered=ordered)
    assert sorted(member.name for member in results) == ["b", "c"]
    assert (a.ran, b.ran, c.ran) == ([], [(1, 1)], [(1, 1)])


@BOTH_WAYS
async def test_one_member_runs_it_and_its_value_is_returned(ordered: bool) -> None:
    _, (a, b) = await peers(2)
    assert await a.rpc.call_one(b.address, "add", 1, 2, ordered=ordered) == 3
    assert await a.rpc.call_one(a.address, "add", 2, 2, ordered=ordered) == 4


async def test_ordered_calls_run_in_one_order_at_all_members() -> None:
    group, (a, b) = await peers(2)
    group.hold()
    calls = [
        asyncio.create_task(peer.rpc.call("add", n, ordered=True))
        for n, peer in enumerate((b, a, b, a))
    ]
    await settle()
    assert a.ran == b.ran == []
    group.release()
    await asyncio.gather(*calls)
    assert a.ran == b.ran
    assert len(a.ran) == 4


async def test_who_is_in_the_view_at_the_place_of_an_ordered_call_is_waited_for() -> None:
    group, (a, b) = await peers(2)
    group.hold()
    calling = asyncio.create_task(a.rpc.call("add", 1, ordered=True))
    await settle()
    c = Peer(group, "c")
    group.join(c.channel)
    group.crash(b.channel)
    group.release()
    results = await calling
    assert sorted(member.name for member in results) == ["a", "c"]


async def test_an_async_ordered_function_ends_before_the_next_message_is_handled() -> None:
    _, (a, b) = await peers(2)
    first = asyncio.create_task(b.rpc.call_one(a.address, "wait", "w", ordered=True))
    await until(lambda: a.ran == ["w"])
    second = asyncio.create_task(b.rpc.call_one(a.address, "add", 1, ordered=True))
    await settle()
    assert a.ran == ["w"]
    a.gate.set()
    assert await first == "w"
    assert await second == 2
    assert a.ran == ["w", "end", (1, 1)]


async def test_an_ordered_function_that_waits_for_a_call_is_told_so() -> None:
    _, (a, b) = await peers(2)

    async def nested() -> str:
        with pytest.raises(NestedCallError):
            await b.rpc.call("add", 1)
        await b.rpc.call("add", 7, gather=Gather.NONE)
        return "told"

    b.rpc.register("nested", nested)
    assert await a.rpc.call_one(b.address, "nested", ordered=True) == "told"
    await settle()
    assert a.ran == [(7, 1)]


async def test_a_direct_function_may_call_others_and_its_caller() -> None:
    _, (a, b) = await peers(2)

    async def relay(n: int) -> object:
        return await b.rpc.call_one(a.address, "add", n)

    b.rpc.register("relay", relay)
    assert await a.rpc.call_one(b.address, "relay", 4) == 5


# --- which answers end it -------------------------------------------------------------------------


async def test_first_ends_with_the_first_member_that_has_run_it() -> None:
    _, (a, b, c) = await peers(3)
    c.gate.set()
    results = await a.rpc.call("wait", 1, gather=Gather.FIRST, timeout_s=LONG_S)
    assert results[c.address].get() == 1
    assert isinstance(results[b.address].error, NoAnswerError)


async def test_first_does_not_end_with_a_member_that_refuses() -> None:
    _, (a, b) = await peers(2)
    a.rpc.unregister("wait")
    calling = asyncio.create_task(a.rpc.call("wait", 1, gather=Gather.FIRST, timeout_s=LONG_S))
    await settle()
    assert not calling.done()
    b.gate.set()
    assert (await calling)[b.address].get() == 1


async def test_majority_ends_when_more_than_half_have_run_it() -> None:
    _, (a, b, c) = await peers(3)
    a.gate.set()
    calling = asyncio.create_task(a.rpc.call("wait", 1, gather=Gather.MAJORITY, timeout_s=LONG_S))
    await settle()
    assert not calling.done()
    b.gate.set()
    results = await calling
    assert [results[peer.address].ran for peer in (a, b, c)] == [True, True, False]


async def test_half_is_no_majority() -> None:
    _, (a, b) = await peers(2)
    a.gate.set()
    calling = asyncio.create_task(a.rpc.call("wait", 1, gather=Gather.MAJORITY, timeout_s=LONG_S))
    await settle()
    assert not calling.done()
    b.gate.set()
    await until(calling.done)


@BOTH_WAYS
async def test_none_waits_for_nobody_and_nobody_answers(ordered: bool) -> None:
    _, (a, b) = await peers(2)
    assert await a.rpc.call("add", 1, gather=Gather.NONE, ordered=ordered) == {}
    await until(lambda: a.ran == b.ran == [(1, 1)])
    assert "late_answers" not in a.rpc.counters()


async def test_a_member_that_does_not_answer_in_time_is_told_as_such() -> None:
    _, (a, b) = await peers(2)
    a.gate.set()
    results = await a.rpc.call("wait", 1, timeout_s=0.02)
    assert results[a.address].get() == 1
    with pytest.raises(NoAnswerError, match="b has not answered"):
        results[b.address].get()
    assert a.rpc.counters()["timed_out"] == 1


@BOTH_WAYS
async def test_a_member_that_leaves_the_view_is_suspected(ordered: bool) -> None:
    group, (a, b, c) = await peers(3)
    a.gate.set()
    c.gate.set()
    calling = asyncio.create_task(a.rpc.call("wait", 1, timeout_s=LONG_S, ordered=ordered))
    await until(lambda: b.ran == [1])
    group.crash(b.channel)
    results = await calling
    assert isinstance(results[b.address].error, SuspectedError)
    assert results[c.address].get() == 1


@BOTH_WAYS
async def test_a_member_that_is_not_in_the_view_is_suspected_at_once(ordered: bool) -> None:
    _, (a, _) = await peers(2)
    with pytest.raises(SuspectedError):
        await a.rpc.call_one(Address("z", 1), "add", 1, timeout_s=LONG_S, ordered=ordered)


async def test_a_call_under_way_ends_when_the_group_goes_on_without_its_caller() -> None:
    group, (a, b) = await peers(2)
    calling = asyncio.create_task(b.rpc.call("wait", 1, timeout_s=LONG_S))
    await until(lambda: a.ran == [1])
    group.exclude(b.channel)
    await until(calling.done)
    results = await calling
    assert all(isinstance(outcome.error, NoAnswerError) for outcome in results.values())


async def test_a_call_under_way_ends_with_the_channel() -> None:
    _, (a, b) = await peers(2)
    calling = asyncio.create_task(b.rpc.call("wait", 1, timeout_s=LONG_S))
    await until(lambda: a.ran == [1])
    b.channel.end()
    with pytest.raises(ChannelClosedError):
        await calling


async def test_a_dispatcher_that_is_closed_ends_its_calls_and_runs_nothing() -> None:
    _, (a, b) = await peers(2)
    calling = asyncio.create_task(b.rpc.call("wait", 1, timeout_s=LONG_S))
    await until(lambda: b.ran == [1])
    await b.rpc.close()
    with pytest.raises(ChannelClosedError):
        await calling
    with pytest.raises(NoAnswerError):
        await a.rpc.call_one(b.address, "add", 1, timeout_s=0.0)
    assert b.ran == [1]


async def test_a_call_waits_for_the_first_view_and_no_longer_than_its_time_out() -> None:
    group = FakeGroup()
    peer = Peer(group, "a")
    with pytest.raises(NotPrimaryError, match="joined"):
        await peer.rpc.call("add", 1, timeout_s=0.0)
    calling = asyncio.create_task(peer.rpc.call_one(peer.address, "add", 1, timeout_s=LONG_S))
    await settle()
    group.join(peer.channel)
    assert await calling == 2
