"""Groups are deleted while people are in them, send to them, and move them about."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.errors import GroupRefusedError
from groupcore.sequencing.events import Deleted, Released
from groupcore.sequencing.headers import Accept, Digest, Repair, Send
from groupcore.sequencing.names import BEGINNING, GroupId, Process
from tests.groupcore.sequencing.durable_world import DurableWorld
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


def test_nothing_is_kept_of_a_deleted_group_that_a_node_has_sequenced() -> None:
    world = World("abc")
    group = world.create("g")
    stays, goes = world.open("a"), world.open("b")
    for process in (stays, goes):
        world.join(process, group)
    world["b"].service.leave(goes, group, world.now)
    world.run(20)
    owner = world[world.own(group)].service
    assert group in owner.sequencer.ownership.owned
    assert any(group in world[name].service.joining._left for name in "abc")
    world["c"].service.delete(group, world.now)
    world.run(20)
    for name in "abc":
        service = world[name].service
        assert group not in service.sequencer.ownership.owned
        assert group not in service.joining._left


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


def given_up(world: World) -> tuple[GroupId, Process, Process]:
    """a's message to g, which b sequences, is lost; g is deleted, of which only a hears.

    Then the same process sends to another group, which a sequences; c's process is in both.
    """
    gone, other = world.create("g", at="b"), world.create("h")
    sender, late = world.open("a"), world.open("c")
    for group in (gone, other):
        world.join(late, group)
    world.run(60)
    assert world.own(gone) == "b"
    world.lose(Send, to="b")
    world.send(sender, gone, b"given up")
    world.run(5)
    world.fall_behind("b", "c")
    world["a"].service.delete(gone, world.now)
    world.run(5)
    world.send(sender, other, b"behind it")
    world.run(20)
    return other, sender, late


def test_a_frame_that_rests_on_a_deletion_is_recorded_behind_it() -> None:
    world = World("abc")
    other, _, late = given_up(world)
    stream = world["c"].service.plane.stream(world["a"].address)
    assert stream.received > stream.recorded
    assert world["c"].given[late, other] == []
    world.catch_up()
    world.run(20)
    assert world["c"].given[late, other] == [b"behind it"]


def test_who_has_given_nothing_up_names_no_place() -> None:
    world = World("abc")
    other, _, _ = given_up(world)
    stream = world["c"].service.plane.stream(world["a"].address)
    neighbour = world.open("a")
    world.send(neighbour, other, b"beside it")
    world.run(5)
    headers = [batch.headers[-1] for _, batch in stream.kept(1, stream.received)]
    places = [header.place for header in headers if isinstance(header, Accept)]
    assert places[-1] == BEGINNING < places[-2]


def test_a_node_that_starts_keeps_no_frame_that_rests_on_what_its_log_does_not_know() -> None:
    world = DurableWorld("abc")
    other, _, _ = given_up(world)
    world.power_cut()
    world.disks.pop("a")
    assert world.restart("bc")
    world.run(60)
    late = world.open("c")
    world.join(late, other)
    assert world["c"].state[other] == []
    assert world["c"].service.plane.directory.names.keys() == {"g", "h"}, "it is not deleted"


def test_what_was_given_in_a_deleted_group_is_named_by_what_its_members_send() -> None:
    world = World("abc")
    gone = world.create("g", at="b")
    member, sender = world.open("c"), world.open("b")
    world.join(member, gone)
    world.run(60)
    world.lose(Digest)  # nothing becomes stable
    world.send(sender, gone, b"one")
    world.run(20)
    assert world["c"].given[member, gone] == [b"one"]
    service = world["c"].service
    known = service.sender.context_of(service.sender.locals[member])
    assert known
    service.delete(gone, world.now)
    world.run(5)
    assert gone not in service.plane.records
    assert service.sender.context_of(service.sender.locals[member]) == known


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
