"""Thousands of groups wished for at once: `wishes`, `creating`, `states` (I4).

What one program asks for in one turn is a small part of everybody's turns, and all of it comes.
"""

from __future__ import annotations

from collections import Counter

from groupcore.events import PrimaryLost
from groupcore.sequencing import creating
from groupcore.sequencing.creating import CREATED_AT_ONCE
from groupcore.sequencing.events import Created, Refused
from groupcore.sequencing.headers import Accept, Change, Join, Leave, StateRequest
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.states import TAKEN_AT_ONCE
from groupcore.sequencing.wishes import ASKED_AT_ONCE
from groupcore.view import Address
from tests.groupcore.sequencing.packets import header_of
from tests.groupcore.sequencing.world import World

MANY = ASKED_AT_ONCE + 150


def create_many(world: World, count: int) -> list[GroupId]:
    service = world["a"].service
    for at in range(count):
        service.create(f"g{at}", Order.CAUSALLY_TOTAL, world.now)
    world.turn()
    return sorted(service.plane.records)


def ask(world: World, process: Process, groups: list[GroupId]) -> None:
    for group in groups:
        world.hosts[process.node].service.join(process, group, world.now)


def kinds(world: World, source: Address) -> Counter[type]:
    """What is on its way from a node to one other, by kind."""
    return Counter(type(header_of(one)) for one in world.packets if one[0] == source)


def inside(world: World, process: Process) -> int:
    return len(world.hosts[process.node].service.sender.locals[process].groups)


def test_i1_requests_are_under_way_some_at_a_time_and_all_are_answered() -> None:
    world = World("abc")
    groups = create_many(world, MANY)
    late = world.open("c")
    ask(world, late, groups)
    world.turn()
    asked = kinds(world, late.node)[Join]
    assert 0 < asked <= ASKED_AT_ONCE
    wishes = world["c"].service.joining._wishes
    for _ in range(200):
        assert len(wishes._under_way) <= ASKED_AT_ONCE
        world.run(1)
    assert inside(world, late) == MANY
    for group in groups:
        world["c"].service.leave(late, group, world.now)
    world.turn()
    assert 0 < kinds(world, late.node)[Leave] <= ASKED_AT_ONCE
    world.run(200)
    assert len(wishes) == inside(world, late) == 0


def test_i1_what_nobody_answers_keeps_nobody_waiting() -> None:
    world = World("abc")
    groups = create_many(world, ASKED_AT_ONCE)
    before = [group for group in groups if world["a"].service.plane.owner(group) is not None]
    silent = set(before[:ASKED_AT_ONCE])
    answered = world.create("answered")

    def is_lost(packet: tuple[Address, Address, bytes]) -> bool:
        header = header_of(packet)
        return isinstance(header, Join) and header.group in silent

    world.lost = is_lost
    late = world.open("c")
    own = world["c"].service.plane
    remote = [group for group in before if own.owner(group) != own.me]
    ask(world, late, [*before, answered])
    world.run(1_500)
    assert answered in world["c"].service.sender.locals[late].groups
    assert inside(world, late) == 1 + len(before) - len(remote)


def test_i2_wishes_have_their_turns_in_order() -> None:
    world = World("abc")
    groups = create_many(world, MANY)
    late = world.open("c")
    ask(world, late, groups)
    world.turn()
    first = [
        header.group
        for packet in world.packets
        if packet[0] == late.node and isinstance(header := header_of(packet), Join)
    ]
    assert first == sorted(first)
    assert max(first) <= ASKED_AT_ONCE


def test_i4_states_are_asked_for_some_at_a_time_and_all_come() -> None:
    world = World("ab")
    groups = create_many(world, 3 * TAKEN_AT_ONCE)
    first, late = world.open("a"), world.open("b")
    for group in groups:
        world.join(first, group)
        world["a"].service.send(first, group, [b"%d" % group], world.now)
    world.run(50)
    ask(world, late, groups)
    asking = world["b"].service.joining.states._asking
    seen = 0
    for _ in range(100):
        world.run(1)
        assert len(asking) <= TAKEN_AT_ONCE
        asked = Counter(
            header_of(one).token  # type: ignore[attr-defined]
            for one in world.packets
            if isinstance(header_of(one), StateRequest) and header_of(one).index == 0  # type: ignore[attr-defined]
        )
        assert len(asked) <= TAKEN_AT_ONCE
        seen = max(seen, len(asked))
    assert seen > TAKEN_AT_ONCE // 2
    assert inside(world, late) == len(groups)
    assert all(world["b"].state[group] == [b"%d" % group] for group in groups)


def test_i4_states_that_cannot_be_had_now_keep_no_others_waiting() -> None:
    """Of two nodes each waits for what the other has to begin first."""
    world = World("ab")
    groups = create_many(world, 4 * TAKEN_AT_ONCE)
    stranger = world.open("a")
    for group in groups:  # so that nobody can begin alone
        world["a"].service.send(stranger, group, [b"said"], world.now)
    world.run(50)
    half = len(groups) // 2
    one, other = world.open("a"), world.open("b")
    ask(world, one, groups[:half])
    ask(world, other, groups[half:])
    world.turn()
    world.lost = lambda packet: isinstance(header_of(packet), StateRequest)
    world.run(20)
    ask(world, one, groups[half:])
    ask(world, other, groups[:half])
    world.run(20)
    world.lose_nothing()
    world.run(600)
    assert inside(world, one) == inside(world, other) == len(groups)


def test_frames_without_messages_count_in_the_window() -> None:
    world = World("ab")
    groups = create_many(world, 50)
    world.lost = lambda packet: isinstance(header_of(packet), Accept | Change)
    process = world.open("a")
    ask(world, process, groups)
    world.turn()
    assert world["a"].service.plane.own.kept_bytes > 0


# --- creating -------------------------------------------------------------------------------------


def created(world: World, name: str) -> dict[int, tuple[GroupId, bool]]:
    """What this node's requests have come to: the group, and whether it was there before."""
    events = [event for event in world[name].events if isinstance(event, Created)]
    return {event.request: (event.group, event.again) for event in events}


def test_creating_i1_requests_are_in_the_order_some_at_a_time_and_all_are_answered() -> None:
    world = World("ab")
    service = world["b"].service
    requests = [service.create(f"g{at}", Order.FIFO, world.now) for at in range(MANY)]
    service.end_turn(world.now)
    output = service.take()
    assert len(output.commands) == CREATED_AT_ONCE
    for command in output.commands:
        world.position += 1
        for host in world.hosts.values():
            host.service.on_order(world["b"].address, command, world.now, world.position)
    world.turn()
    assert sorted(created(world, "b")) == requests
    assert len({group for group, _ in created(world, "b").values()}) == MANY


def test_creating_i1_what_is_not_answered_keeps_nobody_waiting() -> None:
    world = World("ab")
    service = world["b"].service
    for at in range(MANY):
        service.create(f"g{at}", Order.FIFO, world.now)
    service.end_turn(world.now)
    service.take()  # lost
    later = service.next_wake()
    while later is not None and later <= world.now + creating.PATIENCE_S:
        world.now = max(later, world.now + 0.001)
        service.wake(world.now)
        service.end_turn(world.now)
        left = service.take().commands
        if len(left) == MANY - CREATED_AT_ONCE:
            return
        later = service.next_wake()
    raise AssertionError("the others wait for ever")


def test_creating_i2_a_name_that_is_there_is_answered_without_the_order() -> None:
    world = World("ab")
    group = world.create("g")
    service = world["b"].service
    request = service.create("g", Order.CAUSALLY_TOTAL, world.now)
    service.end_turn(world.now)
    output = service.take()
    assert output.commands == []
    world["b"].handle(output.events)
    assert created(world, "b")[request] == (group, True)


def test_creating_i2_outside_the_primary_view_only_the_order_answers() -> None:
    world = World("ab")
    world.create("g")
    service = world["b"].service
    service.on_event(PrimaryLost(), world.now)
    service.create("g", Order.CAUSALLY_TOTAL, world.now)
    service.end_turn(world.now)
    assert len(service.take().commands) == 1


def test_creating_i2_a_name_of_another_order_is_refused_by_the_order() -> None:
    world = World("ab")
    world.create("g")
    request = world["b"].service.create("g", Order.STRICT, world.now)
    world.turn()
    refused = [one for one in world["b"].events if isinstance(one, Refused)]
    assert [(one.request, one.code) for one in refused] == [(request, "bad_order")]
