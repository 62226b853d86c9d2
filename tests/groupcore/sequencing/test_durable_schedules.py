"""Random schedules with power cuts: what was told to be saved is there, in its order, whoever came.

Disks stop storing for a while, groups move, nodes crash and come back with what is on their disks,
and now and then the power is cut for all; then some nodes that are enough start again.
"""

from __future__ import annotations

from random import Random

import pytest

from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from tests.groupcore.sequencing.durable_world import DurableWorld

ORDERS = (Order.CAUSALLY_TOTAL, Order.CAUSALLY_TOTAL, Order.STRICT)
STEPS = 60


class Schedule:
    """One schedule; `told`: what is saved of each group, `seen`: the longest that was delivered."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = "abc" if self.random.random() < 0.6 else "abcde"
        tight = ServiceOptions(durable=True, archive_bytes=4, checkpoint_bytes=3_000)
        self.world = DurableWorld(self.names, seed, tight if seed % 2 else None)
        self.groups = [self.world.create(f"g{n}", self.random.choice(ORDERS)) for n in range(3)]
        self.members: list[tuple[Process, GroupId]] = []
        self.sent: dict[tuple[Process, GroupId, int], bytes] = {}
        self.told: dict[GroupId, set[bytes]] = {group: set() for group in self.groups}
        self.seen: dict[GroupId, list[bytes]] = {group: [] for group in self.groups}
        self.join()

    def play(self) -> None:
        for _ in range(STEPS):
            self.random.choices(
                (self.send, self.run, self.stick, self.move, self.cut, self.crash, self.add),
                (50, 20, 12, 5, 4, 4, 5),
            )[0]()
            self.note()
        for disk in self.world.disks.values():
            disk.is_stuck = False
        self.world.run(100)
        self.cut()

    # --- steps ----------------------------------------------------------------------------------

    def join(self) -> None:
        for group in self.groups:
            for host in self.world.lives():
                if self.random.random() < 0.6:
                    self.enter(host.address.name, group)

    def enter(self, name: str, group: GroupId) -> None:
        process = self.world.open(name)
        self.world.join(process, group)
        self.members.append((process, group))

    def send(self) -> None:
        living = [one for one in self.members if one[0].node in self.world.hosts]
        if living:
            process, group = self.random.choice(living)
            payload = b"%d" % len(self.sent)
            service = self.world.hosts[process.node].service
            number = service.send(process, group, [payload], self.world.now)
            self.sent[process, group, number] = payload
            self.world.turn()

    def run(self) -> None:
        self.world.run(self.random.choice((1, 1, 2, 5, 20)))

    def stick(self) -> None:
        disk = self.world.disks[self.random.choice(self.names)]
        disk.is_stuck = not disk.is_stuck

    def move(self) -> None:
        target = self.random.choice(self.world.lives())
        self.world.move(self.random.choice(self.groups), target.address.name)

    def crash(self) -> None:
        if len(self.world.hosts) > 2:
            self.world.crash(self.random.choice(self.world.lives()).address.name)
            self.world.run(60)

    def add(self) -> None:
        assert self.world.view is not None
        away = [name for name in self.names if name not in self.world.view.names]
        if away:
            self.world.add(self.random.choice(away))
            self.world.run(60)

    def cut(self) -> None:
        """The power, for all."""
        self.note()
        self.world.power_cut()
        self.members.clear()
        while True:
            some = [name for name in self.names if self.random.random() < 0.7]
            self.random.shuffle(some)
            if any(self.world.disks[name].record for name in some) and self.world.restart(
                "".join(some)
            ):
                break
        self.world.run(100)
        for host in self.world.lives():
            assert host.service.plane.ready
            assert not host.service.plane.directory.ending_streams()
        self.check()
        self.join()

    # --- what must be ---------------------------------------------------------------------------

    def note(self) -> None:
        """What the living are told; they agree."""
        for host in self.world.lives():
            host.note_saved()
            for (process, group), last in host.saved.items():
                numbers = range(1, last + 1)
                self.told[group].update(self.sent[process, group, n] for n in numbers)
            for group in self.groups:
                record = host.service.plane.records.get(group)
                hold = None if record is None else record.hold
                if hold is not None and not hold.waiting_for_state:
                    here, seen = host.state.get(group, []), self.seen[group]
                    both = min(len(here), len(seen))
                    assert here[:both] == seen[:both]
                    self.seen[group] = list(here if len(here) > len(seen) else seen)

    def check(self) -> None:
        """After a power cut: all that is saved is there, once, in the order that it had."""
        for group in self.groups:
            host = self.random.choice(self.world.lives())
            self.enter(host.address.name, group)
            here, seen, told = host.state.get(group, []), self.seen[group], self.told[group]
            assert told <= set(here)
            assert len(set(here)) == len(here)
            upto = max((at for at, one in enumerate(seen, 1) if one in told), default=0)
            assert here[:upto] == seen[:upto]
            self.seen[group] = list(here)


@pytest.mark.parametrize("seed", range(24))
def test_what_is_saved_survives(seed: int) -> None:
    Schedule(seed).play()
