"""How the stream of a lost node ends where a view has no cut, since a quorum has no memory."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch, Header
from groupcore.events import ViewInstalled
from groupcore.sequencing import headers as h
from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address, View
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.sequencing.world import World

A, B, C, D = (Address(name, 1) for name in "abcd")


class Lost:
    """Node d has sequenced the group, and is gone; a, b and c have a view without a cut.

    Its last frame, with message x, is at those of `having` only. Nothing that a, b and c say of the
    end arrives before `settle`.
    """

    def __init__(self, having: str) -> None:
        self.world = world = World("abcd")
        self.group: GroupId = world.create("g", at="d")
        if world.own(self.group) != "d":
            world.move(self.group, "d")
            world.run(60)
        assert world.own(self.group) == "d"
        self.processes: dict[str, Process] = {name: world.open(name) for name in "abc"}
        for process in self.processes.values():
            world.join(process, self.group)
        world.run(60)
        before = self.reach("a")
        for name in "abc":
            if name not in having:
                world.lose(h.Accept, h.Repair, to=name)
        world.send(self.processes["a"], self.group, b"x")
        world.run(20)
        self.end = before + 1
        assert {name for name in "abc" if self.reach(name) == self.end} == set(having)
        world.packets.clear()
        former, self.view = world.view, View(2, 2, 0, 1, (A, B, C))
        del world.hosts[D]
        world.view = self.view
        for host in world.hosts.values():
            event = ViewInstalled(self.view, former, False, (A, B, C), recovered=True)
            host.service.on_event(event, world.now)
        world.turn()

    def reach(self, name: str) -> int:
        return self.world[name].service.plane.streams[D].received

    def is_over(self) -> bool:
        """Whether it is in the order that the stream has ended."""
        over = {not self.world[name].service.plane.directory.ending_streams() for name in "abc"}
        assert len(over) == 1
        return over.pop()

    def given(self) -> list[list[bytes]]:
        return [self.world[n].given[one, self.group] for n, one in self.processes.items()]

    def settle(self) -> None:
        self.world.lose_nothing()
        self.world.run(100)


@pytest.mark.parametrize("having", ["a", "b", "c", "ab", "bc", "abc"])
def test_i1_it_ends_with_the_last_that_anybody_has_and_everybody_gets_that(having: str) -> None:
    lost = Lost(having)
    lost.settle()
    assert lost.is_over()
    assert lost.given() == [[b"x"]] * 3
    assert lost.world.own(lost.group) in "abc"
    lost.world.send(lost.processes["b"], lost.group, b"y")
    lost.world.run(60)
    assert lost.given() == [[b"x", b"y"]] * 3


def test_i1_it_has_not_ended_before_every_member_has_said_how_far_it_is() -> None:
    lost = Lost("abc")
    lost.world.lose_nothing()
    lost.world.lose(h.Reached, of="c")
    lost.world.run(100)
    assert not lost.is_over()
    lost.settle()  # it is asked again
    assert lost.is_over()
    assert lost.given() == [[b"x"]] * 3


@pytest.mark.parametrize("having", ["a", "c"])
def test_i2_it_has_not_ended_before_a_quorum_has_it_to_its_end(having: str) -> None:
    lost = Lost(having)
    lost.world.lose_nothing()
    lost.world.lose(h.Repair)
    lost.world.run(100)
    assert not lost.is_over()
    lost.settle()
    assert lost.is_over()
    assert lost.given() == [[b"x"]] * 3


def test_from_its_answer_on_a_member_takes_nothing_more_of_the_stream() -> None:
    lost = Lost("a")
    for name in "abc":
        stream = lost.world[name].service.plane.streams[D]
        assert stream.fenced
    kept = lost.world["a"].service.plane.streams[D].kept(lost.end, lost.end)
    ((_, frame),) = kept
    b = lost.world["b"].service
    b.receive(frame, lost.world.now)
    b.end_turn(lost.world.now)
    assert lost.reach("b") == lost.end - 1
    lost.settle()
    assert lost.given() == [[b"x"]] * 3


def hand(lost: Lost, name: str, header: Header, by: Address) -> list[Header]:
    """Hand this to a node; what it sends to who has said it."""
    world = lost.world
    world.packets.clear()
    world[name].service.receive(Batch(by, world[name].address, (header,)), world.now)
    world.turn()
    sent = [data for source, to, data in world.packets if (source.name, to) == (name, by)]
    raws = [raw for data in sent for raw in unpack_packets(b"\x91" + data)]
    return [decode_packet(raw, world[name].address, None).headers[-1] for raw in raws]


def test_only_the_coordinator_of_this_view_is_told_how_far_the_stream_is() -> None:
    lost = Lost("abc")
    asked = h.Level(2, D, lost.end, A)
    answer = h.Reached(2, D, lost.end)
    assert answer not in hand(lost, "b", asked, C)
    assert answer not in hand(lost, "b", h.Level(1, D, lost.end, A), A)
    assert answer in hand(lost, "b", asked, A)


def test_answers_of_another_view_or_to_another_member_count_for_nothing() -> None:
    lost = Lost("abc")
    for view in (1, 3):
        for by in (B, C):
            hand(lost, "a", h.Reached(view, D, lost.end), by)
    for by in (A, C):
        hand(lost, "b", h.Reached(2, D, lost.end), by)
    assert not lost.is_over()
    for by in (B, C):
        hand(lost, "a", h.Reached(2, D, lost.end), by)
    assert lost.is_over()
