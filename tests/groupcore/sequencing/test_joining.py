"""JOIN-GROUP and LEAVE-GROUP as a process asks for them."""

from __future__ import annotations

import pytest

from groupcore.sequencing.events import MembersChanged, Refused
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
