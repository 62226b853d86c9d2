"""The rules of NAKACK's repair: gaps, the lost last message, acknowledgements."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.batch import Batch
from groupcore.effects import StartTimer
from groupcore.events import (
    Acknowledged,
    FlushStarted,
    Stable,
)
from groupcore.layers.nakack import Nakack
from groupcore.layers.nakack_headers import Ack, HighWater, NakackOptions, Repair, Request
from groupcore.layers.sequencer import Ordered
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    bare,
    downs,
    events,
    headed,
    installed,
    message,
    stopped,
    timers,
    told,
    ups,
)
from tests.groupcore.layers.nakacks import data, hear, member, plain

# --- repair ---------------------------------------------------------------------------------------


def test_a_gap_is_asked_for_of_its_sender_in_the_turn_in_which_it_is_seen() -> None:  # I4
    layer = member()
    assert timers(hear(layer, data(B, 3)))["repair"] == 0
    effects = layer.on_timer("repair", 0.0)
    assert downs(effects) == [bare(A, Request(1, B, (1, 2)), to=B)]
    assert 0.015 <= timers(effects)["retry"] <= 0.025


def test_one_gap_is_asked_for_once_however_much_follows_it() -> None:
    layer = member()
    hear(layer, data(B, 3))
    layer.on_timer("repair", 0.0)
    hear(layer, data(B, 4))
    assert layer.on_timer("repair", 0.0) == []


def test_what_does_not_come_is_asked_for_again_less_and_less_often() -> None:  # I4
    layer = member()
    hear(layer, data(B, 2))
    layer.on_timer("repair", 0.0)
    delays = []
    for _ in range(6):
        effects = layer.on_timer("retry", 0.0)
        assert told(effects) == [Request(1, B, (1, 1))]
        delays.append(timers(effects)["retry"])
    assert delays[-1] > 4 * delays[0]
    assert layer.counters()["requests_sent"] == 7


def test_when_everything_is_here_nothing_is_asked_for_again() -> None:
    layer = member()
    hear(layer, data(B, 2))
    layer.on_timer("repair", 0.0)
    hear(layer, data(B, 1))
    assert layer.on_timer("retry", 0.0) == []
    assert layer.on_timer("repair", 0.0) == []


def test_who_is_asked_sends_its_own_as_it_was_sent() -> None:
    layer = member()
    batch = headed(A, Ordered(B, 4))
    layer.on_down(batch, 0.0)
    assert hear(layer, bare(B, Request(1, A, (1, 9)))) == [StartTimer("answer", 0)]
    (repair,) = downs(layer.on_timer("answer", 0.0))
    expected = batch.to(B).with_header(Repair(1, A, 1))
    expected.reliable = False
    assert repair == expected
    assert layer.counters()["repairs_sent"] == 1


def test_whoever_holds_a_batch_can_repair_it() -> None:  # I4
    layer = member()
    hear(layer, data(B, 1))
    hear(layer, bare(C, Request(1, B, (1, 1))))
    (repair,) = downs(layer.on_timer("answer", 0.0))
    assert (repair.sender, repair.destination) == (A, C)
    assert repair.headers == (Repair(1, B, 1),)
    assert repair.body == data(B, 1).body


def test_a_repair_counts_as_if_it_came_from_the_sender() -> None:
    layer = member()
    hear(layer, data(B, 2))
    repair = headed(C, Repair(1, B, 1), text="b1", to=A)
    effects = hear(layer, repair)
    assert ups(effects) == [plain(B, 1), plain(B, 2)]
    assert downs(layer.on_timer("ack", 0.0)) == [bare(A, Ack(1, 2), to=B)]


@pytest.mark.parametrize("header", [Repair(2, B, 1), Repair(1, STRANGER, 1), Repair(1, A, 1)])
def test_a_repair_of_another_view_of_a_stranger_or_of_oneself_is_dropped(header: Repair) -> None:
    layer = member()
    assert hear(layer, headed(C, header, to=A)) == []
    assert layer.counters()["dropped"] == 1


def test_what_nobody_here_holds_is_not_answered() -> None:
    layer = member()
    assert hear(layer, bare(B, Request(9, A, (1, 1)))) == []
    assert hear(layer, bare(B, Request(1, STRANGER, (1, 1)))) == []
    assert layer.counters()["dropped"] == 2
    hear(layer, bare(B, Request(1, A, (1, 1))))
    assert layer.on_timer("answer", 0.0) == []


def test_a_member_that_is_behind_by_a_view_can_still_be_served() -> None:  # I3
    layer = member()
    hear(layer, data(B, 1))
    layer.on_event(FlushStarted(), 0.0)
    layer.on_event(installed(A, B, C, number=2), 0.0)
    hear(layer, bare(C, Request(1, B, (1, 1))))
    (repair,) = downs(layer.on_timer("answer", 0.0))
    assert repair.headers == (Repair(1, B, 1),)


# --- the last message (pbcast design, "Last Message dropped in NAKACK") ---------------------------


def test_senders_send_monotonically_increasing_numbers() -> None:
    layer = member()
    for _ in range(3):
        layer.on_down(message(A), 0.0)
    assert list(layer.mine.window.batches) == [1, 2, 3]


def test_the_next_message_shows_that_the_last_was_lost_and_is_delivered_after_it() -> None:
    layer = member()
    hear(layer, data(B, 1), data(B, 3))
    assert told(layer.on_timer("repair", 0.0)) == [Request(1, B, (2, 2))]
    assert ups(hear(layer, data(B, 2))) == [plain(B, 2), plain(B, 3)]


def test_a_sender_repeats_its_highest_number_until_everybody_holds_it() -> None:  # I4
    layer = member()
    layer.on_down(message(A), 0.0)
    delays = []
    for _ in range(7):
        effects = layer.on_timer("high_water", 0.0)
        assert downs(effects) == [bare(A, HighWater(1, 1))]
        delays.append(timers(effects)["high_water"])
    assert delays[0] == pytest.approx(0.06)
    assert delays[-1] == pytest.approx(0.5)
    hear(layer, bare(B, Ack(1, 1)))
    assert "high_water" in stopped(hear(layer, bare(C, Ack(1, 1))))
    assert layer.on_timer("high_water", 0.0) == []


def test_a_mark_behind_which_nothing_is_missing_is_acknowledged() -> None:
    layer = member()
    hear(layer, data(B, 1))
    layer.on_timer("ack", 0.0)
    assert hear(layer, bare(B, HighWater(1, 1))) == [StartTimer("ack", 0)]
    assert downs(layer.on_timer("ack", 0.0)) == [bare(A, Ack(1, 1), to=B)]


def test_a_mark_shows_a_lost_last_message_and_it_is_asked_for() -> None:  # I4
    layer = member()
    assert timers(hear(layer, bare(B, HighWater(1, 2)))) == {"ack": 0, "repair": 0}
    assert told(layer.on_timer("repair", 0.0)) == [Request(1, B, (1, 2))]


@pytest.mark.parametrize("batch", [bare(B, HighWater(2, 1)), bare(STRANGER, HighWater(1, 1))])
def test_a_mark_of_another_view_or_of_a_stranger_counts_for_nothing(batch: Batch) -> None:
    assert hear(member(), batch) == []


def test_the_stability_vector_shows_a_lost_last_message_and_it_is_asked_for() -> None:  # I4
    layer = member()
    hear(layer, data(B, 1))
    vector = Stable({A: 0, B: 1, C: 0}, {A: 0, B: 2, C: 0})
    assert layer.on_event(vector, 0.0) == [StartTimer("repair", 0)]
    assert told(layer.on_timer("repair", 0.0)) == [Request(1, B, (2, 2))]


def test_garbage_is_collected_by_the_stability_vector() -> None:  # I5
    layer = member()
    hear(layer, data(B, 1), data(B, 2))
    assert layer.on_event(Stable({B: 1}, {B: 2}), 0.0) == []
    assert sorted(layer.windows[B].batches) == [2]


def test_a_retransmission_is_asked_for_only_of_what_was_not_received() -> None:
    layer = member()
    hear(layer, data(B, 1), data(B, 2))
    assert layer.on_event(Stable({B: 2}, {B: 2}), 0.0) == []
    assert layer.on_timer("repair", 0.0) == []


def test_a_stability_vector_says_nothing_of_strangers_nor_of_what_this_member_sent() -> None:
    layer = member()
    layer.on_down(message(A), 0.0)
    assert layer.on_event(Stable({A: 1, STRANGER: 4}, {A: 9, STRANGER: 4}), 0.0) == []
    assert layer.mine.window.get(1) is not None
    assert layer.highest() == {A: 1, B: 0, C: 0}


# --- acknowledgements -----------------------------------------------------------------------------


def test_an_acknowledgement_is_told_to_the_layers_that_count_holders() -> None:
    layer = member()
    layer.on_down(message(A), 0.0)
    assert events(hear(layer, bare(B, Ack(1, 1)))) == [Acknowledged(B, 1)]
    assert hear(layer, bare(B, Ack(1, 1))) == []


@pytest.mark.parametrize("batch", [bare(B, Ack(2, 1)), bare(STRANGER, Ack(1, 1))])
def test_an_acknowledgement_of_another_view_or_of_a_stranger_counts_for_nothing(
    batch: Batch,
) -> None:
    layer = member()
    layer.on_down(message(A), 0.0)
    assert hear(layer, batch) == []


def test_a_batch_leaves_the_senders_window_only_when_everybody_holds_it() -> None:  # I5
    layer = member()
    layer.on_down(message(A), 0.0)
    hear(layer, bare(B, Ack(1, 1)))
    assert layer.counters()["kept"] == 1
    hear(layer, bare(C, Ack(1, 1)))
    assert layer.counters()["kept"] == 0


def test_a_batch_leaves_a_receivers_window_when_its_sender_says_that_all_hold_it() -> None:  # I5
    layer = member()
    hear(layer, data(B, 1), data(B, 2))
    assert sorted(layer.windows[B].batches) == [1, 2]
    hear(layer, data(B, 3, stable=2))
    assert sorted(layer.windows[B].batches) == [3]


def test_everybody_holding_the_latest_makes_the_next_mark_come_soon_again() -> None:
    layer = member()
    layer.on_down(message(A), 0.0)
    layer.on_timer("high_water", 0.0)
    hear(layer, bare(B, Ack(1, 1)), bare(C, Ack(1, 1)))
    assert timers(layer.on_down(message(A), 0.0))["high_water"] == pytest.approx(0.03)


def test_an_unheard_sender_is_not_asked() -> None:
    layer = Nakack(A, Random(1), NakackOptions(), lambda: frozenset({B}))
    layer.on_event(installed(A, B, C), 0.0)
    layer.on_timer("begin", 0.0)
    hear(layer, data(B, 2))
    assert downs(layer.on_timer("repair", 0.0)) == [bare(A, Request(1, B, (1, 1)), to=C)]


def test_what_is_asked_and_answered_goes_to_all_where_unicasts_do_not_arrive() -> None:
    layer = Nakack(A, Random(1), NakackOptions(), way_to=lambda member: None)
    layer.on_event(installed(A, B, C), 0.0)
    layer.on_timer("begin", 0.0)
    hear(layer, data(B, 2))
    assert downs(layer.on_timer("repair", 0.0)) == [bare(A, Request(1, B, (1, 1)))]
    hear(layer, bare(C, Request(1, B, (2, 2))))
    (repair,) = downs(layer.on_timer("answer", 0.0))
    assert repair.destination is None
    assert repair.headers[-1] == Repair(1, B, 2)
