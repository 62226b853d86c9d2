"""Readers that do not keep up: what waits for them is bounded, and the group goes on.

Invariant 24; fault matrix row 8.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from groupcore.aio.channel import Channel
from groupcore.aio.inbox import Message
from groupcore.events import Excluded
from groupcore.stacks import DEFAULT_STACK
from tests.groupcore.aio.cluster import LIMIT_S, Cluster, close_all, events_until, names

pytestmark = pytest.mark.slow

CREDIT_BYTES = 200_000
MESSAGE_BYTES = 1_000
COUNT = 3_000


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster(with_multicast=True)
    yield made
    await close_all(made)


def stack(stall_timeout_s: float) -> str:
    options = f"credit_bytes={CREDIT_BYTES},stall_timeout_s={stall_timeout_s}"
    return DEFAULT_STACK.replace(":FC:", f":FC({options}):")


async def send_all(sender: Channel) -> None:
    for _ in range(COUNT):
        await sender.multicast(bytes(MESSAGE_BYTES))


async def read_all(reader: Channel) -> int:
    count = 0
    async with asyncio.timeout(LIMIT_S):
        async for _ in reader:
            count += 1
            if count == COUNT:
                break
    return count


async def until_blocked(sender: Channel, sending: asyncio.Task[None]) -> None:
    """Until the sender's flow control has had to ask for credit twice."""
    async with asyncio.timeout(LIMIT_S):
        while sender.counters()["FC.asked"] < 2:
            assert not sending.done()
            await asyncio.sleep(0)


@pytest.mark.parametrize("unread", ["b", "a"])
async def test_a_channel_that_is_not_read_slows_the_sender_before_memory_grows(
    cluster: Cluster, unread: str
) -> None:
    a = await cluster.connected("a", stack=stack(60))
    b = await cluster.connected("b", stack=stack(60))
    slow, fast = (b, a) if unread == "b" else (a, b)
    sending = asyncio.create_task(send_all(fast))
    reading = asyncio.create_task(read_all(fast))
    await until_blocked(a, sending)
    assert slow._inbox.backlog_bytes() <= 2 * CREDIT_BYTES
    assert await read_all(slow) == COUNT
    assert await reading == COUNT
    await sending


async def test_unicasts_to_a_channel_that_is_not_read_wait_at_their_sender(
    cluster: Cluster,
) -> None:
    a = await cluster.connected("a", stack=stack(60))
    b = await cluster.connected("b", stack=stack(60))

    async def send() -> None:
        for _ in range(COUNT):
            await a.unicast(b.address, bytes(MESSAGE_BYTES))

    sending = asyncio.create_task(send())
    await until_blocked(a, sending)
    assert b._inbox.backlog_bytes() <= 2 * CREDIT_BYTES
    assert await read_all(b) == COUNT
    await sending


async def test_who_does_not_read_at_all_is_left_behind_and_learns_why(cluster: Cluster) -> None:
    a = await cluster.connected("a", stack=stack(0.3))
    b = await cluster.connected("b", stack=stack(0.3))
    c = await cluster.connected("c", stack=stack(0.3))
    async with asyncio.timeout(LIMIT_S):
        await asyncio.gather(send_all(a), read_all(a), read_all(b))
    assert names(a) == ("a", "b")
    got = await events_until(c, lambda item: isinstance(item, Excluded))
    (excluded,) = [item for item in got if isinstance(item, Excluded)]
    assert "held the others up for too long" in excluded.reason
    assert len([item for item in got if isinstance(item, Message)]) < COUNT
