"""The rules of FD about the two paths of each pair: multicasts and unicasts (I9)."""

from __future__ import annotations

from groupcore.effects import Effect
from groupcore.events import Heard, ReachabilityChanged
from groupcore.layers.failure_detection import (
    DetectionOptions,
    Direct,
    FailureDetection,
    Heartbeat,
    Ping,
    Pong,
)
from groupcore.paths import DIRECTS_MAX, EVERY, Paths
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, bare, downs, events, installed, view_of

TICK_S = 0.1
MISSED = 6


def member() -> FailureDetection:
    layer = FailureDetection(A, DetectionOptions(TICK_S, direct_missed=MISSED))
    layer.on_event(installed(A, B, C), 0.0)
    return layer


def tick(layer: FailureDetection, now: float, directly: tuple[Address, ...]) -> list[Effect]:
    """A heartbeat of each, unicasts of some, and the own timer."""
    effects = layer.on_event(Heard((B, C)), now)
    for other in (B, C):
        effects += layer.on_up(bare(other, Heartbeat(1, ())), now)
    for other in directly:
        effects += layer.on_up(bare(other, Direct(), to=A), now)
    return [*effects, *layer.on_timer("tick", now)]


def run(layer: FailureDetection, ticks: int, *directly: Address, start: int = 0) -> list[Effect]:
    effects: list[Effect] = []
    for number in range(start, start + ticks):
        effects += tick(layer, number * TICK_S, directly)
    return effects


def test_a_unicast_goes_to_every_member_with_every_second_heartbeat() -> None:
    effects = run(member(), 10, B, C)
    for other in (B, C):
        assert downs(effects).count(bare(A, Direct(), to=other)) == 10 // EVERY


def test_who_is_heard_by_multicasts_alone_is_asked_and_then_unheard() -> None:
    layer = member()
    effects = run(layer, MISSED, C)
    assert bare(A, Ping(), to=B) in downs(effects)
    assert layer.unreachable() == frozenset()
    effects = run(layer, 1, C, start=MISSED)
    assert ReachabilityChanged() in events(effects)
    assert layer.unreachable() == {B}
    assert layer.counters()["indirect"] == 1
    assert bare(A, Heartbeat(1, (B,), indirect=(B,))) in downs(effects)


def test_no_multicast_makes_it_heard_again_and_one_unicast_does() -> None:
    layer = member()
    run(layer, MISSED + 3, C)
    assert layer.unreachable() == {B}
    assert layer.on_event(Heard((B,)), 1.0) == []
    assert layer.unreachable() == {B}
    effects = layer.on_up(bare(B, Direct(), to=A), 1.0)
    assert events(effects) == [ReachabilityChanged()]
    assert layer.unreachable() == frozenset()


def test_an_answer_to_a_question_counts_as_a_unicast() -> None:
    layer = member()
    for number in range(3):
        run(layer, MISSED - 1, C, start=number * MISSED)
        layer.on_up(bare(B, Pong(), to=A), number * MISSED * TICK_S)
    assert layer.unreachable() == frozenset()


def test_whose_unicasts_ended_together_are_lost_together() -> None:
    layer = member()
    run(layer, 1, C)
    run(layer, MISSED, start=1)
    assert layer.unreachable() == {B, C}


def test_time_alone_loses_nobody() -> None:
    """Neither a pause of the member nor one of this node says anything about a path."""
    layer = member()
    run(layer, 2, B, C)
    for number in range(100):
        assert layer.paths.lost(frozenset()) == [], number
    layer.on_timer("tick", 60.0)
    assert layer.counters()["indirect"] == 0


def test_in_a_large_view_the_unicasts_go_round_and_are_waited_for_as_long() -> None:
    others = [Address(f"n{number:03}", 1) for number in range(2 * DIRECTS_MAX)]
    paths = Paths(A, MISSED)
    paths.on_view(view_of(A, *others))
    assert paths.bound == 2 * MISSED
    sent = [one for _ in range(2 * EVERY) for one in paths.next_directs()]
    assert sorted(sent) == others


def test_a_node_without_a_view_says_that_it_hears_whom_it_has_asked_and_who_has_answered() -> None:
    layer = FailureDetection(A, DetectionOptions(TICK_S))
    assert downs(layer.on_event(Heard((B, C)), 1.0)) == [
        bare(A, Ping(), to=B),
        bare(A, Ping(), to=C),
    ]
    assert downs(layer.on_event(Heard((B,)), 1.01)) == []
    layer.on_up(bare(B, Pong(), to=A), 1.02)
    assert layer.heard_since(0.5) == (B, C)
    assert layer.reached_since(0.5) == (B,)
