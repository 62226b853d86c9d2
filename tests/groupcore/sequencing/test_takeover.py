"""When a node begins to number what another one has numbered, and behind what."""

from __future__ import annotations

from groupcore.sequencing.directory_changes import StreamEnded
from groupcore.sequencing.headers import Join
from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.ownership import Takeover
from groupcore.view import Address
from tests.groupcore.sequencing.packets import frames_of
from tests.groupcore.sequencing.test_linking import linked_late
from tests.groupcore.sequencing.world import World


def test_i2_all_groups_of_a_component_are_delivered_behind_what_one_of_them_has_had() -> None:
    """From when its new sequencer begins, before the process that links them has joined."""
    world = World("abc")
    goes, stays, source, target = linked_late(world)
    both, joiner, sender = world.open("a"), world.open("a"), world.open("a")
    for group in (goes, stays):
        world.join(both, group)
    world.join(joiner, goes)
    world.lose(Join)
    world.send(sender, goes, b"first")
    world["a"].service.join(joiner, stays, world.now)
    while world.own(goes) != target:
        world.run(1)
    owned = world[target].service.sequencer.ownership.owned
    assert owned[goes].takeover is None
    assert world[source].address in owned[goes].carry
    assert owned[stays].carry == owned[goes].carry


def test_i3_nobody_joins_before_the_whole_component_is_here_with_its_past() -> None:
    """The groups have met at one node, which lacks what the former sequencer of one has said."""
    world = World("abc")
    goes, stays, source, target = linked_late(world)
    both, joiner, sender = world.open("a"), world.open(target), world.open("a")
    for group in (goes, stays):
        world.join(both, group)
    world.join(joiner, goes)
    world.lost = frames_of(world, source, target)
    world.send(sender, goes, b"first")
    world.run(10)
    world[target].service.join(joiner, stays, world.now)
    world.run(20)
    ownership = world[target].service.sequencer.ownership
    assert world.own(goes) == target
    assert ownership.owned[goes].takeover is not None
    assert not ownership.has_component(stays)
    assert not is_in(world, target, joiner.number, stays)
    world.lose_nothing()
    world.run(200)
    assert ownership.has_component(stays)
    assert is_in(world, target, joiner.number, stays)


def is_in(world: World, at: str, number: int, group: GroupId) -> bool:
    """Whether this process of the node is a member, as far as the sequencer has stamped."""
    service = world[at].service
    members = service.sequencer.ownership.owned[group].members or {}
    known = {*service.plane.records[group].members, *(p for p, on in members.items() if on)}
    return any((p.node.name, p.number) == (at, number) for p in known)


def test_i1_who_inherits_waits_for_all_streams_that_have_ended() -> None:
    """An earlier sequencer of the group may be gone as well, before its successor began."""
    world = World("ab")
    group = world.create("g", Order.CAUSALLY_TOTAL)
    world.run(50)
    plane = world["a"].service.plane
    former, earlier = Address("y", 1), Address("z", 1)
    for address in (former, earlier):
        plane.stream(address).start(0)
    takeover = Takeover({group: 0}, {former: 0}, (0, 0))
    assert takeover.ready(plane)
    stream = plane.stream(earlier)
    stream.finish(2)
    assert not takeover.ready(plane)
    stream.recorded = 2
    assert takeover.ready(plane)
    plane.directory.state.streams[earlier] = None
    assert plane.directory.ending_streams() == [earlier]
    assert not takeover.ready(plane)
    assert Takeover({group: 0}, {}, (0, 0)).ready(plane)


def test_i1_who_inherits_what_was_moved_waits_for_the_numbers_of_its_living_source() -> None:
    """The target of the move is gone before it has begun; what the source has said comes late."""
    world = World("abc")
    group = world.create("g", Order.CAUSALLY_TOTAL, at="a")
    sender = world.open("a")
    world.join(sender, group)
    world.run(50)
    service = world["b"].service
    world.lost = frames_of(world, "a", "b")
    world.send(sender, group, b"last")
    world.run(20)
    moved = world["a"].service.plane.records[group].seqno
    assert service.plane.records[group].seqno == moved - 1
    service.plane.directory.entries[group].floor = moved  # as `Moved` has told
    gone, heir = world["c"].address, world["b"].address
    service.migration.on_inherited(StreamEnded(gone, 0, gone, (group,), (heir,), (3,)))
    service.sequencer.start()
    ownership = service.sequencer.ownership
    assert ownership.active(group) is None
    world.lose_nothing()
    world.run(200)
    service.sequencer.start()
    assert ownership.active(group) is not None
    assert ownership.owned[group].seqno == moved
