"""JOIN-GROUP and LEAVE-GROUP as a process asks for them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from groupcore.context import Numbers
from groupcore.events import Saved
from groupcore.sequencing.commands import Tell
from groupcore.sequencing.events import MembersChanged, Refused, Told
from groupcore.sequencing.headers import StatePiece
from groupcore.sequencing.names import Order
from groupcore.sequencing.record import Record
from groupcore.sequencing.wish import Wish
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


@pytest.mark.parametrize("order", [Order.CAUSALLY_TOTAL, Order.STRICT])
def test_a_join_of_a_process_that_ends_before_it_is_in_is_answered(order: Order) -> None:
    world = World("ab")
    group = world.create("g", order)
    process = world.open("b")
    service = world["b"].service
    request = service.join(process, group, world.now)
    service.close_process(process, world.now)
    world.run(100)
    refused = [event for event in world["b"].events if isinstance(event, Refused)]
    assert [(one.request, one.code) for one in refused] == [(request, "left")]


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


def test_a_wish_that_is_put_off_is_looked_at_in_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    joining = World("a")["a"].service.joining
    assert not joining.is_put_off()
    monkeypatch.setattr(joining._wishes, "_put_off", {1: None})
    assert joining.is_put_off()


def test_who_has_begun_to_give_a_state_is_asked_on() -> None:
    """Whose state begins anew meanwhile would have nobody take what has come of the other."""
    world = World("abc")
    group, states = world.create("g"), world["a"].service.joining.states
    asked = SimpleNamespace(giver=world["b"].address, pieces=SimpleNamespace(count=1))
    states._of_group[group] = [asked]  # type: ignore[list-item]
    assert states.ask_nobody_but(group, world["b"].address)
    assert not states.ask_nobody_but(group, world["c"].address)


def test_who_joins_several_groups_waits_for_what_those_name_of_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World("ab")
    group, other, third = (world.create(name) for name in ("g", "h", "i"))
    process = world.open("a")
    for one in (group, other, third):
        world.join(process, one)
    plane, joining = world["a"].service.plane, world["a"].service.joining
    waited: list[bool] = []

    def settled(context: Numbers, concerns: Callable[[Record], bool]) -> bool:
        waited.extend(concerns(plane.records[one]) for one in (group, other, third))
        return True

    monkeypatch.setattr(plane, "settled", settled)
    wish = Wish(1, process, group, False, True)
    assert joining._is_settled(plane.records[group], wish, {group: None, other: None})
    assert waited == [True, True, False]
