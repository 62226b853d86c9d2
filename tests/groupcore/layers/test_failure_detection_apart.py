"""The rules of FD about who gets no unicasts of whom: when it counts, and the other way (I9)."""

from __future__ import annotations

from groupcore.events import ReachabilityChanged, Stalled
from groupcore.layers.failure_detection import DetectionOptions, FailureDetection, Heartbeat, Ping
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, bare, downs, events, installed

APART_S = 0.5
NOBODY: frozenset[Address] = frozenset()


def member() -> FailureDetection:
    layer = FailureDetection(A, DetectionOptions(parted_s=APART_S))
    layer.on_event(installed(A, B, C), 0.0)
    for other in (B, C):
        says(layer, other, 0.0)
    return layer


def says(layer: FailureDetection, who: Address, now: float, *indirect: Address) -> bool:
    """A heartbeat that names these; whether it changes who hears whom."""
    heartbeat = Heartbeat(1, indirect, indirect=indirect)
    return ReachabilityChanged() in events(layer.on_up(bare(who, heartbeat), now))


def test_who_gets_no_unicasts_of_whom_counts_when_all_have_had_the_time_to_say_so() -> None:
    layer = member()
    assert not layer.is_parting()
    says(layer, B, 1.0, A)
    assert layer.is_parting()
    assert layer.unheard() == {A: NOBODY, B: NOBODY, C: NOBODY}
    says(layer, C, 1.1, A)
    assert says(layer, C, 1.0 + APART_S, A)
    assert not layer.is_parting()
    assert layer.unheard() == {A: NOBODY, B: {A}, C: {A}}
    assert layer.indirect() == {B: {A}, C: {A}}


def test_it_counts_by_the_own_timer_too_and_in_a_new_view_anew() -> None:
    layer = member()
    says(layer, B, 1.0, A)
    layer.expected_at = 1.0 + APART_S
    effects = layer.on_timer("tick", 1.0 + APART_S)
    assert ReachabilityChanged() in events(effects)
    assert layer.unheard()[B] == {A}
    layer.on_event(installed(A, B, C, number=2), 2.0)
    assert layer.unheard() == {A: NOBODY}
    assert layer.indirect() == {}


def test_when_unicasts_come_again_the_next_report_has_its_time_anew() -> None:
    layer = member()
    says(layer, B, 1.0, A)
    says(layer, B, 1.0 + APART_S, A)
    assert says(layer, B, 1.6)
    assert not layer.is_parting()
    says(layer, B, 1.7, A)
    assert layer.is_parting()
    assert layer.unheard()[B] == NOBODY


def test_who_is_not_heard_at_all_counts_at_once() -> None:
    layer = member()
    says(layer, B, 1.0, A)
    layer.on_up(bare(C, Heartbeat(1, (B,))), 1.0)
    assert layer.unheard() == {A: NOBODY, B: NOBODY, C: {B}}


def test_nobody_is_doubted_because_another_gets_no_unicasts_of_it() -> None:
    layer = member()
    heartbeat = Heartbeat(1, (C,), indirect=(C,))
    assert downs(layer.on_up(bare(B, heartbeat), 1.0)) == []
    assert bare(A, Ping(), to=C) in downs(layer.on_up(bare(B, Heartbeat(1, (C,))), 1.1))


def test_what_is_for_one_that_gets_no_unicasts_of_this_member_goes_to_all() -> None:
    layer = member()
    assert layer.way_to(B) == B
    says(layer, B, 1.0, C)
    assert layer.way_to(B) == B
    says(layer, B, 1.0, A)
    assert layer.way_to(B) is None
    assert layer.way_to(C) == C


def test_whose_multicasts_come_may_answer_by_them() -> None:
    layer = FailureDetection(A, DetectionOptions(direct_missed=2))
    layer.on_event(installed(A, B, C), 0.0)
    for number in range(3):
        says(layer, B, number / 10)
    layer.on_timer("tick", 0.3)
    assert B in layer.unreachable()
    assert B not in layer.unanswering()


def test_who_grants_by_unicasts_that_do_not_come_is_not_stalled() -> None:
    layer = member()
    layer.on_event(Stalled((B,)), 1.0)
    assert layer.stalled() == {B}
    layer.paths.indirect = layer.mine = frozenset({B})
    assert layer.stalled() == NOBODY
