"""Random runs of a few services: in the end all is sent, recorded, delivered, and the same."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from groupcore.errors import GroupRefusedError
from groupcore.sequencing.names import GroupId, Order, Process
from tests.groupcore.sequencing.world import World

STEPS = 80
ORDERS = (Order.CAUSALLY_TOTAL, Order.CAUSALLY_TOTAL, Order.STRICT, Order.FIFO)


class Schedule:
    """Processes join, leave and send; groups move; one node dies, two come."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.world = self.make_world("abc" if seed % 2 else "abcd", seed)
        self.lossy = self.random.random() < 0.5
        self.groups = [
            self.world.create(f"g{at}", self.random.choice(ORDERS))
            for at in range(self.random.randrange(1, 6))
        ]
        self.processes: list[Process] = []
        self.numbers: dict[tuple[Process, GroupId], int] = {}
        self.crashed = False
        self.added = 0

    def make_world(self, names: str, seed: int) -> World:
        """The cluster in which it happens."""
        return World(names, seed)

    def run(self) -> None:
        """All steps, and then until nothing moves any more."""
        self.world.lost = lambda _: self.lossy and self.world.random.random() < 0.15
        for _ in range(STEPS):
            self.step()
            if self.random.random() < 0.6:
                self.world.run(self.random.randrange(1, 4))
        self.world.lost = lambda _: False
        self.world.run(1_200)

    def step(self) -> None:
        """Something at random."""
        world, random = self.world, self.random
        living = [process for process in self.processes if process.node in world.hosts]
        names = [address.name for address in world.hosts]
        dice = random.random()
        if dice < 0.08 or not living:
            self.processes.append(world.open(random.choice(names)))
            return
        process, group = random.choice(living), random.choice(self.groups)
        service = world.hosts[process.node].service
        if dice < 0.25:
            service.join(process, group, world.now)
        elif dice < 0.32:
            service.leave(process, group, world.now)
            members = world.hosts[process.node].members.get(group, [])
            if process in members:
                members.remove(process)
        elif dice < 0.40:
            world.move(group, random.choice(names))
        elif dice < 0.43 and len(names) > 2 and not self.crashed:
            self.crashed = True
            world.crash(random.choice(names))
        elif dice < 0.45 and self.added < 2:
            self.added += 1
            world.add(f"n{self.added}")
        else:
            number = self.numbers[process, group] = self.numbers.get((process, group), 0) + 1
            payload = f"{process}:{number}".encode()
            with suppress(GroupRefusedError):  # it has not heard of the group yet
                service.send(process, group, [payload], world.now)


@pytest.mark.parametrize("seed", range(10))
def test_whatever_happens_everything_ends_and_is_in_order(seed: int) -> None:
    schedule = Schedule(seed)
    schedule.run()
    hosts = schedule.world.hosts
    for host in hosts.values():
        service = host.service
        assert service.plane.ready
        assert not service.sender.outstanding
        assert not service.receiver._blocked
        assert not service.plane.directory.moves
        for stream in service.plane.streams.values():
            assert stream.received == stream.recorded == stream.delivered == stream.highest
    for group in schedule.groups:
        assert len({host.service.plane.records[group].seqno for host in hosts.values()}) == 1
    for host in hosts.values():
        for given in host.given.values():
            assert len(set(given)) == len(given)
            last: dict[str, int] = {}
            for message in given:
                sender, _, number = message.decode().rpartition(":")
                assert last.get(sender, 0) < int(number)
                last[sender] = int(number)
