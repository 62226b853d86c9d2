"""Members that come and go while messages, states and requests are late."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groupcore.batch import Batch
from groupcore.events import PrimaryLost
from groupcore.sequencing.choosing import score
from groupcore.sequencing.events import (
    Created,
    Delivered,
    Departed,
    Joined,
    Refused,
    Released,
    StateInstalled,
)
from groupcore.sequencing.headers import (
    Accept,
    Change,
    Leave,
    Level,
    Repair,
    StatePiece,
    StateRequest,
)
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.view import Address
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.sequencing.world import Packet, World


def header_of(packet: Packet) -> object:
    (raw,) = unpack_packets(b"\x91" + packet[2])
    return decode_packet(raw, packet[0], None).headers[-1]


def frames_of(world: World, sequencer: str, to: str) -> Callable[[Packet], bool]:
    """The frames of a sequencer on their way to a node, repairs included."""
    source, destination = world[sequencer].address, world[to].address

    def is_one(packet: Packet) -> bool:
        header = header_of(packet)
        own = packet[0] == source and isinstance(header, Accept | Change)
        repair = isinstance(header, Repair) and header.stream == source
        return packet[1] == destination and (own or repair)

    return is_one


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


def test_the_last_process_of_a_node_hears_that_it_has_left_at_its_place() -> None:
    """What stands before its LEAVE still waits for a cause in another group."""
    world = World("abc")
    cause, effect = world.create("cause"), world.create("effect")
    world.move(effect, "b")
    world.run(50)
    asker, answerer, watcher = world.open("a"), world.open("b"), world.open("c")
    for process in (asker, answerer, watcher):
        for group in (cause, effect):
            world.join(process, group)
    world.lost = frames_of(world, "a", "c")
    world.send(asker, cause, b"why?")
    world.run(5)
    world.send(answerer, effect, b"because")
    world.run(5)
    world["c"].service.leave(watcher, effect, world.now)
    world.run(60)
    world.lost = lambda _: False
    world.run(100)
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
    stranger = Leave(group, 7, 3)
    for _ in range(2):
        sequencer.sequencer.enrolment.request(world["b"].address, stranger)
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


def test_who_has_promised_to_wait_takes_no_late_state_of_another_one() -> None:
    """b asks d, whose answer is late; a, which has joined before b, asks b meanwhile."""
    world = World("abd")
    group = world.create("g")
    founder = world.open("d")
    world.join(founder, group)
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


def linked_late(world: World) -> tuple[GroupId, GroupId, str, str]:
    """Two strict groups at two nodes; the second one stays where it is when they meet."""
    groups = [world.create(name, Order.STRICT) for name in ("one", "other")]
    world.run(50)
    for group, node in zip(groups, "bc", strict=True):
        world.move(group, node)
    world.run(50)
    places = dict(zip("bc", groups, strict=True))
    stays = max(places, key=lambda node: score(places[node], node))
    (goes,) = set(places) - {stays}
    return places[goes], places[stays], goes, stays


@pytest.mark.parametrize("seed", range(4))
def test_t2_a_joiner_links_groups_behind_what_a_former_sequencer_has_numbered(seed: int) -> None:
    """P is in both groups; Q in the one that goes, where a message is numbered; then it joins."""
    world = World("abc", seed)
    goes, stays, source, target = linked_late(world)
    both, joiner, sender = world.open("a"), world.open(target), world.open("a")
    for group in (goes, stays):
        world.join(both, group)
    world.join(joiner, goes)
    assert world.own(goes) == source
    world.lost = frames_of(world, source, target)
    world.send(sender, goes, b"first")
    world.run(10)
    world[target].service.join(joiner, stays, world.now)
    world.run(10)
    assert world.own(goes) == target
    world.send(sender, stays, b"second")
    world.run(60)
    world.lost = lambda _: False
    world.run(200)
    logs = [
        [payload for _, payload in world.hosts[process.node].log[process]]
        for process in (both, joiner)
    ]
    assert sorted(logs[0]) == [b"first", b"second"]
    assert [payload for payload in logs[0] if payload in logs[1]] == logs[1]
    joined = [e for e in world[target].events if isinstance(e, Joined) and e.process == joiner]
    assert len(joined) == 2


def test_t2_what_was_numbered_elsewhere_binds_all_groups_that_are_linked_later() -> None:
    """The one that goes has moved before the two are linked, and its past is late at P."""
    world = World("abc")
    goes, stays, source, target = linked_late(world)
    both, joiner, sender = world.open("a"), world.open(target), world.open(target)
    for group in (goes, stays):
        world.join(both, group)
    world.join(joiner, goes)
    world.lost = frames_of(world, source, "a")
    world.send(sender, goes, b"first")
    world.run(10)
    world.move(goes, target)
    world.run(30)
    assert world.own(goes) == target
    world.join(joiner, stays)
    other = world.open(target)
    world.send(other, stays, b"second")
    world.run(30)
    world.lost = lambda _: False
    world.run(200)
    assert [payload for _, payload in world["a"].log[both]] == [b"first", b"second"]


def test_a_node_that_is_not_primary_is_not_woken_for_what_it_may_not_say() -> None:
    world = World("abc")
    group = world.create("g")
    world.send(world.open("a"), group, b"counted")
    world.run(30)
    service = world["a"].service
    service.on_event(PrimaryLost(), world.now)
    later = world.now + 2 * service.plane.options.report_s
    service.wake(later)
    service.end_turn(later)
    wake = service.next_wake()
    assert wake is None or wake > later


def test_a_leave_that_has_to_wait_for_a_join_plans_no_time() -> None:
    world = World("ab")
    group = world.create("g")
    leaver, joiner = world.open("b"), world.open("b")
    world.join(leaver, group)
    world.lost = lambda _: True
    service = world["b"].service
    service.leave(leaver, group, world.now)
    world.turn()
    service.join(joiner, group, world.now)
    later = world.now + service.plane.options.resend_max_s
    service.end_turn(later)
    wake = service.joining.next_wake()
    assert wake is None or wake > later


def test_nothing_is_planned_for_a_stream_that_is_over() -> None:
    world = World("abc")
    keeper = world["a"].service.keeper
    gone = Address("z", 1)
    world["a"].service.plane.stream(gone).start(0)
    world["a"].service.plane.streams[gone].note_last(3)
    keeper.ask(world.now)
    assert gone in keeper._asking
    del world["a"].service.plane.streams[gone]
    world.now += 1.0
    world["a"].service.end_turn(world.now)
    wake = keeper.next_wake()
    assert wake is None or wake > world.now
