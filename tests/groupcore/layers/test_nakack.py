"""The rules of NAKACK: numbered, repaired, delivered in order, in one view at a time."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, StartTimer, Up
from groupcore.events import (
    Acknowledged,
    Connect,
    CutAgreed,
    CutHeld,
    FetchCut,
    FlushStarted,
    Stable,
)
from groupcore.layers.nakack import Nakack
from groupcore.layers.nakack_headers import Ack, Data, HighWater, NakackOptions, Repair, Request
from groupcore.layers.sequencer import Forward, Ordered
from groupcore.view import Address
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


def idle(me: Address = A, options: NakackOptions | None = None) -> Nakack:
    """A layer in no view."""
    return Nakack(me, Random(1), options or NakackOptions())


def member(me: Address = A, *others: Address, options: NakackOptions | None = None) -> Nakack:
    """A layer whose view has begun: me, then the others (default B and C)."""
    layer = idle(me, options)
    layer.on_event(installed(me, *(others or (B, C))), 0.0)
    layer.on_timer("begin", 0.0)
    return layer


def data(sender: Address, seqno: int, view: int = 1, stable: int = 0) -> Batch:
    return headed(sender, Data(view, seqno, stable), text=f"{sender.name}{seqno}")


def plain(sender: Address, seqno: int) -> Batch:
    """What goes up of such a multicast."""
    return message(sender, f"{sender.name}{seqno}")


def hear(layer: Nakack, *batches: Batch) -> list[Effect]:
    """Hand over batches from below, one after the other."""
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


# --- sending --------------------------------------------------------------------------------------


def test_a_multicast_is_numbered_sent_and_delivered_here_at_once() -> None:  # I1
    layer = member()
    one, two = message(A, "one"), message(A, "two")
    assert layer.on_down(one, 0.0)[:1] == [Down(one.with_header(Data(1, 1, 0)))]
    assert layer.on_down(two, 0.0) == [
        Down(two.with_header(Data(1, 2, 0))),
        StartTimer("high_water", 0.03),
        Up(two),
    ]
    assert layer.counters()["sent"] == 2


def test_unicasts_and_unreliable_multicasts_pass_as_they_are() -> None:
    layer = member()
    for batch in (message(A, to=B), bare(A, Ordered(A, 1))):
        assert layer.on_down(batch, 0.0) == [Down(batch)]


def test_what_is_sent_before_the_first_view_waits_for_it() -> None:  # I2
    layer = idle()
    batch = message(A)
    assert layer.on_down(batch, 0.0) == []
    layer.on_event(installed(A, B), 0.0)
    assert layer.on_down(message(A, "later"), 0.0) == []  # not every layer knows the view yet
    assert ups(layer.on_timer("begin", 0.0)) == [batch, message(A, "later")]


def test_the_window_bounds_what_not_everybody_holds_and_acknowledgements_open_it() -> None:
    layer = member(options=NakackOptions(window_bytes=8))  # a message has 4 or 5 bytes
    for text in ("one", "two", "six"):
        layer.on_down(message(A, text), 0.0)
    assert layer.mine.sent == 2
    assert layer.counters()["in_flight_bytes"] >= 8
    assert downs(hear(layer, bare(B, Ack(1, 2)))) == []
    effects = hear(layer, bare(C, Ack(1, 1)))
    assert downs(effects) == [message(A, "six").with_header(Data(1, 3, 1))]


def test_who_is_alone_sends_and_keeps_nothing() -> None:
    layer = idle()
    layer.on_event(installed(A), 0.0)
    layer.on_timer("begin", 0.0)
    effects = layer.on_down(message(A), 0.0)
    assert timers(effects) == {}
    assert ups(effects) == [message(A)]
    assert layer.counters()["kept"] == 0


# --- receiving ------------------------------------------------------------------------------------


def test_multicasts_are_delivered_in_the_order_of_their_numbers() -> None:  # I1
    layer = member()
    assert ups(hear(layer, data(B, 2), data(B, 3))) == []
    assert ups(hear(layer, data(B, 1))) == [plain(B, 1), plain(B, 2), plain(B, 3)]


@settings(max_examples=40)
@given(st.permutations(range(1, 7)), st.lists(st.integers(1, 6), max_size=6))
def test_whatever_comes_late_or_twice_is_delivered_once_and_in_order(
    order: list[int], again: list[int]
) -> None:  # I1
    layer = member()
    effects = hear(layer, *(data(B, seqno) for seqno in [*order, *again]))
    assert ups(effects) == [plain(B, seqno) for seqno in range(1, 7)]


def test_a_senders_batches_do_not_wait_for_anothers() -> None:
    layer = member()
    assert ups(hear(layer, data(B, 2), data(C, 1))) == [plain(C, 1)]


def test_what_arrives_is_acknowledged_once_at_the_end_of_the_turn() -> None:
    layer = member()
    effects = hear(layer, data(B, 1), data(B, 2), data(C, 2))
    assert timers(effects)["ack"] == 0
    assert downs(layer.on_timer("ack", 0.0)) == [bare(A, Ack(1, 2), to=B), bare(A, Ack(1, 0), to=C)]
    assert layer.on_timer("ack", 0.0) == []


def test_what_comes_twice_is_acknowledged_again() -> None:  # the acknowledgement may be lost
    layer = member()
    hear(layer, data(B, 1))
    layer.on_timer("ack", 0.0)
    effects = hear(layer, data(B, 1))
    assert ups(effects) == []
    assert downs(layer.on_timer("ack", 0.0)) == [bare(A, Ack(1, 1), to=B)]
    assert layer.counters()["dropped"] == 1


def test_a_stranger_and_an_echo_of_oneself_are_dropped_and_counted() -> None:
    layer = member()
    assert hear(layer, data(STRANGER, 1), data(A, 1)) == []
    assert layer.counters()["dropped"] == 2


def test_a_header_of_another_layer_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="not a header of NAKACK"):
        hear(member(), headed(B, Forward(1, 1)))


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
    (repair,) = downs(hear(layer, bare(B, Request(1, A, (1, 9)))))
    expected = batch.to(B).with_header(Repair(1, A, 1))
    expected.reliable = False
    assert repair == expected
    assert layer.counters()["repairs_sent"] == 1


def test_whoever_holds_a_batch_can_repair_it() -> None:  # I4
    layer = member()
    hear(layer, data(B, 1))
    (repair,) = downs(hear(layer, bare(C, Request(1, B, (1, 1)))))
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
    assert hear(layer, bare(B, Request(1, A, (1, 1)))) == []


def test_a_member_that_is_behind_by_a_view_can_still_be_served() -> None:  # I3
    layer = member()
    hear(layer, data(B, 1))
    layer.on_event(FlushStarted(), 0.0)
    layer.on_event(installed(A, B, C, number=2), 0.0)
    (repair,) = downs(hear(layer, bare(C, Request(1, B, (1, 1)))))
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


# --- digests --------------------------------------------------------------------------------------


def test_digests_say_what_is_held_delivered_and_known_to_exist() -> None:
    layer = member()
    hear(layer, data(B, 1), data(B, 3))
    assert layer.digest() == {A: 0, B: 1, C: 0}
    assert layer.delivered() == {A: 0, B: 1, C: 0}
    assert layer.highest() == {A: 0, B: 3, C: 0}


def test_a_joiners_digest_is_exact_because_numbers_begin_with_the_view() -> None:
    # pbcast design, "Digest returned to client": neither scenario A nor B can happen
    coordinator = member()
    for _ in range(35):
        coordinator.on_down(message(A), 0.0)
    joiner = idle(C)
    for layer in (coordinator, joiner):
        layer.on_event(installed(A, B, C, number=2), 0.0)
        layer.on_timer("begin", 0.0)
    assert joiner.digest() == coordinator.digest() == {A: 0, B: 0, C: 0}
    (first, *_) = downs(coordinator.on_down(message(A, "36th"), 0.0))
    assert ups(hear(joiner, first)) == [message(A, "36th")]


# --- view change ----------------------------------------------------------------------------------


def frozen() -> Nakack:
    """In a flush, with B's multicasts 1, 2 and 4 here, of which 1 and 2 are delivered."""
    layer = member()
    hear(layer, data(B, 1), data(B, 2), data(B, 4))
    layer.on_event(FlushStarted(), 0.0)
    return layer


def test_after_the_flush_has_started_nothing_is_numbered() -> None:  # I3
    layer = frozen()
    batch = message(A)
    assert layer.on_down(batch, 0.0) == []
    layer.on_event(installed(A, B, C, number=2), 0.0)
    effects = layer.on_timer("begin", 0.0)
    assert downs(effects) == [batch.with_header(Data(2, 1, 0))]


def test_after_the_flush_has_started_nothing_is_delivered_or_acknowledged() -> None:  # I3
    layer = frozen()
    assert hear(layer, data(B, 3), data(B, 3), data(C, 1)) == []
    assert hear(layer, bare(B, HighWater(1, 9))) == []
    assert layer.on_timer("ack", 0.0) == []
    assert layer.digest() == {A: 0, B: 4, C: 1}
    assert layer.delivered() == {A: 0, B: 2, C: 0}


def test_after_the_flush_has_started_nothing_is_asked_for_or_repeated() -> None:  # I3
    layer = member()
    layer.on_down(message(A), 0.0)
    hear(layer, data(B, 2))
    assert stopped(layer.on_event(FlushStarted(), 0.0)) == {"high_water", "retry", "repair"}
    for timer in ("high_water", "retry", "repair"):
        assert layer.on_timer(timer, 0.0) == []
    assert layer.on_event(Stable({}, {B: 9}), 0.0) == []


def test_after_the_flush_has_started_acknowledgements_tell_nobody_of_holders() -> None:  # I3
    layer = member(A, B, options=NakackOptions(window_bytes=1))
    layer.on_down(message(A, "one"), 0.0)
    layer.on_down(message(A, "two"), 0.0)
    layer.on_event(FlushStarted(), 0.0)
    assert hear(layer, bare(B, Ack(1, 1))) == []  # and the window does not send the second


def test_who_lacks_a_part_of_the_cut_asks_those_who_hold_it() -> None:  # I3
    layer = frozen()
    effects = layer.on_event(FetchCut({B: 4, C: 1}, {B: (C,), C: (A, B)}), 0.0)
    assert downs(effects) == [
        bare(A, Request(1, B, (3, 3)), to=C),
        bare(A, Request(1, C, (1, 1)), to=B),
    ]
    assert "retry" in timers(effects)
    assert told(layer.on_timer("retry", 0.0)) == [Request(1, B, (3, 3)), Request(1, C, (1, 1))]


def test_it_is_told_once_when_the_whole_cut_is_here() -> None:
    layer = frozen()
    layer.on_event(FetchCut({B: 4, C: 1}, {B: (C,), C: (B,)}), 0.0)
    assert hear(layer, headed(C, Repair(1, B, 3), text="b3", to=A)) == []
    effects = hear(layer, headed(B, Repair(1, C, 1), text="c1", to=A))
    assert events(effects) == [CutHeld()]
    assert stopped(effects) == {"retry"}
    assert hear(layer, data(C, 2)) == []
    assert layer.on_timer("retry", 0.0) == []


def test_who_holds_the_whole_cut_says_so_at_once() -> None:
    assert events(frozen().on_event(FetchCut({B: 2}, {}), 0.0)) == [CutHeld()]


def test_everything_up_to_the_cut_is_delivered_and_nothing_behind_it() -> None:  # I3
    layer = frozen()
    hear(layer, data(B, 3), data(C, 1), data(C, 2))
    effects = layer.on_event(CutAgreed({B: 3, C: 1}), 0.0)
    assert effects == [Up(plain(B, 3)), Up(plain(C, 1))]  # in rank order
    assert layer.on_event(CutAgreed({}), 0.0) == []


# --- views ----------------------------------------------------------------------------------------


def test_a_view_begins_with_empty_windows_and_number_one() -> None:  # I2
    layer = member()
    layer.on_down(message(A), 0.0)
    hear(layer, data(B, 1))
    effects = layer.on_event(installed(A, C, number=2), 0.0)
    assert timers(effects) == {"begin": 0}
    assert layer.digest() == {A: 0, C: 0}
    layer.on_timer("begin", 0.0)
    assert told(layer.on_down(message(A), 0.0)) == [Data(2, 1, 0)]


def test_a_batch_of_a_former_view_is_dropped() -> None:  # I2
    layer = member()
    layer.on_event(installed(A, B, number=2), 0.0)
    assert hear(layer, data(B, 1, view=1)) == []
    assert layer.counters()["dropped"] == 1


def test_a_batch_of_a_later_view_waits_until_that_view_is_installed() -> None:  # I6
    layer = member()
    assert hear(layer, data(B, 1, view=2), data(B, 1, view=3), data(B, 2, view=2)) == []
    layer.on_event(installed(A, B, number=2), 0.0)
    assert ups(layer.on_timer("begin", 0.0)) == [plain(B, 1), plain(B, 2)]
    layer.on_event(installed(A, B, number=3), 0.0)
    assert ups(layer.on_timer("begin", 0.0)) == [plain(B, 1)]


def test_what_waits_for_a_view_that_is_skipped_is_forgotten() -> None:  # I6, I2
    layer = member()
    hear(layer, data(B, 1, view=2), data(B, 1, view=4))
    layer.on_event(installed(A, B, number=3), 0.0)
    assert layer.on_timer("begin", 0.0) == []
    assert list(layer.future) == [4]
    assert layer.future_count == 1


def test_only_so_much_is_kept_for_later_views() -> None:
    layer = member(options=NakackOptions(future_batches_max=2))
    hear(layer, *(data(B, seqno, view=2) for seqno in range(1, 5)))
    assert layer.future_count == 2
    assert layer.counters()["dropped"] == 2


def test_what_is_sent_after_the_cut_lies_in_the_next_view() -> None:  # I2, I3
    layer = frozen()
    layer.on_event(CutAgreed({B: 2}), 0.0)
    batch = message(A)
    assert layer.on_down(batch, 0.0) == []
    layer.on_event(installed(A, B, C, number=2), 0.0)
    assert ups(layer.on_timer("begin", 0.0)) == [batch]


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []


def test_an_unheard_sender_is_not_asked() -> None:
    layer = Nakack(A, Random(1), NakackOptions(), lambda: frozenset({B}))
    layer.on_event(installed(A, B, C), 0.0)
    layer.on_timer("begin", 0.0)
    hear(layer, data(B, 2))
    assert downs(layer.on_timer("repair", 0.0)) == [bare(A, Request(1, B, (1, 1)), to=C)]
