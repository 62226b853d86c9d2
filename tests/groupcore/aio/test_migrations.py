"""A group migrates again and again on real sockets, while all its members send."""

from __future__ import annotations

import asyncio
import os

import pytest

from groupcore.aio import GroupNode
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Process
from tests.groupcore.aio.cluster import free_port

MIGRATIONS = int(os.environ.get("MIGRATIONS", "1000"))
LAST_S = 30.0

Message = tuple[str, int]


class Member:
    """A node with one process in the group: sends its numbers, keeps what it is given."""

    def __init__(self, name: str, multicast: str) -> None:
        self.name = name
        self.sent = 0
        self.given: list[Message] = []
        self.node = GroupNode(
            "migrations", node_id=name, receiver=self.receive, multicast=multicast
        )
        self.process: Process | None = None
        self.changed = asyncio.Event()

    def receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                name = event.process.node.name
                self.given += [(name, int(payload)) for payload in event.payloads]
        self.changed.set()

    async def until_given(self, count: int) -> None:
        while len(self.given) < count:
            await self.told()

    async def told(self) -> None:
        """Until something has happened here."""
        self.changed.clear()
        await self.changed.wait()

    async def join(self) -> GroupId:
        group = await self.node.create("migrates")
        self.process = self.node.open_process()
        await self.node.join(self.process, group)
        return group

    def send(self, group: GroupId) -> None:
        assert self.process is not None, "it has joined"
        self.sent += 1
        self.node.send(self.process, group, [str(self.sent).encode()])


async def migrate(members: list[Member], group: GroupId) -> None:
    """Round the nodes, each asked by the next one; all send a message at every step."""
    for turn in range(MIGRATIONS):
        for member in members:
            member.send(group)
        member = members[turn % len(members)]
        asking = member.node
        target = members[(turn + 1) % len(members)].node.channel.address
        if asking.service.plane.owner(group) == target:
            continue
        await asking.move([group], target)
        while asking.service.plane.owner(group) != target:
            await member.told()
            member.send(group)


@pytest.mark.slow
@pytest.mark.asyncio
async def test_no_message_is_lost_or_doubled_by_a_thousand_migrations() -> None:
    multicast = f"228.8.8.22:{free_port()}"
    members = [Member(name, multicast) for name in "abc"]
    for member in members:
        await member.node.channel.connect()
    groups = [await member.join() for member in members]
    await migrate(members, groups[0])
    sent = [(member.name, number) for member in members for number in range(1, member.sent + 1)]
    async with asyncio.timeout(LAST_S):
        for member in members:
            await member.until_given(len(sent))
    for member in members:
        assert member.given == members[0].given, "one order"
        assert sorted(member.given) == sent, "each message once"
        of_a = [number for name, number in member.given if name == "a"]
        assert of_a == sorted(of_a), "in the order in which it was sent"
    for member in members:
        await member.node.close()
