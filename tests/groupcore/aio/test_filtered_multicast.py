"""Channels between which unicast works and multicast does not: each has a group of its own."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.aio.channel import Channel
from groupcore.aio.inbox import Message
from groupcore.events import Event, ViewInstalled
from tests.groupcore.aio.cluster import KEY, LIMIT_S, events_until, free_port, read

pytestmark = pytest.mark.slow


def is_whole(item: Message | Event) -> bool:
    return isinstance(item, ViewInstalled) and len(item.view.members) == 3


async def test_channels_go_on_by_copies_where_multicast_is_filtered() -> None:  # fault 9
    ports = [free_port() for _ in "abc"]
    channels = [
        Channel(
            "filtered",
            node_id=node_id,
            key=KEY,
            port=port,
            multicast=f"228.8.8.8:{free_port()}",
            initial_hosts=[f"127.0.0.1:{ports[0]}"],  # the others are introduced
            cluster_size=3,
        )
        for node_id, port in zip("abc", ports, strict=True)
    ]
    try:
        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(*(channel.connect() for channel in channels))
        for channel in channels:
            await events_until(channel, is_whole)
        for channel in channels:
            await channel.multicast(b"text")
        orders = await asyncio.gather(*(read(channel, 3) for channel in channels))
        assert orders[0] == orders[1] == orders[2]
    finally:
        for channel in channels:
            await channel.close()
