"""Members of the view that are still in a former one, or in none."""

from __future__ import annotations

from groupcore.events import Heard, Lagging, ReachabilityChanged
from groupcore.layers.failure_detection import DetectionOptions, FailureDetection, Heartbeat
from tests.groupcore.layers.building import STRANGER, A, B, C, bare, events, installed
from tests.groupcore.layers.test_failure_detection import TICK_S, member, run

BEGIN_S = DetectionOptions().begin_s
TICKS = round(BEGIN_S / TICK_S) + 1


def test_a_member_that_lives_in_a_former_view_is_told_of() -> None:
    layer = FailureDetection(A, DetectionOptions())
    layer.on_event(installed(A, B, number=2), 0.0)
    assert events(layer.on_up(bare(B, Heartbeat(1, ())), 0.1)) == [Lagging(B)]
    assert events(layer.on_up(bare(STRANGER, Heartbeat(1, ())), 0.1)) == []
    assert events(layer.on_up(bare(B, Heartbeat(3, ())), 0.1)) == []


def begun_by_c() -> FailureDetection:
    layer = member()
    layer.on_up(bare(C, Heartbeat(1, ())), 0.1)
    return layer


def test_who_has_not_begun_the_view_long_after_the_others_is_unheard_though_it_lives() -> (
    None
):  # I8
    layer = begun_by_c()
    run(layer, 0.0, TICKS - 2, B, C)
    assert layer.unreachable() == frozenset()
    effects = run(layer, BEGIN_S, 2, B, C)
    assert layer.unreachable() == {B}
    assert events(effects) == [ReachabilityChanged()]
    assert layer.on_event(Heard((B,)), BEGIN_S + 1) == []
    assert layer.unreachable() == {B}


def test_it_is_heard_again_with_its_first_heartbeat_of_the_view() -> None:
    layer = begun_by_c()
    run(layer, 0.0, TICKS + 1, B, C)
    layer.on_up(bare(B, Heartbeat(1, ())), BEGIN_S + 1)
    assert layer.unreachable() == frozenset()
    run(layer, BEGIN_S + 1, 3, B, C)
    assert layer.unreachable() == frozenset()


def test_with_each_view_and_for_one_that_has_slept_the_time_begins_anew() -> None:
    layer = begun_by_c()
    run(layer, 0.0, TICKS - 5, B, C)
    run(layer, BEGIN_S + 10, TICKS - 5, B, C)  # the timer comes 10 s late
    assert layer.unreachable() == frozenset()
    layer.on_event(installed(A, B, C), BEGIN_S + 20)
    run(layer, BEGIN_S + 20, TICKS - 5, B, C)
    assert layer.unreachable() == frozenset()
