"""Guests: sessions that attend and have done something in an object that goes by who departs."""

from __future__ import annotations

from typing import cast

import pytest

from groupcore.sequencing.events import Departed, Enrolled, Joined
from groupcore.sequencing.names import Process
from groupcore.shared import MemberChanged, SharedObject, operation
from groupcore.shared.errors import MisfitError
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import Ended, decode, encode, pack, unpack
from groupcore.shared.replica import Replica
from groupcore.shared.types import Lock
from groupcore.view import Address
from tests.groupcore.shared.ports import GROUP, HandPort, begin, calls, feed, run

A, B = Address("a", 1), Address("b", 1)
AT_A, AT_B = Process(A, 1), Process(B, 1)
ANN, BOB = Process(A, 2), Process(B, 2)
REQUEST = calls(("request", []))
ENDED = encode(Ended())


class Plain(SharedObject):
    """Goes by nobody's departure."""

    count: int = 0

    @operation
    def add(self) -> None:
        self.count += 1


class World:
    """A machine, and the numbers of its group."""

    def __init__(self, target: SharedObject) -> None:
        self.machine = Machine(target, GROUP)
        self.numbers: dict[Process, int] = {}

    def join(self, process: Process) -> None:
        self.machine.apply(Entry(self.machine.position + 1, process, 0, None, True))

    def depart(self, process: Process) -> list[Process]:
        done = self.machine.apply(Entry(self.machine.position + 1, process, 0, None))
        return [one for one, _ in done.ended]

    def send(self, process: Process, payload: bytes) -> list[Process]:
        number = self.numbers[process] = self.numbers.get(process, 0) + 1
        done = self.machine.apply(Entry(self.machine.position + 1, process, number, payload))
        assert done.error is None
        return [one for one, _ in done.ended]


def locked(*guests: Process) -> tuple[World, Lock]:
    """Both nodes are members; these have asked for the lock one after the other."""
    lock = Lock()
    world = World(lock)
    for process in (AT_A, AT_B):
        world.join(process)
    for process in guests:
        world.send(process, REQUEST)
    return world, lock


def test_g1_a_guest_departs_where_its_node_says_that_it_has_ended() -> None:
    world, lock = locked(ANN, BOB)
    assert lock.holder == ANN
    assert world.send(ANN, ENDED) == [ANN]
    assert (lock.holder, list(world.machine.guests)) == (BOB, [BOB])
    assert world.send(ANN, ENDED) == []


def test_g1_the_guests_of_a_node_depart_with_its_last_member() -> None:
    world, lock = locked(ANN, BOB)
    world.join(keeper := Process(A, 3))
    assert world.depart(AT_A) == []
    assert world.depart(keeper) == [ANN]
    assert (lock.holder, list(world.machine.guests)) == (BOB, [BOB])


def test_g2_what_a_session_does_behind_the_end_of_its_node_outlives_it_by_nothing() -> None:
    world, lock = locked()
    world.depart(AT_A)
    assert world.send(ANN, REQUEST) == [ANN]
    assert (lock.queue, world.machine.guests) == ([], {})


def test_who_goes_on_alone_has_no_guests() -> None:
    world, lock = locked(ANN, BOB)
    world.machine.go_on_alone(20)
    assert (lock.queue, world.machine.guests, world.machine.members) == ([], {}, {})


def test_who_joins_is_no_guest_any_more() -> None:
    world, _ = locked(ANN)
    world.join(ANN)
    assert world.machine.guests == {}
    assert world.depart(ANN) == []


def test_an_object_that_goes_by_nobodys_departure_has_no_guests() -> None:
    world = World(Plain())
    world.join(AT_A)
    world.send(ANN, calls(("add", [])))
    assert world.machine.guests == {}


def test_a_packed_state_goes_on_with_its_guests_and_one_of_before_has_none() -> None:
    world, _ = locked(ANN)
    packed = world.machine.packed()
    again = Machine(Lock(), GROUP)
    again.load(packed)
    assert (list(again.guests), again.packed()) == ([ANN], packed)
    fingerprint, order, fields = cast("list[list[object]]", unpack(packed))
    former = Machine(Lock(), GROUP)
    former.load(pack([fingerprint, order[:5], fields]))
    assert former.guests == {}


def test_sessions_that_were_members_in_a_state_of_before_are_taken_for_ended() -> None:
    """A former version let every session join; of a cluster that begins again none is there."""
    lock = Lock()
    world = World(lock)
    for process in (AT_A, ANN):
        world.join(process)
    world.send(ANN, REQUEST)
    again = Machine(Lock(), GROUP)
    again.load(world.machine.packed())
    again.go_on_alone(10)
    target = again.target
    assert isinstance(target, Lock)
    assert (target.queue, again.members) == ([], {})


@pytest.mark.parametrize("guests", [7, "x", [["a"]]])
def test_guests_that_are_none_are_no_state(guests: object) -> None:
    world, _ = locked(ANN)
    fingerprint, order, fields = cast("list[list[object]]", unpack(world.machine.packed()))
    with pytest.raises(MisfitError):
        Machine(Lock(), GROUP).load(pack([fingerprint, [*order[:5], guests], fields]))


def attending(kind: type[SharedObject]) -> tuple[Replica[SharedObject], HandPort]:
    """Ann's replica at node a; the node's process is the member."""
    port = HandPort(ANN)
    port.stands = AT_A
    replica = Replica(kind, port)
    begin(replica, AT_A)
    feed(replica, Joined(GROUP, 1, ANN))
    return replica, port


def test_who_attends_is_in_when_its_node_has_its_place() -> None:  # B6
    port = HandPort(ANN)
    port.stands = AT_A
    replica = Replica(Lock, port)
    begin(replica)
    feed(replica, Joined(GROUP, 1, ANN))
    assert not replica.is_in
    feed(replica, Enrolled(GROUP, 1, AT_A))
    assert replica.is_in


def test_r5_who_has_done_something_says_that_it_has_ended() -> None:
    replica, port = attending(Lock)
    asked = replica.target.request()  # type: ignore[attr-defined]
    replica.close()
    assert [type(decode(one)) for one in port.sent[1:]] == [Ended]
    assert port.asked[-1] == "leave"
    changes = replica.target.changes()
    feed(replica, run(2, ANN, 1, port.sent[0]), run(3, ANN, 2, port.sent[1]))
    assert asked.done
    gone = [one for one in changes.take() if isinstance(one, MemberChanged)]
    assert [(one.position, one.process, one.joined) for one in gone] == [(3, ANN, False)]
    feed(replica, Departed(GROUP, 0, ANN, False))
    assert replica.closed.done


@pytest.mark.parametrize("kind", [Lock, Plain])
def test_r5_who_has_only_looked_or_where_nobody_goes_by_it_says_nothing(
    kind: type[SharedObject],
) -> None:
    replica, port = attending(kind)
    if kind is Plain:
        replica.target.add()  # type: ignore[attr-defined]
    before = len(port.sent)
    replica.close()
    assert (len(port.sent), port.asked[-1]) == (before, "leave")


def test_r5_nothing_is_said_of_a_process_of_a_former_life() -> None:
    replica, port = attending(Lock)
    replica.target.request()  # type: ignore[attr-defined]
    replica.interrupt()
    before = len(port.sent)
    replica.close()
    assert len(port.sent) == before


def test_a_member_says_nothing_as_its_leave_has_a_place() -> None:
    port = HandPort(ANN)
    replica = Replica(Lock, port)
    begin(replica, ANN)
    replica.target.request()
    before = len(port.sent)
    replica.close()
    assert len(port.sent) == before
