"""Members that come and go while messages, states and requests are late."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.sequencing import handing
from groupcore.sequencing.events import (
    Created,
    Delivered,
    Departed,
    Refused,
    Released,
    StateInstalled,
)
from groupcore.sequencing.headers import (
    Accept,
    Change,
    Digest,
    Leave,
    Level,
    Repair,
    StatePiece,
    StateRequest,
)
from groupcore.sequencing.names import BEGINNING, GroupId, Order, Process
from tests.groupcore.sequencing.packets import frames_of, header_of
from tests.groupcore.sequencing.world import Packet, World


def told(world: World, at: str, group: GroupId) -> list[str]:
    """What a node's host was told of a group, in short."""
    found = []
    for event in world[at].events:
        if getattr(event, "group", None) != group:
            continue
        match event:
            case Delivered(seqno=seqno):
                found.append(f"message {seqno}")
            case Departed(seqno=seqno, process=process):
                found.append(f"leave {seqno} of {process.node.name}")
            case Released():
                found.append("released")
    return found


def leaving_before_the_cause(watchers: int) -> tuple[World, GroupId]:
    """Processes of c leave the group of an effect, whose cause c gets only then."""
    world = World("abc")
    cause, effect = world.create("cause"), world.create("effect")
    world.move(effect, "b")
    world.run(50)
    asker, answerer = world.open("a"), world.open("b")
    watching = [world.open("c") for _ in range(watchers)]
    for process in (asker, answerer, *watching):
        for group in (cause, effect):
            world.join(process, group)
    world.lost = frames_of(world, "a", "c")
    world.send(asker, cause, b"why?")
    world.run(5)
    world.send(answerer, effect, b"because")
    world.run(5)
    for watcher in watching:
        world["c"].service.leave(watcher, effect, world.now)
    world.run(60)
    world.lost = lambda _: False
    world.run(100)
    return world, effect


def test_the_last_process_of_a_node_hears_that_it_has_left_at_its_place() -> None:
    """What stands before its LEAVE still waits for a cause in another group."""
    world, effect = leaving_before_the_cause(watchers=1)
    assert told(world, "c", effect)[-3:] == ["message 4", "leave 5 of c", "released"]


def test_a_process_that_leaves_before_it_has_the_state_hears_that_it_has_left() -> None:
    world = World("abc")
    group = world.create("g")
    world.join(world.open("a"), group)
    late = world.open("c")
    world.lost = lambda packet: isinstance(header_of(packet), StatePiece)
    world["c"].service.join(late, group, world.now)
    world.run(10)
    world["c"].service.leave(late, group, world.now)
    world.run(30)
    assert told(world, "c", group) == ["leave 3 of c", "released"]


def test_a_leave_that_the_taken_state_covers_is_answered() -> None:
    """Two processes join, one leaves; the state that comes is of a number behind the LEAVE."""
    world = World("abc")
    group = world.create("g")
    world.join(world.open("a"), group)
    stays, goes = world.open("c"), world.open("c")
    c = world["c"].address
    pieces: list[Packet] = []

    def hold_back(packet: Packet) -> bool:
        if isinstance(header_of(packet), StatePiece) and packet[1] == c:
            pieces.append(packet)
            return True
        return False

    world.lost = hold_back
    for process in (stays, goes):
        world["c"].service.join(process, group, world.now)
    world.run(10)
    world["c"].service.leave(goes, group, world.now)
    world.run(10)
    # The state is asked for anew, and copied then; the LEAVE's frame is behind what c has.
    world.lost = lambda _: False
    world.run(400)
    assert [event.process for event in world["c"].events if isinstance(event, Departed)] == [goes]
    assert stays in world["c"].members[group]


def test_a_leave_that_was_sent_again_is_not_refused() -> None:
    world = World("abc")
    group = world.create("g")
    world.join(world.open("a"), group)
    leaver = world.open("c")
    world.join(leaver, group)
    c = world["c"].address

    def frames_to_c(packet: Packet) -> bool:
        return packet[1] == c and isinstance(header_of(packet), Change | Accept | Repair)

    world.lost = frames_to_c
    requests: list[Packet] = []
    request = world["c"].service.leave(leaver, group, world.now)
    world.turn()
    requests = [packet for packet in world.packets if isinstance(header_of(packet), Leave)]
    assert requests
    world.run(20)
    assert leaver not in world["a"].service.plane.records[group].members
    for packet in requests:
        world.deliver(packet)
    world.run(20)
    world.lost = lambda _: False
    world.run(100)
    refused = [e for e in world["c"].events if isinstance(e, Refused) and e.request == request]
    assert not refused
    assert told(world, "c", group)[-1] == "released"


def test_a_leave_of_who_is_in_no_group_is_refused_however_often_it_comes() -> None:
    world = World("ab")
    group = world.create("g")
    world.run(20)
    sequencer = world["a"].service
    stranger = Leave(group, 7, 3, BEGINNING)
    for _ in range(2):
        sequencer.sequencer.enrolment.request(world["b"].address, stranger)
    sequencer.idle.end()  # this has not come in a packet
    assert [type(batch.headers[-1]).__name__ for batch in sequencer.take().sends] == [
        "Refusal",
        "Refusal",
    ]


def test_what_a_new_node_asks_for_before_it_has_the_directory_is_answered() -> None:
    world = World("ab")
    world.create("g")
    world.run(20)
    world.lost = lambda packet: isinstance(header_of(packet), StateRequest)
    world.add("c")
    service = world["c"].service
    request = service.create("g", Order.CAUSALLY_TOTAL, world.now)
    bad = service.move((99,), world["a"].address, "plan", world.now)
    world.run(20)
    world.lost = lambda _: False
    world.run(300)
    created = [e for e in world["c"].events if isinstance(e, Created) and e.request == request]
    assert [(e.group, e.again) for e in created] == [(1, True)]
    assert [e.request for e in world["c"].events if isinstance(e, Refused)] == [bad]


def waits_everywhere(world: World, group: GroupId, names: str) -> list[Process]:
    """One process at each node, whose JOINs are on record everywhere; nobody has the state."""
    world.lost = lambda packet: isinstance(header_of(packet), StatePiece)
    processes = [world.open(name) for name in names]
    for process in processes:
        world.hosts[process.node].service.join(process, group, world.now)
        world.run(5)
    return processes


def begun_anew(world: World, group: GroupId) -> list[str]:
    return [
        address.name
        for address, host in world.hosts.items()
        for event in host.events
        if isinstance(event, StateInstalled) and event.group == group and event.state is None
    ]


def test_who_has_joined_behind_in_the_cut_of_a_view_is_asked_before_anything_begins_anew() -> None:
    """a sequences, and learns with the next view alone that its frames are held: its own JOIN, and
    behind it that of c, to which b has given the state before it crashed. (Profile sequencing, seed
    126093142331894, schedule 5.)
    """
    world = World("abc")
    group = world.create("g")
    first = world.open("b")
    world.join(first, group)
    world.send(first, group, b"kept")
    world.run(20)
    world.lose(Digest, to="a")
    for name in "ac":
        world[name].service.join(world.open(name), group, world.now)
        world.run(20)
    assert group in world["c"].state
    assert group not in world["a"].state
    world.lose_nothing()
    world.crash("b")
    world.run(300)
    assert begun_anew(world, group) == []
    assert world["a"].state[group] == world["c"].state[group] == [b"kept"]


def test_who_begins_anew_stays_until_those_who_waited_for_it_have_the_state() -> None:
    """a and b wait for what d had; a begins anew, says something, and leaves at once."""
    world = World("abcd")
    group = world.create("g")
    world.join(world.open("d"), group)
    leaves, stays = waits_everywhere(world, group, "ab")
    world.crash("d")
    world.lose_nothing()
    world.lose(StatePiece, of="a")
    world.lose(StatePiece, of="d")
    for _ in range(1_000):
        if begun_anew(world, group):
            break
        world.run(1)
    world.send(leaves, group, b"kept")
    world["a"].service.leave(leaves, group, world.now)
    world.run(200)
    world.lose_nothing()
    world.run(500)
    assert begun_anew(world, group) == ["a"]
    assert world["b"].state[group] == [b"kept"]
    assert stays in world["b"].service.plane.records[group].members


def test_a_silence_is_no_answer_nobody_begins_anew_while_a_node_has_the_state() -> None:
    world = World("abc")
    group = world.create("g")
    first, again = world.open("a"), world.open("a")
    world.join(first, group)
    world.send(first, group, b"kept")
    world.run(20)
    waiter = world.open("b")
    world.lost = lambda packet: isinstance(header_of(packet), StatePiece)
    world["b"].service.join(waiter, group, world.now)
    world.run(20)
    # The first member of a is now one that has joined behind b's.
    world.join(again, group)
    world["a"].service.leave(first, group, world.now)
    world.run(1_000)
    assert begun_anew(world, group) == ["a"]
    world.lost = lambda _: False
    world.run(500)
    assert begun_anew(world, group) == ["a"]
    assert world["b"].state[group] == [b"kept"]


@pytest.mark.parametrize("seed", range(8))
def test_a_group_whose_state_is_gone_begins_anew_at_one_node_and_others_take_it(seed: int) -> None:
    world = World("abcd", seed)
    group = world.create("g")
    founder = world.open("d")
    world.join(founder, group)
    world.send(founder, group, b"gone")
    world.run(20)
    waiting = waits_everywhere(world, group, "abc")
    world.crash("d")
    world.run(50)
    assert begun_anew(world, group) == []
    world.lost = lambda _: world.random.random() < 0.2
    world.run(800)
    world.lost = lambda _: False
    world.run(400)
    assert begun_anew(world, group) == ["a"]
    sender = world.open("b")
    world.send(sender, group, b"new")
    world.run(100)
    for process in waiting:
        assert world.hosts[process.node].state[group][-1:] == [b"new"]
        assert process in world.hosts[process.node].members[group]


def test_who_has_promised_to_wait_takes_no_late_state_of_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """b asks d, whose answer is late; a, which has joined before b, asks b meanwhile."""
    monkeypatch.setattr(handing, "PATIENCE_S", 0.0)  # d has waited for both in vain
    world = World("abd")
    group = world.create("g")
    founder = world.open("d")
    world.join(founder, group)
    world.send(founder, group, b"said")
    world.run(20)
    a, b = world["a"], world["b"]
    late: list[Packet] = []

    def keep(packet: Packet) -> bool:
        if isinstance(header_of(packet), StatePiece):
            late.append(packet)
            return True
        return isinstance(header_of(packet), StateRequest) and packet[0] == a.address

    world.lost = keep
    processes = [world.open("a"), world.open("b")]
    for process in processes:
        world.hosts[process.node].service.join(process, group, world.now)
        world.run(10)
    (piece,) = late
    assert piece[0].name == "d"
    assert piece[1].name == "b"
    world["d"].service.leave(founder, group, world.now)
    world.run(20)
    token = a.service.joining.states._token
    request = StateRequest(token, group, 3, 0, ())
    world.lost = lambda packet: False
    b.service.receive(Batch(a.address, b.address, (request,)), world.now)
    world.deliver(piece)
    world.run(300)
    assert sorted(begun_anew(world, group)) == ["a", "d"]
    assert [world.hosts[process.node].state[group] for process in processes] == [[], []]
    for process in processes:
        assert process in world.hosts[process.node].members[group]


def test_a_late_question_about_a_stream_that_is_over_does_not_bring_it_back() -> None:
    world = World("abc")
    group = world.create("g")
    world.move(group, "c")
    world.run(20)
    processes = [world.open(name) for name in "ab"]
    for process in processes:
        world.join(process, group)
        world.send(process, group, b"x")
    world.run(20)
    c = world["c"].address
    world.crash("c")
    world.run(200)
    a, b = world["a"], world["b"].service
    assert c not in b.plane.streams
    assert world.view is not None
    question = Level(world.view.number, c, 1, a.address)
    b.receive(Batch(a.address, b.plane.me, (question,)), world.now)
    world.run(20)
    assert c not in b.plane.streams


def test_all_processes_of_a_node_that_leave_together_hear_of_it() -> None:
    """Their LEAVEs wait for a cause in another group; the first one must not drop the second."""
    world, effect = leaving_before_the_cause(watchers=2)
    assert told(world, "c", effect)[-3:] == ["leave 6 of c", "leave 7 of c", "released"]


def test_who_leaves_before_its_join_has_a_number_hears_that_it_has_left() -> None:
    """Its node has the group, so it was in at once."""
    world = World("ab")
    group = world.create("g")
    world.join(world.open("b"), group)
    hasty = world.open("b")
    world.lost = lambda _: True
    service = world["b"].service
    service.join(hasty, group, world.now)
    service.plane.progress += 1
    world.turn()
    assert hasty in world["b"].members[group]
    service.leave(hasty, group, world.now)
    world.turn()
    world.packets.clear()
    world.lost = lambda _: False
    world.run(200)
    assert told(world, "b", group)[-1] == "leave 0 of b"
    assert not [event for event in world["b"].events if isinstance(event, Refused)]
