"""A node plans no time for what it may not do: it would be woken again and again."""

from __future__ import annotations

from groupcore.events import PrimaryLost
from groupcore.view import Address
from tests.groupcore.sequencing.world import World


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
