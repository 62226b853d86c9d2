"""JOIN and LEAVE at the sequencer: what comes late, and what stands before what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest

from groupcore.context import Numbers
from groupcore.sequencing.asked import Asked, Piece
from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.headers import Accept, Change, Join, Leave, Refusal
from groupcore.sequencing.names import GroupId, Place, Process
from groupcore.sequencing.ownership import Owned
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import GONE, JOINED, LEFT
from groupcore.sequencing.sequencer import Sequencer
from groupcore.sim.jobs import Job
from groupcore.sim.plants import PLANTS
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


def test_i1_who_leaves_is_not_told_that_it_is_not_in_before_its_leave_is_held() -> None:
    """What is only numbered may be lost with the sequencer; its node asks the next one again."""
    world = World("abc")
    group = world.create("g", at="a")
    comes = world.open("b")
    world.run(50)
    service, node = world["a"].service, world["b"].address
    enrolment, plane = service.sequencer.enrolment, service.plane
    enrolment.request(node, Join(group, comes.number, 1, Place(0, 0)))
    for _ in range(2):
        enrolment.request(node, Leave(group, comes.number, 2, Place(0, 0)))
    assert [(one.what, one.request) for one in frames(plane)] == [(JOINED, 1), (LEFT, 2)]
    assert refusals(plane) == []
    stranger = Leave(group, comes.number + 1, 3, Place(0, 0))
    enrolment.request(node, stranger)  # of it nothing was ever numbered
    assert refusals(plane) == ["not_a_member"]


def refusals(plane: Plane) -> list[str]:
    """What a node says no with."""
    headers = (batch.headers[-1] for batch in plane.sends)
    return [header.code for header in headers if isinstance(header, Refusal)]


def frames(plane: Plane) -> list[Change]:
    """The changes of membership in a node's own stream."""
    kept = (batch.headers[-1] for _, batch in plane.own.kept(1, plane.own.received))
    return [header for header in kept if isinstance(header, Change)]


def said_by(world: World, name: str, since: int) -> list[tuple[str, str]]:
    """What a node has numbered behind that frame of its stream: of membership, and messages."""
    own = world[name].service.plane.own
    said = []
    for _, batch in own.kept(since + 1, own.received):
        header = batch.headers[-1]
        if isinstance(header, Change):
            said.append(({GONE: "gone", JOINED: "joined"}[header.what], header.node.name))
        elif isinstance(header, Accept):
            said.append(("message", header.origins[0].name))
    return said


def hand_over(world: World, to: str) -> None:
    """Everything that is on its way to that node arrives, and it looks at it."""
    arriving = [packet for packet in world.packets if packet[1].name == to]
    world.packets = [packet for packet in world.packets if packet not in arriving]
    for packet in arriving:
        world.deliver(packet)
    world[to].service.sequencer.number()


def test_i5_whose_node_is_gone_leaves_before_what_has_waited_for_the_new_sequencer() -> None:
    """S2 does not count who is gone: so what is numbered from now on must not either."""
    world = World("abc")
    group = world.create("g", at="a")
    lost, stays = world.open("c"), world.open("b")
    for process in (lost, stays):
        world.join(process, group)
    world.run(50)
    plane, sequencer = world["a"].service.plane, world["a"].service.sequencer
    assert isinstance(plane.view, View)
    last, before = plane.records[group].seqno, plane.own.received
    sequencer.own({group: last + 1}, {}, "inherited")
    plane.view = replace(plane.view, members=plane.view.members[:2])
    world["b"].service.send(stays, group, [b"waits"], world.now)
    world["b"].service.end_turn(world.now)
    world._send(world["b"].address, world["b"].service.take().sends)
    hand_over(world, "a")
    assert said_by(world, "a", before) == []
    sequencer.own({group: last}, {}, "inherited")
    sequencer.start()
    sequencer.number()
    assert said_by(world, "a", before) == [("gone", "c"), ("message", "b")]


def test_i5_whose_node_is_gone_leaves_before_what_has_waited_for_a_move_that_is_off() -> None:
    """The view that ends the move is the one that node is not in."""
    world = World("abc")
    group = world.create("g", at="a")
    lost, stays, enters, mine = (world.open(name) for name in "cbba")
    for process in (lost, stays, mine):
        world.join(process, group)
    world.run(50)
    plane = world["a"].service.plane
    world.send(mine, group, b"not held yet")
    world.move(group, "c")
    before = plane.own.received
    world["b"].service.join(enters, group, world.now)
    world.send(stays, group, b"waits")
    hand_over(world, "a")
    assert plane.directory.moves
    assert said_by(world, "a", before) == []
    world.lost = lambda packet: packet[1].name == "a"
    world.crash("c")
    assert not plane.directory.moves
    said = said_by(world, "a", before)
    assert said[0] == ("gone", "c")
    assert sorted(said[1:]) == [("joined", "b"), ("message", "b")]


@contextmanager
def watched_numbers() -> Iterator[list[GroupId]]:
    """Groups in which a number is given while somebody has still to leave whose node is gone."""
    found: list[GroupId] = []
    number, number_all, change = Sequencer._number, Sequencer._number_all, Enrolment._change

    def note(enrolment: Enrolment, *groups: GroupId) -> None:
        found.extend(group for group in groups if group in enrolment.expelling)

    def numbers(self: Sequencer, asked: Asked, owned: Owned, run: Piece) -> None:
        note(self.enrolment, run[0])
        number(self, asked, owned, run)

    def numbers_all(
        self: Sequencer,
        frame: int,
        stretches: list[tuple[int, ...]],
        columns: tuple[tuple[int, ...], ...],
        keys: dict[int, int],
        behind: Numbers,
    ) -> list[int]:
        seqnos = number_all(self, frame, stretches, columns, keys, behind)
        note(self.enrolment, *columns[0][: len(seqnos)])
        return seqnos

    def changes(
        self: Enrolment, group: GroupId, owned: Owned, process: Process, what: int, request: int
    ) -> None:
        note(self, group)
        change(self, group, owned, process, what, request)

    with (
        patch.object(Sequencer, "_number", numbers),
        patch.object(Sequencer, "_number_all", numbers_all),
        patch.object(Enrolment, "_change", changes),
    ):
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["sequencing", "strict-churn"])
def test_i5_nothing_has_a_number_where_somebody_has_still_to_leave_whose_node_is_gone(
    profile: str,
) -> None:
    with watched_numbers() as found:
        for index in range(8):
            assert Job(profile, 5, index, "").verdict().violations == []
    assert found == []


def test_i5_such_numbers_are_seen_where_the_rule_is_not_kept() -> None:
    planted = PLANTS["doc-births-mixed"].planted()
    with watched_numbers() as found, planted, pytest.raises(AssertionError):
        test_i5_whose_node_is_gone_leaves_before_what_has_waited_for_the_new_sequencer()
    assert found
