"""Members with a dispatcher, for the tests of calls."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.rpc import RpcDispatcher
from groupcore.view import Address
from tests.groupcore.blocks.group import FakeGroup, settle

LONG_S = 60.0
"""A time-out that no test waits for."""


class Peer:
    """A member with a dispatcher, and functions that write down their calls."""

    def __init__(
        self, group: FakeGroup, name: str, concurrency_max: int = 64, waiting_max: int = 1024
    ) -> None:
        self.channel = group.channel(name)
        self.adapter = PullPushAdapter(self.channel, retry_s=0.0)
        self.rpc = RpcDispatcher(
            self.adapter, concurrency_max=concurrency_max, waiting_max=waiting_max
        )
        self.ran: list[object] = []
        self.gate = asyncio.Event()
        self.rpc.register("add", self.add)
        self.rpc.register("fail", self.fail)
        self.rpc.register("wait", self.wait)
        self.adapter.start()

    @property
    def address(self) -> Address:
        return self.channel.address

    def add(self, a: int, b: int = 1) -> int:
        self.ran.append((a, b))
        return a + b

    def fail(self, text: str) -> None:
        raise ValueError(text)

    async def wait(self, value: object) -> object:
        self.ran.append(value)
        await self.gate.wait()
        self.ran.append("end")
        return value


async def peers(count: int, **limits: int) -> tuple[FakeGroup, list[Peer]]:
    """So many members in one view."""
    group = FakeGroup()
    made = [Peer(group, name, **limits) for name in "abcde"[:count]]
    group.join(*(peer.channel for peer in made))
    await settle()
    return group, made


BOTH_WAYS = pytest.mark.parametrize("ordered", [False, True])
