"""The blocks on real channels, on the loopback interface."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from groupcore.aio import Channel
from groupcore.aio import lives as lives_module
from groupcore.blocks import Gather, PullPushAdapter, ReplicatedDict, RpcDispatcher
from groupcore.blocks.fragments import Fragments
from groupcore.events import Excluded
from groupcore.transfer.sources import BytesSource
from groupcore.view import Address
from tests.groupcore.aio.cluster import LIMIT_S, Cluster, close_all

pytestmark = pytest.mark.slow

POLL_S = 0.002


async def until(condition: Callable[[], bool], interval_s: float = POLL_S) -> None:
    """Wait until this holds, LIMIT_S at most."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            if condition():
                return
            await asyncio.sleep(interval_s)


class Blocks:
    """A channel with every block on it."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.adapter = PullPushAdapter(channel, retry_s=0.05)
        self.rpc = RpcDispatcher(self.adapter)
        self.stock = ReplicatedDict(self.adapter, "stock", int)
        self.fragments = Fragments(self.adapter, self.rpc, copy=self.copy)
        self.rpc.register("add", self.add)
        self.sums: list[int] = []
        self.adapter.start()

    def add(self, a: int, b: int) -> int:
        self.sums.append(a + b)
        return a + b

    def copy(self, taker: Address) -> BytesSource:
        return BytesSource(bytes(300_000))


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster(with_multicast=True)
    yield made
    await close_all(made)


async def members(cluster: Cluster, names: str) -> list[Blocks]:
    """These members in one view, which every adapter has seen; the first one coordinates."""
    made = []
    for name in names:
        made.append(Blocks(cluster.channel(name)))
        async with asyncio.timeout(LIMIT_S):
            await made[-1].channel.connect()
    await until(lambda: all(names_at(blocks) == tuple(names) for blocks in made))
    return made


def names_at(blocks: Blocks) -> tuple[str, ...]:
    view = blocks.adapter.view
    return () if view is None or blocks.stock.stale else view.names


async def test_calls_reach_all_members_directly_and_in_order(cluster: Cluster) -> None:
    a, b, c = await members(cluster, "abc")
    for ordered in (False, True):
        results = await a.rpc.call("add", 2, 3, ordered=ordered)
        assert sorted((m.name, o.get()) for m, o in results.items()) == [
            ("a", 5),
            ("b", 5),
            ("c", 5),
        ]
    assert await b.rpc.call_one(c.channel.address, "add", 1, 1) == 2
    for peer in (a, b, c):
        peer.sums.clear()
    calls = [peer.rpc.call("add", n, 10, ordered=True) for n in range(20) for peer in (a, b, c)]
    await asyncio.gather(*calls)
    assert len(a.sums) == 60
    assert a.sums == b.sums == c.sums


async def test_a_dict_is_alike_while_the_coordinator_crashes_and_one_joins(
    cluster: Cluster,
) -> None:
    a, b, c = await members(cluster, "abc")
    writes = [
        asyncio.ensure_future(peer.stock.increment("n")) for _ in range(50) for peer in (b, c)
    ]
    await asyncio.wait(writes, return_when=asyncio.FIRST_COMPLETED)
    crash(a.channel)
    async with asyncio.timeout(LIMIT_S):
        sums = await asyncio.gather(*writes)
    assert sorted(sums) == list(range(1, 101))
    d = Blocks(cluster.channel("d"))
    await d.channel.connect()
    await until(lambda: not d.stock.stale)
    assert dict(d.stock) == {"n": 100}
    assert await d.stock.increment("n") == 101
    await b.stock.refresh()
    assert b.stock["n"] == 101


def crash(channel: Channel) -> None:
    """Nothing more is read or sent: for the others it is as if the process had been killed."""
    assert channel._lives.node is not None
    channel._lives.node.halt()


async def test_a_dict_comes_back_after_its_member_was_excluded(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lives_module, "REJOIN_INTERVAL_S", 0.0)
    a, b, c = await members(cluster, "abc")
    await b.stock.set("n", 1)
    b.channel._on_deliveries([Excluded("the view went on")])
    writing = asyncio.ensure_future(b.stock.increment("n"))
    await a.stock.increment("n")
    async with asyncio.timeout(LIMIT_S):
        assert await writing == 3
    await until(lambda: dict(a.stock) == dict(b.stock) == dict(c.stock) == {"n": 3})


async def test_a_member_that_began_with_nothing_gives_the_state_to_later_ones(
    cluster: Cluster,
) -> None:
    a, _ = await members(cluster, "ab")
    await a.stock.set("n", 7)
    await a.channel.close()
    c = Blocks(cluster.channel("c"))
    await c.channel.connect()
    await until(lambda: dict(c.stock) == {"n": 7})


async def test_fragments_travel_between_channels(cluster: Cluster) -> None:
    a, b = await members(cluster, "ab")
    async with await b.fragments.open([a.channel.address]) as state:
        assert b"".join([piece async for piece in state]) == bytes(300_000)


async def test_a_call_to_nobody_in_particular_is_a_multicast(cluster: Cluster) -> None:
    a, b = await members(cluster, "ab")
    await a.rpc.call("add", 1, 2, gather=Gather.NONE, ordered=True)
    await until(lambda: a.sums == b.sums == [3])
