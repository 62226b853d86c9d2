"""The rules of PING: who is there, and whether there is a view to join."""

from __future__ import annotations

import pytest

from groupcore.effects import Effect
from groupcore.events import Connect, Found, Leave, PrimaryLost, PrimaryRegained
from groupcore.layers.discovery import FOUND_MAX, Discover, Discovery, DiscoveryOptions, Present
from groupcore.layers.sequencer import Forward
from groupcore.view import Address, View
from tests.groupcore.layers.building import (
    A,
    B,
    C,
    bare,
    downs,
    events,
    headed,
    installed,
    timers,
    view_of,
)

VIEW = view_of(A, B)
OLD = view_of(A, C)


def seeker(basis: View | None = None) -> Discovery:
    return Discovery(C, lambda: basis, DiscoveryOptions())


def member(me: Address = A) -> Discovery:
    layer = Discovery(me, lambda: None, DiscoveryOptions())
    layer.on_event(installed(A, B), 0.0)
    return layer


def hear(layer: Discovery, sender: Address, header: Discover | Present, now: float) -> list[Effect]:
    return layer.on_up(bare(sender, header), now)


@pytest.mark.parametrize("basis", [None, OLD])
def test_a_node_that_looks_for_a_view_asks_until_it_is_in_one(basis: View | None) -> None:  # I2
    layer = seeker(basis)
    assert timers(layer.on_event(Connect(), 0.0)) == {"tick": 0}
    for _ in range(3):
        effects = layer.on_timer("tick", 0.0)
        assert downs(effects) == [bare(C, Discover(basis))]
        assert timers(effects) == {"tick": 0.1}
    layer.on_event(installed(A, C), 0.0)
    assert downs(layer.on_timer("tick", 0.0)) == []


def test_who_asks_tells_what_its_record_says_by_then() -> None:
    known: list[View] = [OLD]
    empty: list[bool] = [False]
    layer = Discovery(C, lambda: known[-1], DiscoveryOptions(), lambda: empty[-1])
    assert downs(layer.on_timer("tick", 0.0)) == [bare(C, Discover(OLD))]
    known.append(VIEW)
    empty.append(True)
    assert downs(layer.on_timer("tick", 0.1)) == [bare(C, Discover(VIEW, True))]


def test_who_hears_a_question_answers_with_its_view() -> None:
    effects = hear(member(B), C, Discover(OLD), 0.0)
    assert downs(effects) == [bare(B, Present(VIEW, True), to=C)]
    assert events(effects) == [Found()]


def test_who_is_in_no_view_has_nothing_to_answer() -> None:
    effects = hear(seeker(), A, Discover(None), 0.0)
    assert downs(effects) == []
    assert events(effects) == [Found()]


def test_the_coordinator_says_from_time_to_time_that_the_view_exists() -> None:
    effects = member().on_timer("tick", 0.0)
    assert downs(effects) == [bare(A, Present(VIEW, True))]
    assert timers(effects) == {"tick": 1.0}
    assert downs(member(B).on_timer("tick", 0.0)) == []


def test_a_member_that_cannot_decide_says_so() -> None:
    layer = member(B)
    layer.on_event(PrimaryLost(), 0.0)
    assert downs(layer.on_timer("tick", 0.0)) == [bare(B, Present(VIEW, False))]
    layer.on_event(PrimaryRegained(), 0.0)
    assert downs(layer.on_timer("tick", 0.0)) == []


def test_nodes_that_look_for_a_view_find_each_other_by_their_questions() -> None:
    layer = seeker()
    hear(layer, B, Discover(OLD), 1.0)
    hear(layer, A, Discover(None), 1.2)
    assert layer.seeking(1.2) == {A: None, B: OLD}
    assert list(layer.seeking(1.2)) == [A, B]


def test_what_was_heard_is_forgotten_after_a_while() -> None:  # I1
    layer = seeker()
    hear(layer, B, Discover(None), 1.0)
    hear(layer, A, Present(VIEW, True), 1.0)
    assert layer.seeking(2.5) == {B: None}
    assert layer.present(2.5) == {A: (VIEW, True)}
    assert layer.seeking(2.51) == {}
    assert layer.present(2.51) == {}


def test_who_asks_is_in_no_view_any_more_and_who_answers_has_found_one() -> None:
    layer = seeker()
    hear(layer, A, Present(VIEW, True), 0.0)
    hear(layer, A, Discover(None), 0.0)
    assert (layer.seeking(0.0), layer.present(0.0)) == ({A: None}, {})
    assert events(hear(layer, A, Present(VIEW, False), 0.0)) == [Found()]
    assert (layer.seeking(0.0), layer.present(0.0)) == ({}, {A: (VIEW, False)})


def test_only_the_newest_so_many_are_remembered() -> None:
    layer = seeker()
    for number in range(FOUND_MAX + 5):
        hear(layer, Address(f"s{number}", 1), Discover(None), 0.0)
        hear(layer, Address(f"m{number}", 1), Present(VIEW, True), 0.0)
    for found, letter in ((layer.seeking(0.0), "s"), (layer.present(0.0), "m")):
        assert len(found) <= FOUND_MAX + 1
        assert Address(f"{letter}{FOUND_MAX + 4}", 1) in found
        assert Address(f"{letter}0", 1) not in found


def test_a_header_of_another_layer_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="not a header of PING"):
        seeker().on_up(headed(A, Forward(1, 1)), 0.0)


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Leave(), 0.0) == []


def test_the_forgotten_make_room_for_others() -> None:
    layer = seeker()
    for number in range(FOUND_MAX + 1):
        hear(layer, Address(f"s{number}", 1), Discover(None), 0.0)
        hear(layer, Address(f"m{number}", 1), Present(VIEW, True), 0.0)
    hear(layer, A, Discover(None), 9.0)
    hear(layer, B, Present(VIEW, True), 9.0)
    assert layer.seeking(9.0) == {A: None}
    assert layer.present(9.0) == {B: (VIEW, True)}
