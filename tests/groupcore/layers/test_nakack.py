"""The rules of NAKACK: numbered, delivered in order, in one view at a time.

Repair, the lost last message and acknowledgements (I4, I5) are tested in `test_nakack_repair`.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.effects import Down, StartTimer, Up
from groupcore.events import (
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
from tests.groupcore.layers.nakacks import data, hear, idle, member, plain

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


def test_without_a_flush_above_what_is_sent_before_the_first_view_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="before the first view"):  # I2
        idle().on_down(message(A), 0.0)


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


def test_without_a_flush_above_what_is_sent_in_one_is_a_bug_of_the_stack() -> None:  # I3
    with pytest.raises(AssertionError, match="in a view change"):
        frozen().on_down(message(A), 0.0)


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
    assert list(layer.future.batches) == [4]


def test_only_so_much_is_kept_for_later_views() -> None:
    layer = member(options=NakackOptions(future_bytes_max=600))
    hear(layer, *(data(B, seqno, view=2) for seqno in range(1, 5)))
    layer.on_event(installed(A, B, number=2), 0.0)
    assert ups(layer.on_timer("begin", 0.0)) == [plain(B, 1), plain(B, 2)]
    assert layer.counters()["dropped"] == 2


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []
