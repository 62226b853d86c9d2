"""What concerns a group's state is told in the group's order, without a gap, at every node."""

from __future__ import annotations

import random

import pytest

from groupcore.sequencing.events import (
    Delivered,
    Departed,
    Enrolled,
    Joined,
    Released,
    ServiceEvent,
    StateInstalled,
)
from groupcore.sequencing.names import GroupId, Process
from tests.groupcore.sequencing.world import World

Told = list[tuple[int, str]]


class Listener:
    """What one node is told of one group since it has it: numbers, and what stood there."""

    def __init__(self, name: str, group: GroupId) -> None:
        self.name = name
        self.group = group
        self.told: Told = []
        self.last: int | None = None

    def hear(self, event: ServiceEvent) -> None:
        if getattr(event, "group", None) != self.group:
            return
        match event:
            case StateInstalled(seqno=seqno):
                self.last = seqno
            case Released():
                self.last = None
            case Delivered(seqno=seqno, process=process, payloads=payloads):
                for place, payload in enumerate(payloads):
                    self.note(seqno + place, f"{process} {payload!r}")
            case Joined(seqno=seqno, process=process) if process.node.name != self.name:
                self.note(seqno, f"{process} joined")
            case Enrolled(seqno=seqno, process=process):
                assert process.node.name == self.name
                self.note(seqno, f"{process} joined")
            case Departed(process=process) if self.last is None:
                assert process.node.name == self.name, "it answers a LEAVE that came first"
            case Departed(seqno=seqno, process=process):
                self.note(seqno, f"{process} departed")

    def note(self, seqno: int, what: str) -> None:
        assert self.last is not None, f"{self.name} is told of {seqno} before it has the state"
        assert seqno == self.last + 1, f"{self.name} is told of {seqno} behind {self.last}"
        self.last = seqno
        self.told.append((seqno, what))


def listen(world: World, group: GroupId) -> list[Listener]:
    listeners = []
    for address, host in world.hosts.items():
        listener = Listener(address.name, group)
        listeners.append(listener)
        handle = host.handle

        def both(
            events: list[ServiceEvent], listener: Listener = listener, handle: object = handle
        ) -> None:
            for event in events:
                listener.hear(event)
            assert callable(handle)
            handle(events)

        host.handle = both  # type: ignore[method-assign]
    return listeners


@pytest.mark.parametrize("seed", range(12))
def test_joins_of_a_node_s_own_processes_have_their_place_like_all_others(seed: int) -> None:
    world = World("abc", seed)
    group = world.create("g")
    listeners = listen(world, group)
    draw = random.Random(seed)
    inside: list[Process] = []
    for number in range(60):
        act = draw.random()
        if act < 0.3 and len(inside) < 8:
            process = world.open(draw.choice("abc"))
            world.hosts[process.node].service.join(process, group, world.now)
            inside.append(process)
        elif act < 0.4 and inside:
            process = inside.pop(draw.randrange(len(inside)))
            world.hosts[process.node].service.leave(process, group, world.now)
        elif inside:
            world.send(draw.choice(inside), group, f"{number}".encode())
        world.run(draw.randint(0, 3))
    world.run(100)
    everything: dict[int, str] = {}
    for listener in listeners:
        for seqno, what in listener.told:
            assert everything.setdefault(seqno, what) == what
