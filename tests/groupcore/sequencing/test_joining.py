"""JOIN-GROUP and LEAVE-GROUP as a process asks for them."""

from __future__ import annotations

import pytest

from groupcore.events import Saved
from groupcore.sequencing.commands import Tell
from groupcore.sequencing.events import MembersChanged, Refused, Told
from groupcore.sequencing.headers import StatePiece
from groupcore.sequencing.names import Order
from tests.groupcore.sequencing.world import World


@pytest.mark.parametrize("order", [Order.CAUSALLY_TOTAL, Order.STRICT])
def test_who_joins_already_or_is_in_does_not_join_again(order: Order) -> None:
    world = World("ab")
    group = world.create("g", order)
    process = world.open("b")
    service = world["b"].service
    first = service.join(process, group, world.now)
    second = service.join(process, group, world.now)
    world.run(100)
    third = service.join(process, group, world.now)
    world.run(100)
    refused = [event for event in world["b"].events if isinstance(event, Refused)]
    assert [(one.request, one.code) for one in refused] == [
        (second, "already_a_member"),
        (third, "already_a_member"),
    ]
    assert first not in (second, third)
    assert world["b"].members[group] == [process]


def test_a_new_node_that_has_the_records_says_who_is_in_the_view() -> None:
    world = World("ab")
    world.create("g")
    world.add("c")
    world.run(100)
    told = [event for event in world["c"].events if isinstance(event, MembersChanged)]
    assert world.view is not None
    assert [event.members for event in told] == [world.view.members]


def test_a_new_node_does_what_was_ordered_behind_the_state_that_it_takes_and_nothing_twice() -> (
    None
):
    world = World("ab")
    world.create("g")
    world.lose(StatePiece, to="c")
    world.add("c")
    for name in ("in the state", "and this one"):
        world["a"].service.plane.propose(Tell(name, b""))
        world.run(30)
    world.lose_nothing()
    world.run(100)
    world["b"].service.idle.end()
    world["b"].service.plane.propose(Tell("behind it", b""))
    world.run(10)
    told = {name: [e.topic for e in world[name].events if isinstance(e, Told)] for name in "abc"}
    assert told["a"] == told["b"] == ["in the state", "and this one", "behind it"]
    assert told["c"] == ["behind it"]


def test_a_place_of_the_order_that_is_saved_is_looked_at_in_this_turn() -> None:
    plane = (service := World("a")["a"].service).plane
    before = plane.progress
    service.on_event(Saved(1, 5), 100.0)
    assert (plane.place_saved, plane.progress) == ((1, 5), before + 1)
    service.on_event(Saved(1, 4), 100.0)
    assert plane.place_saved == (1, 5)
