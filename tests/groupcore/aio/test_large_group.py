"""The rules of the large-group stack on real sockets: per-sender order, no acknowledgements."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from groupcore.aio.inbox import Message
from groupcore.events import Event, ViewInstalled
from groupcore.layers.nakack_headers import NakackOptions
from groupcore.stacks import LARGE_GROUP_STACK, StackOptions
from tests.groupcore.aio.cluster import Cluster, close_all, events_until, read

pytestmark = pytest.mark.slow

OPTIONS = StackOptions(nakack=NakackOptions(window_bytes=32 << 10))
"""A window that a few datagrams fill: what follows waits for stability."""


def all_are_there(item: Message | Event) -> bool:
    return isinstance(item, ViewInstalled) and len(item.view.members) == 3


@pytest.fixture(params=["multicast", "unicast"])
async def cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    made = Cluster(request.param == "multicast")
    yield made
    await close_all(made)


async def test_each_sender_is_heard_in_order_far_beyond_its_window(cluster: Cluster) -> None:
    channels = [
        await cluster.connected(
            node_id, stack=LARGE_GROUP_STACK, stack_options=OPTIONS, datagram_bytes_max=1_400
        )
        for node_id in "abc"
    ]
    for channel in channels:
        await events_until(channel, all_are_there)
    count, payload = 200, bytes(1_000)
    for number in range(count):
        for channel in channels:
            await channel.multicast(number.to_bytes(4) + payload)
    heard = await asyncio.gather(*(read(channel, 3 * count) for channel in channels))
    for got in heard:
        assert {position for _, _, position in got} == {0}
        for sender in "abc":
            numbers = [int.from_bytes(body[:4]) for name, body, _ in got if name == sender]
            assert numbers == list(range(count))
    counters = [channel.counters() for channel in channels]
    assert all(counter["PBCAST.collections"] for counter in counters)
