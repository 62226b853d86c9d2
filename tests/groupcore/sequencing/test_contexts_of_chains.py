"""What a process has sent before is named by what it sends next, wherever both are numbered."""

from __future__ import annotations

import pytest

from groupcore.sequencing.headers import Send
from groupcore.sequencing.names import GroupId, Process
from tests.groupcore.sequencing.packets import frames_of, header_of
from tests.groupcore.sequencing.scene import Scene
from tests.groupcore.sequencing.world import Packet, World


def two_sequencers() -> tuple[World, GroupId, GroupId, Process, Process]:
    """A group at a, one at b, a sender at d, a member of both at c."""
    world = World("abcd")
    groups = world.create("one"), world.create("other")
    for group, node in zip(groups, "ab", strict=True):
        if world.own(group) != node:
            world.move(group, node)
            world.run(50)
    sender, watcher = world.open("d"), world.open("c")
    for group in groups:
        world.join(watcher, group)
    world.run(50)
    return world, *groups, sender, watcher


@pytest.mark.parametrize("late", [False, True])
def test_what_a_process_sent_elsewhere_just_before_is_in_the_context(late: bool) -> None:
    """`late`: when the second request comes its sequencer has the first one's frame already."""
    world, one, other, sender, watcher = two_sequencers()
    lacks = frames_of(world, "a", "c")
    b, held = world["b"].address, list[Packet]()

    def hold_back(packet: Packet) -> bool:
        if late and packet[1] == b and isinstance(header_of(packet), Send):
            held.append(packet)
            return True
        return lacks(packet)

    world.lost = hold_back
    d = world["d"].service
    d.send(sender, one, [b"first"], world.now)
    d.send(sender, other, [b"second"], world.now)
    world.turn()
    world.run(3)
    world.lost = lacks
    for packet in held:
        world.deliver(packet)
    world.run(10)
    assert world["b"].service.sequencer.ownership.owned[other].seqno == 2
    assert world["c"].log[watcher] == []
    world.lose_nothing()
    world.run(200)
    assert [payload for _, payload in world["c"].log[watcher]] == [b"first", b"second"]


@pytest.mark.parametrize("gap", [1, 2])
def test_i1_what_is_not_the_sender_s_next_message_gets_no_number(gap: int) -> None:
    """Also where the request says that all before it has its place."""
    scene = Scene()
    sequencer = scene.service("a").sequencer
    before = sequencer.ownership.owned[scene.group].seqno
    scene.hand("a", scene.send_header(scene.group, first=1 + gap), b"ahead")
    assert sequencer.ownership.owned[scene.group].seqno == before
    assert scene.service("a").plane.counters["out_of_sequence"] == 1
