"""Clusters of real channels on the loopback interface."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from groupcore.aio.channel import Channel
from groupcore.aio.inbox import Message
from groupcore.events import Event

KEY = b"k" * 32
LIMIT_S = 10


class Cluster:
    """Makes channels that find each other, and closes them when the test ends."""

    def __init__(self, with_multicast: bool) -> None:
        self.with_multicast = with_multicast
        self.group = f"228.8.8.8:{free_port()}"
        self.channels: list[Channel] = []

    def channel(self, node_id: str, **settings: Any) -> Channel:  # noqa: ANN401
        settings.setdefault("key", KEY)
        if self.with_multicast:
            settings["multicast"] = self.group
        else:
            settings["multicast"] = None
            settings["initial_hosts"] = [
                f"127.0.0.1:{other.socket_address[1]}" for other in self.channels[:1]
            ]
        made = Channel("test", node_id=node_id, **settings)
        self.channels.append(made)
        return made

    async def connected(self, node_id: str, **settings: Any) -> Channel:  # noqa: ANN401
        made = self.channel(node_id, **settings)
        async with asyncio.timeout(LIMIT_S):
            await made.connect()
        return made


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("0.0.0.0", 0))
        port: int = probe.getsockname()[1]
        return port


async def close_all(cluster: Cluster) -> None:
    for channel in cluster.channels:
        await channel.close()


async def read(channel: Channel, count: int) -> list[tuple[str, bytes, int]]:
    got = []
    async with asyncio.timeout(LIMIT_S):
        async for message in channel:
            got.append((message.origin.name, message.payload, message.position))
            if len(got) == count:
                break
    return got


async def events_until(
    channel: Channel, wanted: Callable[[Message | Event], bool]
) -> list[Message | Event]:
    got = []
    async with asyncio.timeout(LIMIT_S):
        async for item in channel.events():
            got.append(item)
            if wanted(item):
                break
    return got


def names(channel: Channel) -> tuple[str, ...]:
    return () if channel.view is None else channel.view.names
