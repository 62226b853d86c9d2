"""The rules of FD: who is unheard, and who says so (I8: `test_failure_detection_lagging`)."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.effects import Effect
from groupcore.events import (
    Connect,
    ConnectionClosed,
    Heard,
    Leave,
    OrderLate,
    ReachabilityChanged,
    SeenAlive,
    Slept,
    Stalled,
)
from groupcore.layers.failure_detection import (
    STRANGERS_MAX,
    DetectionOptions,
    Direct,
    FailureDetection,
    Heartbeat,
    Ping,
    Pong,
)
from groupcore.view import Address
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    bare,
    downs,
    events,
    installed,
    timers,
)

TICK_S, TIMEOUT_S, PINGS = 0.1, 0.6, 3


def member(*members: Address, now: float = 0.0) -> FailureDetection:
    layer = FailureDetection(A, DetectionOptions(TICK_S, TIMEOUT_S, PINGS))
    layer.on_event(installed(*(members or (A, B, C))), now)
    return layer


def run(layer: FailureDetection, start_s: float, ticks: int, *heard: Address) -> list[Effect]:
    """Ticks one after the other from a time on; some members are heard before each."""
    effects = []
    for number in range(ticks):
        now = start_s + number * TICK_S
        if heard:
            effects += layer.on_event(Heard(heard), now)
        effects += layer.on_timer("tick", now)
    return effects


def silent(layer: FailureDetection) -> list[Effect]:
    """B is silent until it is unheard; C is heard all the time."""
    return run(layer, 0.0, 12, C)


# --- I hear ---------------------------------------------------------------------------------------


def test_every_member_multicasts_a_heartbeat_that_names_whom_it_does_not_hear() -> None:
    layer = member()
    effects = layer.on_timer("tick", 0.0)
    assert downs(effects) == [bare(A, Heartbeat(1, ()))]
    assert timers(effects) == {"tick": TICK_S}
    silent(layer)
    assert bare(A, Heartbeat(1, (B,))) in downs(layer.on_timer("tick", 1.2))


def test_who_is_alone_sends_no_heartbeat() -> None:
    assert downs(member(A).on_timer("tick", 0.0)) == []


def test_a_member_that_has_been_silent_for_long_is_asked_directly() -> None:  # I1
    layer = member()
    assert bare(A, Ping(), to=B) not in downs(run(layer, 0.0, 6, C))
    assert bare(A, Ping(), to=B) in downs(run(layer, 0.6, 1, C))


def test_a_member_is_unheard_only_after_silence_and_unanswered_questions() -> None:  # I1
    layer = member()
    effects = run(layer, 0.0, 9, C)
    assert downs(effects).count(bare(A, Ping(), to=B)) == PINGS
    assert events(effects) == []
    assert layer.unreachable() == frozenset()
    assert events(run(layer, 0.9, 1, C)) == [ReachabilityChanged()]
    assert layer.unreachable() == {B}
    assert layer.counters() == {
        "suspicions": 1,
        "late_timers": 0,
        "doubts": 0,
        "sleeps": 0,
        "unheard": 1,
        "stalled": 0,
        "indirect": 0,
    }


def test_a_killed_member_is_unheard_within_the_time_that_the_settings_promise() -> None:
    layer = member()
    run(layer, 0.0, 1 + round((TIMEOUT_S + (PINGS + 1) * TICK_S) / TICK_S), C)
    assert layer.unreachable() == {B}


def test_an_answer_in_time_begins_the_silence_anew() -> None:  # I1
    layer = member()
    run(layer, 0.0, 9, C)
    layer.on_event(Heard((B,)), 0.85)
    assert events(run(layer, 0.9, 6, C)) == []
    assert layer.unreachable() == frozenset()


def test_who_is_seen_alive_by_others_is_not_doubted_yet() -> None:
    # pbcast design: a gossip resets the times for all members that are in its path
    layer = member()
    run(layer, 0.0, 4, C)
    layer.on_event(SeenAlive((B,)), 0.35)
    assert bare(A, Ping(), to=B) not in downs(run(layer, 0.4, 5, C))
    assert bare(A, Ping(), to=B) in downs(run(layer, 0.96, 1, C))


def test_the_word_of_others_makes_nobody_heard() -> None:  # I2
    layer = member()
    silent(layer)
    assert layer.on_event(SeenAlive((B,)), 1.2) == []
    assert layer.unreachable() == {B}
    assert B not in layer.heard_since(1.0)


def test_the_unheard_are_asked_on() -> None:  # I2: so that a healed link is found
    layer = member()
    silent(layer)
    assert bare(A, Ping(), to=B) in downs(layer.on_timer("tick", 1.2))
    assert layer.counters()["suspicions"] == 1


def test_one_datagram_makes_an_unheard_member_heard_again() -> None:  # I2
    layer = member()
    silent(layer)
    assert events(layer.on_event(Heard((C,)), 1.2)) == []
    assert events(layer.on_event(Heard((B,)), 1.2)) == [ReachabilityChanged()]
    assert layer.unreachable() == frozenset()


def test_a_ping_is_answered() -> None:
    assert downs(member().on_up(bare(B, Ping(), to=A), 0.0)) == [bare(A, Pong(), to=B)]


def test_a_pong_says_nothing_but_that_its_sender_lives() -> None:
    assert member().on_up(bare(B, Pong(), to=A), 0.0) == []


# --- I sleep --------------------------------------------------------------------------------------


def test_who_has_slept_suspects_nobody_until_it_has_listened_again() -> None:  # I3
    layer = member()
    run(layer, 0.0, 2, B, C)
    effects = run(layer, 5.0, 6)  # the timer is late by far more than half of the timeout
    assert layer.counters()["late_timers"] == 1
    assert events(effects) == []
    sent = {type(batch.headers[-1]) for batch in downs(effects)}
    assert sent <= {Heartbeat, Direct}, "it asks nobody"
    assert bare(A, Ping(), to=B) in downs(run(layer, 5.65, 1))


def test_questions_from_before_the_sleep_do_not_count() -> None:  # I3
    layer = member()
    run(layer, 0.0, 9, C)
    assert run(layer, 5.0, 1) != []
    assert events(run(layer, 5.1, 8)) == []


def test_a_timer_that_is_late_by_a_little_is_not_late() -> None:  # I3
    layer = member()
    run(layer, 0.0, 1, B, C)
    layer.on_timer("tick", TICK_S + TIMEOUT_S / 2 - 0.01)
    assert layer.counters()["late_timers"] == 0
    run(layer, 2.0, 1)
    assert layer.counters()["late_timers"] == 1


# --- others hear ----------------------------------------------------------------------------------


def hear(layer: FailureDetection, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


def test_everybody_knows_who_hears_whom() -> None:
    layer = member()
    assert events(hear(layer, bare(B, Heartbeat(1, (C,))))) == [ReachabilityChanged()]
    assert layer.unheard() == {A: frozenset(), B: frozenset({C})}
    assert hear(layer, bare(B, Heartbeat(1, (C,)))) == []
    assert events(hear(layer, bare(B, Heartbeat(1, ())))) == [ReachabilityChanged()]


@pytest.mark.parametrize(
    "batch",
    [bare(B, Heartbeat(2, (C,))), bare(B, Heartbeat(0, (C,))), bare(STRANGER, Heartbeat(1, (C,)))],
)
def test_a_report_of_another_view_or_of_a_stranger_counts_for_nothing(batch: Batch) -> None:  # I4
    layer = member()
    assert hear(layer, batch) == []
    assert layer.unheard() == {A: frozenset()}


def test_only_members_of_the_view_are_suspected() -> None:  # I4
    layer = member(A, C)
    layer.on_event(Heard((B,)), 0.0)
    assert events(run(layer, 0.0, 15, C)) == []


def test_a_view_begins_with_everybody_heard() -> None:  # I4
    layer = member()
    silent(layer)
    hear(layer, bare(C, Heartbeat(1, (B,))))
    assert timers(layer.on_event(installed(A, B, C, number=2), 1.2)) == {"tick": 0}
    assert layer.unheard() == {A: frozenset()}
    assert events(run(layer, 1.2, 6)) == []


def test_before_the_first_view_nobody_is_suspected() -> None:
    layer = FailureDetection(A, DetectionOptions())
    assert timers(layer.on_event(Connect(), 0.0)) == {"tick": 0}
    assert run(layer, 0.0, 1)
    assert downs(run(layer, 0.1, 20)) == []
    assert hear(layer, bare(B, Heartbeat(1, ()))) == []


def test_whoever_was_heard_of_late_can_be_asked_for() -> None:
    layer = member(now=0.0)
    layer.on_event(Heard((STRANGER, B)), 3.0)
    assert layer.heard_since(2.0) == (B, STRANGER)
    assert layer.heard_since(0.0) == (A, B, C, STRANGER)
    assert layer.heard_since(3.1) == ()


@pytest.mark.parametrize("in_view", [True, False])
def test_strangers_are_forgotten_when_they_are_too_many(in_view: bool) -> None:
    layer = member() if in_view else FailureDetection(A, DetectionOptions())
    for number in range(STRANGERS_MAX + 9):
        layer.on_event(Heard((Address(f"s{number}", 1),)), 1.0)
    assert len(layer.last_heard) <= STRANGERS_MAX
    assert not in_view or layer.heard_since(0.0)[:3] == (A, B, C)


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Leave(), 0.0) == []


def test_the_first_heartbeat_is_noted_though_it_names_nobody() -> None:
    layer = member()
    hear(layer, bare(B, Heartbeat(1, ())))
    assert layer.unheard() == {A: frozenset(), B: frozenset()}


def test_the_first_timer_of_a_life_is_never_late() -> None:  # I3
    layer = member(now=1000.0)
    run(layer, 1000.0, 1)
    assert layer.counters()["late_timers"] == 0


# --- a reason to doubt ----------------------------------------------------------------------------

DOUBT_S = DetectionOptions().doubt_interval_s


def doubting(layer: FailureDetection, start_s: float, rounds: int) -> list[Effect]:
    """The timer of the questions to the doubted, as often as said, never late."""
    effects = []
    for number in range(1, rounds + 1):
        effects += layer.on_timer("doubt", start_s + number * DOUBT_S)
    return effects


def test_a_member_whose_connection_has_closed_is_asked_at_once() -> None:  # I1
    layer = member()
    effects = layer.on_event(ConnectionClosed(B), 1.0)
    assert downs(effects) == [bare(A, Ping(), to=B)]
    assert timers(effects) == {"doubt": DOUBT_S}
    assert layer.unreachable() == frozenset()


def test_a_killed_member_is_unheard_after_a_few_short_questions() -> None:  # I1
    layer = member()
    layer.on_event(ConnectionClosed(B), 1.0)
    assert events(doubting(layer, 1.0, PINGS - 1)) == []
    assert events(layer.on_timer("doubt", 1.0 + PINGS * DOUBT_S)) == [ReachabilityChanged()]
    assert layer.unreachable() == {B}


def test_who_is_newly_unheard_is_told_to_the_others_at_once() -> None:  # I5
    layer = member()
    layer.on_event(ConnectionClosed(B), 1.0)
    assert bare(A, Heartbeat(1, (B,))) in downs(doubting(layer, 1.0, PINGS))


def test_a_doubted_member_that_answers_stays() -> None:  # I1
    layer = member()
    layer.on_event(ConnectionClosed(B), 1.0)
    layer.on_timer("doubt", 1.0 + DOUBT_S)
    layer.on_event(Heard((B,)), 1.03)
    assert timers(doubting(layer, 1.02, PINGS)) == {}
    assert layer.unreachable() == frozenset()


def test_a_member_that_another_reports_is_asked_by_everybody() -> None:  # I1
    layer = member()
    effects = layer.on_up(bare(C, Heartbeat(1, (B,))), 1.0)
    assert downs(effects) == [bare(A, Ping(), to=B)]
    assert downs(layer.on_up(bare(C, Heartbeat(1, (B,))), 1.1)) == []


def test_a_late_question_counts_for_nothing() -> None:  # I3: the answer may lie unread
    layer = member()
    layer.on_event(ConnectionClosed(B), 1.0)
    for number in range(1, 6):
        assert events(layer.on_timer("doubt", 1.0 + number)) == []
    assert layer.unreachable() == frozenset()


def test_the_connection_of_a_stranger_or_of_a_former_view_is_nothing() -> None:  # I4
    layer = member()
    assert layer.on_event(ConnectionClosed(STRANGER), 1.0) == []
    layer.on_event(ConnectionClosed(B), 1.0)
    layer.on_event(installed(A, C, number=2), 1.01)
    assert downs(layer.on_timer("doubt", 1.0 + DOUBT_S)) == []


# --- stalled members ------------------------------------------------------------------------------


def test_whom_flow_control_reports_is_told_to_the_others_at_once() -> None:  # I6
    layer = member()
    effects = layer.on_event(Stalled((B,)), 1.0)
    assert downs(effects) == [bare(A, Heartbeat(1, (), (B,)))]
    assert events(effects) == [ReachabilityChanged()]
    assert bare(A, Heartbeat(1, (), (B,))) in downs(layer.on_timer("tick", 1.1))
    layer.on_event(Stalled(()), 1.2)
    assert bare(A, Heartbeat(1, ())) in downs(layer.on_timer("tick", 1.2))


def test_a_stalled_member_counts_as_heard_by_nobody_else() -> None:  # I6
    layer = member()
    layer.on_up(bare(B, Heartbeat(1, ())), 0.9)
    effects = layer.on_up(bare(C, Heartbeat(1, (), (B,))), 1.0)
    assert events(effects) == [ReachabilityChanged()]
    assert layer.unheard() == {A: {B}, B: set(), C: {B}}
    assert layer.unreachable() == frozenset()
    assert layer.counters()["stalled"] == 1


def test_who_is_called_stalled_learns_it() -> None:  # I6
    layer = member(A, B, C)
    layer.on_up(bare(C, Heartbeat(1, (), (A,))), 1.0)
    assert layer.stalled() == {A}


def test_stalls_of_a_former_view_count_for_nothing() -> None:  # I6
    layer = member()
    layer.on_event(Stalled((B,)), 1.0)
    layer.on_event(installed(A, B, C, number=2), 2.0)
    layer.on_up(bare(C, Heartbeat(1, (), (B,))), 2.1)
    assert layer.stalled() == frozenset()


def test_who_waits_for_the_order_tells_it_to_the_others_at_once() -> None:  # I7
    layer = member(B, A, C)
    effects = layer.on_event(OrderLate(True), 1.0)
    assert downs(effects) == [bare(A, Heartbeat(1, (), (), True))]
    assert bare(A, Heartbeat(1, (), (), True)) in downs(layer.on_timer("tick", 1.1))
    assert downs(layer.on_event(OrderLate(False), 1.2)) == [bare(A, Heartbeat(1, ()))]


def test_the_coordinator_counts_as_stalled_when_most_others_wait_for_the_order() -> None:  # I7
    layer = member(B, A, C)
    layer.on_event(OrderLate(True), 1.0)
    assert layer.stalled() == frozenset()
    effects = layer.on_up(bare(C, Heartbeat(1, (), (), True)), 1.0)
    assert ReachabilityChanged() in events(effects)
    assert layer.unheard() == {A: {B}, C: {B}}
    layer.on_up(bare(C, Heartbeat(1, ())), 1.1)
    assert layer.stalled() == frozenset()


def test_who_waited_in_a_former_view_counts_for_nothing() -> None:  # I7
    layer = member(B, A, C)
    layer.on_event(OrderLate(True), 1.0)
    layer.on_event(installed(B, A, C, number=2), 2.0)
    layer.on_up(bare(C, Heartbeat(1, (), (), True)), 2.1)
    assert layer.stalled() == frozenset()


def test_a_member_whose_heartbeats_come_and_no_unicasts_is_unheard() -> None:  # I9
    """More in `test_failure_detection_paths`."""
    layer = member()
    for number in range(2 * DetectionOptions().direct_missed):
        for other in (B, C):
            layer.on_up(bare(other, Heartbeat(1, ())), number * TICK_S)
        layer.on_up(bare(C, Direct(), to=A), number * TICK_S)
        run(layer, number * TICK_S, 1, B, C)
    assert layer.unreachable() == {B}


def test_who_has_slept_does_not_heed_who_has_not_heard_it_meanwhile() -> None:  # I10
    layer = member()
    run(layer, 0.0, 3, B, C)
    assert events(layer.on_event(Slept(5.0), 0.3)) == [ReachabilityChanged()]
    layer.on_up(bare(B, Heartbeat(1, (A,))), 0.3)
    assert A not in layer.unheard()[B], "B said that before it could hear A again"
    assert events(run(layer, 0.4, 5, B, C)) == []
    assert ReachabilityChanged() in events(run(layer, 0.9, 1, B, C))
    assert layer.unheard()[B] == {A}, "B says so still"


def test_who_has_slept_takes_back_whom_it_does_not_hear() -> None:  # I10
    layer = member()
    silent(layer)
    assert layer.unreachable() == {B}
    layer.on_event(Slept(5.0), 1.2)
    assert layer.unreachable() == frozenset()


def test_who_sleeps_again_and_again_still_finds_a_crash() -> None:  # I10
    layer = member()
    for number in range(12):
        layer.on_event(Slept(0.4), number * TICK_S)
        run(layer, number * TICK_S, 1, C)
    assert layer.unreachable() == {B}


def test_who_is_with_a_quorum_is_told_by_heartbeats_of_the_view_that_do_not_miss_it() -> None:
    layer = member()
    view = layer.view
    assert view is not None

    def says(who: Address, number: int, *unheard: Address, at: float) -> None:
        layer.on_up(Batch(who, None, (Heartbeat(number, unheard),), reliable=False), at)

    assert layer.silent_s(0.3) == pytest.approx(0.3)
    says(B, view.number, at=0.3)
    assert layer.silent_s(0.5) == pytest.approx(0.2)
    says(C, view.number, A, at=1.0)  # it does not hear this member
    says(C, view.number + 1, at=1.0)  # it has gone on without this member
    layer.on_event(Heard((B, C)), 1.0)
    layer.on_event(Slept(0.4), 1.0)
    assert layer.silent_s(1.0) == pytest.approx(0.7)
    says(C, view.number, at=1.1)
    assert layer.silent_s(1.1) == 0.0


def test_a_member_in_no_view_is_with_nobody_and_one_alone_with_itself() -> None:
    assert FailureDetection(A, DetectionOptions()).silent_s(1.0) == float("inf")
    assert member(A).silent_s(9.0) == 0.0
