"""JOIN and LEAVE at the sequencer: what comes late, and what stands before what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.sequencing.headers import Change, Join, Leave
from groupcore.sequencing.names import Place
from groupcore.sequencing.record import GONE, JOINED
from groupcore.view import View
from tests.groupcore.sequencing.scene import Scene
from tests.groupcore.sequencing.world import World


@pytest.mark.parametrize("late", ["join", "leave"])
def test_i1_a_request_that_comes_behind_a_later_one_of_the_same_process_is_nothing(
    late: str,
) -> None:
    scene = Scene()
    service, group, process = scene.service("a"), scene.group, scene.other
    record = service.plane.records[group]
    key = service.plane.senders.key(process)
    joined = (record.requests or {})[key]
    b = scene.world["b"].service
    b.leave(process, group, scene.world.now)
    scene.world.run(50)
    if late == "leave":
        scene.world.join(process, group)
        scene.world.run(50)
    newest = (record.requests or {})[key]
    assert newest > joined
    inside = process in record.members
    header = (Leave if late == "leave" else Join)(group, process.number, joined, Place(0, 0))
    before = service.sequencer.ownership.owned[group].seqno
    scene.hand("a", header, by="b")
    scene.world.run(50)
    assert service.plane.counters["old_request"] == 1
    assert service.sequencer.ownership.owned[group].seqno == before
    assert (process in record.members) is inside is (late == "leave")


def test_i4_whose_node_is_gone_leaves_before_who_has_waited_to_enter() -> None:
    """The request has come before the group's new sequencer could begin."""
    world = World("abc")
    group = world.create("g", at="a")
    lost, enters = world.open("c"), world.open("b")
    world.join(lost, group)
    world.run(50)
    service = world["a"].service
    plane, sequencer = service.plane, service.sequencer
    assert isinstance(plane.view, View)
    # c is gone; a takes the group over, and has still to get what was said of it.
    last = plane.records[group].seqno
    sequencer.own({group: last + 1}, {}, "inherited")
    plane.view = replace(plane.view, members=plane.view.members[:2])
    before = plane.own.received
    sequencer.enrolment.request(world["b"].address, Join(group, enters.number, 1, Place(0, 0)))
    assert plane.own.received == before
    sequencer.own({group: last}, {}, "inherited")
    sequencer.start()
    sequencer.number()
    frames = [batch.headers[-1] for _, batch in plane.own.kept(before + 1, plane.own.received)]
    said = [(one.what, one.node.name) for one in frames if isinstance(one, Change)]
    assert said == [(GONE, "c"), (JOINED, "b")]
