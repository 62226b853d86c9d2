"""A light switch: the lamps of a house subscribe to a group; the switch only sends to it."""

import asyncio
from collections.abc import Callable

from groupcore.aio import GroupNode
from groupcore.sequencing.events import Accepted, Delivered, Departed, ServiceEvent


class Device:
    """One node with one process, and what it has been told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told: list[str] = []
        self.events: list[ServiceEvent] = []
        self.changed = asyncio.Event()
        self.node = GroupNode("house", node_id=name, receiver=self.receive)

    async def connect(self) -> None:
        await self.node.channel.connect()
        self.process = self.node.open_process()

    def receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                self.told += [payload.decode() for payload in event.payloads]
        self.events += events
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self.changed.clear()
            await self.changed.wait()

    async def until_told(self, *texts: str) -> None:
        await self.until(lambda: self.told == list(texts))

    def count(self, kind: type[ServiceEvent]) -> int:
        return sum(isinstance(event, kind) for event in self.events)


async def main() -> None:
    switch, ceiling, desk = devices = [Device(name) for name in ("switch", "ceiling", "desk")]
    for device in devices:
        await device.connect()
        lights = await device.node.create("lights")  # the first makes it, the others find it
    for lamp in (ceiling, desk):
        await lamp.node.join(lamp.process, lights)

    switch.node.send(switch.process, lights, [b"on"])  # without being a member
    await switch.until(lambda: switch.count(Accepted) == 1)
    for lamp in (ceiling, desk):
        await lamp.until_told("on")
        print(f"the {lamp.name} lamp is told: on")
    print("the switch knows that it was accepted, and is told nothing:", switch.told)

    desk.node.leave(desk.process, lights)
    await ceiling.until(lambda: ceiling.count(Departed) == 1)
    print("the desk lamp is unplugged")
    switch.node.send(switch.process, lights, [b"off"])
    await ceiling.until_told("on", "off")
    await switch.until(lambda: switch.count(Accepted) == 2)
    print("ceiling:", *ceiling.told)
    print("desk:", *desk.told)
    for device in devices:
        await device.node.close()


asyncio.run(main())
