"""Groups are deleted while people are in them, send to them, and move them about."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.errors import GroupRefusedError
from groupcore.sequencing.events import Deleted, Released
from groupcore.sequencing.headers import Accept, Repair
from groupcore.sequencing.names import GroupId, Process
from tests.groupcore.sequencing.world import World


def of(world: World, name: str, kind: type[Deleted | Released]) -> list[GroupId]:
    return [event.group for event in world[name].events if isinstance(event, kind)]


def test_every_node_is_told_and_who_was_in_has_let_go() -> None:
    world = World("abc")
    group, other = world.create("g"), world.create("h")
    members = [world.open(name) for name in "ab"]
    for process in members:
        world.join(process, group)
        world.join(process, other)
    request = world["c"].service.delete(group, world.now)
    world.turn()
    for name in "abc":
        assert of(world, name, Deleted) == [group]
        assert group not in world[name].service.plane.records
        assert world[name].service.plane.directory.names == {"h": other}
    (told,) = (event for event in world["c"].events if isinstance(event, Deleted))
    assert told.request == request
    assert [of(world, name, Released) for name in "abc"] == [[group], [group], []]
    for process in members:
        with pytest.raises(GroupRefusedError) as refused:
            world.send(process, group, b"late")
        assert refused.value.code == "unknown_group"
        world.send(process, other, b"on")
    world.run(50)
    for process in members:
        assert sorted(world.hosts[process.node].given[process, other]) == [b"on", b"on"]
    assert world.create("g") != group  # its name is free, its number is not given again


def test_what_waits_for_its_turn_in_a_deleted_group_holds_nothing_up() -> None:
    world = World("abcd")
    g, other = world.create("g"), world.create("other")
    mine, late = world.open("a"), world.open("c")
    for process in (mine, late):
        for group in (g, other):
            world.join(process, group)
    world.lose(Accept, Repair, to="c")
    world.send(mine, g, b"former")
    world.run(20)
    world.move(g, "b")
    world.run(20)
    world.send(mine, g, b"early")  # by b: c has not got what is before it
    world.run(20)
    plane, own = world["c"].service.plane, world["b"].service.plane.own
    for _, batch in own.kept(1, own.received):
        world["c"].service.receive(batch, world.now)
    world.turn()
    assert plane.early == 1
    world["a"].service.delete(g, world.now)
    world.turn()
    assert plane.early == 0
    assert not any(stream.undelivered for stream in plane.streams.values())
    world.lose_nothing()
    world.send(mine, other, b"behind it")
    world.run(100)
    assert world["c"].given[late, other] == [b"behind it"]


class Throng:
    """Processes at all nodes in groups that come, wander, and are deleted, by chance."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.world = World("abc", seed)
        self.processes = [self.world.open(name) for name in "aabbcc"]
        self.members: dict[GroupId, list[Process]] = {}
        self.sent: dict[GroupId, int] = {}
        for _ in range(4):
            self.found()
        self.keep = next(iter(self.members))

    def found(self) -> None:
        world = self.world
        group = world.create(f"g{len(self.sent)}", at=self.chance.choice("abc"))
        some = self.chance.sample(self.processes, 3)
        for process in some:
            world.join(process, group)
        self.members[group], self.sent[group] = some, 0

    def step(self) -> None:
        chance, world = self.chance, self.world
        group = chance.choice(list(self.members))
        what = chance.random()
        if what < 0.6:
            process = chance.choice(self.members[group])
            service = world.hosts[process.node].service
            service.send(process, group, [b"%d" % self.sent[group]], world.now)
            self.sent[group] += 1
        elif what < 0.8:
            world["a"].service.move((group,), world[chance.choice("abc")].address, "", world.now)
        elif what < 0.9 and group != self.keep:
            world[chance.choice("abc")].service.delete(group, world.now)
            world.turn()
            if group not in world["a"].service.plane.records:  # else it was moving
                del self.members[group]
        else:
            self.found()
        if chance.random() < 0.5:
            world.run(chance.randint(1, 3))


@pytest.mark.parametrize("seed", range(20))
def test_groups_that_are_left_get_all_and_nothing_is_left_of_the_others(seed: int) -> None:
    throng = Throng(seed)
    world = throng.world
    for _ in range(60):
        throng.step()
    world.run(300)
    assert len(throng.sent) > len(throng.members)
    for group, members in throng.members.items():
        for process in members:
            host = world.hosts[process.node]
            assert sorted(map(int, host.given[process, group])) == list(range(throng.sent[group]))
    for host in world.hosts.values():
        plane, sender = host.service.plane, host.service.sender
        assert plane.records.keys() == plane.directory.entries.keys() == throng.members.keys()
        assert not sender.outstanding
        assert not sender._outstanding_bytes
        assert not plane.early
        assert not any(stream.undelivered for stream in plane.streams.values())
