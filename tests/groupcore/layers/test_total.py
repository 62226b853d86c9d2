"""The rules of TOTAL: each sentence of the paper's Design section has a test named after it.

Retransmission and what the paper leaves to improve are in `test_total_repair.py`, with the
invariants I3, I6, I7 and I11; flush and joiners in `test_total_flush.py`, with I4 and I9; the
late order in `test_total_late.py`, with I12.
"""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.effects import Down, Up
from groupcore.events import Congested, Connect, Drained, Leave
from groupcore.layers.fragmentation import Fragment
from groupcore.layers.stability import Announce
from groupcore.layers.total_headers import NewView, NewViewAck, Request
from groupcore.order_state import OrderState
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
    timers,
    ups,
)
from tests.groupcore.layers.totals import (
    bcast,
    begin,
    delivered,
    hear,
    idle,
    marks_of,
    member,
    request,
    send,
    unplaced,
)

# --- Architecture ---------------------------------------------------------------------------------


def test_each_broadcast_has_an_id_that_increments_by_one() -> None:
    layer = member(A)
    sent = downs(send(layer, "a1", "a2", "a3"))
    assert [batch.headers[-1].sequence_id for batch in sent] == [1, 2, 3]  # type: ignore[attr-defined]


def test_a_broadcast_out_of_order_is_not_passed_up() -> None:  # I1
    layer = member()
    assert ups(hear(layer, bcast(2, C, 1))) == []


# --- Members --------------------------------------------------------------------------------------


def test_the_message_with_the_next_expected_id_is_passed_up() -> None:  # I1
    assert ups(hear(member(), bcast(1, C, 1))) == [delivered(C, 1, position=1)]


def test_a_message_with_a_lower_id_is_discarded() -> None:  # I1
    layer = member()
    hear(layer, bcast(1, C, 1), bcast(2, C, 2))
    assert ups(hear(layer, bcast(1, C, 1))) == []
    assert layer.counters()["duplicates"] == 1


def test_a_message_with_a_higher_id_is_stored_in_a_queue_ordered_by_id() -> None:  # I1
    layer = member()
    assert ups(hear(layer, bcast(3, C, 3), bcast(2, C, 2))) == []
    assert ups(hear(layer, bcast(1, C, 1))) == [
        delivered(C, 1, position=1),
        delivered(C, 2, position=2),
        delivered(C, 3, position=3),
    ]


def test_an_id_that_the_queue_contains_already_is_discarded() -> None:  # I1
    layer = member()
    hear(layer, bcast(2, C, 2), bcast(2, C, 2))
    assert layer.counters()["duplicates"] == 1
    assert len(ups(hear(layer, bcast(1, C, 1)))) == 2


def test_passing_up_repeats_until_the_lowest_stored_id_is_greater_than_the_next_expected() -> None:
    layer = member()  # I1
    hear(layer, bcast(2, A, 2), bcast(4, A, 4))
    assert [up.position for up in ups(hear(layer, bcast(1, A, 1)))] == [1, 2]
    assert [up.position for up in ups(hear(layer, bcast(3, A, 3)))] == [3, 4]


def test_a_member_sends_its_broadcast_only_to_the_sequencer() -> None:
    (sent,) = downs(send(member(), "b1"))
    assert sent == request(B, 1)
    assert sent.reliable  # UNICAST repairs it


def test_unicasts_are_not_processed() -> None:  # TOTAL_UNICAST
    layer = member()
    for batch in (message(B, to=C), bare(B, Announce(1, {}, {}))):
        assert layer.on_down(batch, 0.0) == [Down(batch)]
    assert len(layer.table) == 0


# --- Sequencer ------------------------------------------------------------------------------------


def test_the_first_listed_member_is_the_sequencer() -> None:
    for me, is_sequencer in ((A, True), (B, False), (C, False)):
        assert (member(me).role is not None) is is_sequencer


def test_the_sequencer_broadcasts_a_request_on_behalf_of_the_member() -> None:
    (sent,) = downs(hear(member(A), request(C, 1)))
    assert sent == bcast(1, C, 1)
    assert not sent.reliable  # no layer below repairs it


def test_no_two_messages_get_one_id_and_no_id_is_skipped() -> None:  # I1
    layer = member(A)
    sent = [
        *downs(hear(layer, request(C, 1), request(B, 1))),
        *downs(send(layer, "a1")),
        *downs(hear(layer, request(B, 2))),
    ]
    assert sent == [bcast(1, C, 1), bcast(2, B, 1), bcast(3, A, 1), bcast(4, B, 2)]


def test_a_request_that_comes_twice_gets_one_id() -> None:  # I5
    layer = member(A)
    hear(layer, request(C, 1))
    assert hear(layer, request(C, 1)) == []
    assert layer.counters()["duplicates"] == 1


def test_a_request_at_another_than_the_sequencer_is_an_error() -> None:
    layer = member(B)
    assert hear(layer, request(C, 1)) == []
    assert layer.counters()["dropped"] == 1


def test_the_sequencer_delivers_its_own_broadcasts_like_everybody() -> None:
    layer = member(A, members=(A,))
    assert ups(send(layer, "a1")) == [delivered(A, 1, position=1)]


@pytest.mark.parametrize("batch", [request(STRANGER, 1), bcast(1, B, 1, sender=STRANGER)])
def test_a_stranger_counts_for_nothing(batch: Batch) -> None:
    layer = member(A if batch.destination else B)
    assert hear(layer, batch) == []
    assert layer.counters()["dropped"] == 1


def test_a_broadcast_of_a_rank_that_nobody_has_is_dropped() -> None:
    layer = member()
    batch = bcast(1, C, 1)
    batch.headers[-1].origin = 3  # type: ignore[attr-defined]
    assert hear(layer, batch) == []
    assert layer.counters()["dropped"] == 1


def test_the_original_sender_is_restored_on_a_copy() -> None:
    layer, kept = member(), bcast(1, C, 1)
    (up,) = ups(hear(layer, kept))
    assert (up.sender, up.headers, up.body) == (C, (), kept.body)
    assert kept == bcast(1, C, 1)


def test_the_position_counts_messages_not_batches() -> None:
    layer, five = member(), bcast(1, C, 1)
    five.count = 5
    assert [up.position for up in ups(hear(layer, five, bcast(2, A, 1)))] == [1, 6]
    assert layer.order_state().position == 6


# --- View Changes ---------------------------------------------------------------------------------


def test_after_a_view_change_the_new_sequencer_broadcasts_new_view_with_its_first_id() -> None:
    layer = member(B)
    hear(layer, bcast(1, A, 1), bcast(2, A, 2))
    layer.on_event(installed(B, C, number=2), 0.0)
    assert downs(layer.on_timer("begin", 0.0)) == [bare(B, NewView(2, 3))]


def test_the_new_sequencer_can_begin_at_any_value() -> None:
    layer = unplaced(number=2)
    hear(layer, bare(A, NewView(2, 1_000_000)))
    assert ups(hear(layer, bcast(1_000_001, A, 2, view=2))) == []
    assert len(ups(hear(layer, bcast(1_000_000, A, 1, view=2)))) == 2


def test_new_view_is_acknowledged_also_when_it_comes_again() -> None:
    layer = unplaced()
    for _ in range(2):
        assert downs(hear(layer, bare(A, NewView(1, 1)))) == [bare(B, NewViewAck(1), to=A)]


def test_new_view_is_repeated_until_all_members_have_acknowledged_it() -> None:
    layer = idle(A)
    layer.on_event(installed(A, B, C), 0.0)
    assert timers(layer.on_timer("begin", 0.0))["new_view"] == 0.03
    assert downs(layer.on_timer("new_view", 0.0)) == [
        bare(A, NewView(1, 1), to=B),
        bare(A, NewView(1, 1), to=C),
    ]
    hear(layer, bare(B, NewViewAck(1)))
    effects = layer.on_timer("new_view", 0.0)
    assert downs(effects) == [bare(A, NewView(1, 1), to=C)]
    assert timers(effects) == {"new_view": 0.12}  # less and less often
    hear(layer, bare(C, NewViewAck(1)))
    assert layer.on_timer("new_view", 0.0) == []


def test_a_second_new_view_with_another_id_changes_nothing() -> None:
    layer = member()
    hear(layer, bare(A, NewView(1, 7)))
    assert len(ups(hear(layer, bcast(1, A, 1)))) == 1


@pytest.mark.parametrize("first", [0])
def test_a_new_view_without_an_id_is_dropped(first: int) -> None:
    layer = unplaced()
    assert hear(layer, bare(A, NewView(1, first))) == []
    assert layer.counters()["dropped"] == 1


def test_broadcasts_before_the_new_view_wait_for_it() -> None:
    layer = unplaced()
    assert hear(layer, bcast(1, A, 1), bcast(2, A, 2)) == []
    assert len(ups(hear(layer, bare(A, NewView(1, 1))))) == 2


def test_only_so_many_broadcasts_wait_for_the_new_view() -> None:
    layer = unplaced()
    layer.early.bytes_max = 600
    hear(layer, *(bcast(number, A, number) for number in range(1, 5)))
    assert layer.counters()["dropped"] == 2


def test_members_clear_the_queue_when_they_observe_a_view_change() -> None:  # I2
    layer = member(C)
    hear(layer, bcast(2, A, 2), bcast(3, A, 3))
    begin(layer, installed(A, B, C, number=2), first=1)
    assert ups(hear(layer, bcast(1, A, 1, view=2))) == [delivered(A, 1, position=1)]
    assert layer.counters()["waiting"] == 0
    assert layer.counters()["kept"] == 1


@pytest.mark.parametrize("header", [bcast(1, A, 1, view=1), request(C, 1, view=1)])
def test_what_was_sent_in_a_view_is_received_in_no_later_one(header: Batch) -> None:  # I2
    layer = member(A if header.destination else C)
    begin(layer, installed(A, B, C, number=2), first=1)
    assert hear(layer, header) == []
    assert layer.counters()["dropped"] == 1


def test_what_belongs_to_a_later_view_waits_for_it() -> None:  # I2
    layer = member(C)
    assert hear(layer, bcast(5, A, 1, view=2), bare(A, NewView(2, 5))) == []
    layer.on_event(installed(A, B, C, number=2), 0.0)
    assert ups(layer.on_timer("begin", 0.0)) == [delivered(A, 1, position=1)]


def test_a_request_that_overtakes_its_view_waits_for_it() -> None:
    layer = member(B)
    assert hear(layer, request(C, 1, view=2)) == []
    layer.on_event(installed(B, C, number=2), 0.0)
    assert marks_of(layer.on_timer("begin", 0.0)) == [(C, 1)]


def test_what_has_not_come_back_is_requested_again_in_every_view() -> None:  # I5
    layer = member(C)
    send(layer, "c1", "c2")
    hear(layer, bcast(1, C, 1))
    layer.on_event(installed(A, B, C, number=2), 0.0)  # the sequencer stays
    assert downs(layer.on_timer("begin", 0.0)) == [request(C, 2, view=2)]
    assert layer.counters()["resent"] == 1


def test_who_becomes_sequencer_broadcasts_its_own_in_order() -> None:  # I5
    layer = member(B)
    send(layer, "b1", "b2")
    layer.on_event(installed(B, C, number=2), 0.0)
    assert marks_of(layer.on_timer("begin", 0.0)) == [(B, 1), (B, 2)]


def test_a_new_sequencer_knows_what_was_ordered_before_it() -> None:  # I5
    layer = member(B)
    hear(layer, bcast(1, C, 1))
    begin(layer, installed(B, C, number=2))
    assert hear(layer, request(C, 1, view=2)) == []
    assert marks_of(hear(layer, request(C, 2, view=2))) == [(C, 2)]


def test_what_is_sent_while_the_view_begins_waits_for_its_beginning() -> None:  # I5
    layer = idle(B)
    layer.on_event(installed(A, B, C), 0.0)
    assert downs(send(layer, "b1")) == []
    assert downs(layer.on_timer("begin", 0.0)) == [request(B, 1)]


def test_the_pieces_of_an_incomplete_body_are_ordered_again_in_the_next_view() -> None:  # I8
    layer = member(C)
    pieces = [headed(C, Fragment(index, 3), text=f"c{index}") for index in range(3)]
    for index, part in enumerate(pieces):
        part.count = 1 if index == 2 else 0
        layer.on_down(part, 0.0)
    come_back = bcast(1, C, 1)
    come_back.count = 0
    hear(layer, come_back)
    assert list(layer.table.batches) == [1, 2, 3]  # it may be needed again
    assert layer.order_state() == OrderState(0, {})
    layer.on_event(installed(A, C, number=2), 0.0)
    again = downs(layer.on_timer("begin", 0.0))
    assert [batch.headers[-1] for batch in again] == [Request(2, n) for n in (1, 2, 3)]
    assert [batch.body for batch in again] == [batch.body for batch in pieces]


def test_a_body_leaves_the_table_when_its_last_piece_has_come_back() -> None:  # I8
    layer = member(C)
    send(layer, "c1", "c2")
    first = bcast(1, C, 1)
    first.count = 0
    hear(layer, first, bcast(2, C, 2))
    assert len(layer.table) == 0
    assert layer.order_state() == OrderState(1, {C: 2})


# --- stop() and the window ------------------------------------------------------------------------


def test_stop_takes_nothing_new_and_waits_until_all_has_come_back() -> None:  # I10
    layer = member()
    send(layer, "b1")
    effects = layer.on_event(Leave(), 0.0)
    assert (events(effects), timers(effects)) == ([], {"stop": 5.0})
    assert send(layer, "b2") == []
    assert events(hear(layer, bcast(1, B, 1))) == [Drained()]


def test_stop_waits_for_nothing_when_nothing_is_out() -> None:  # I10
    assert events(member().on_event(Leave(), 0.0)) == [Drained()]


def test_stop_does_not_wait_for_ever() -> None:  # I10
    layer = member()
    send(layer, "b1")
    layer.on_event(Leave(), 0.0)
    assert events(layer.on_timer("stop", 5.0)) == [Drained()]
    assert layer.counters()["abandoned"] == 1


def test_before_the_first_view_nothing_can_be_sent() -> None:
    layer = idle(A)
    assert send(layer, "a1") == []
    assert layer.counters()["dropped"] == 1


def test_ordered_sends_are_told_to_wait_when_too_much_has_not_come_back() -> None:
    layer = member(B, order_window_bytes=8)  # a message has five bytes
    assert events(send(layer, "b1")) == []
    assert events(send(layer, "b2")) == [Congested(True, "TOTAL")]
    effects = hear(layer, bcast(1, B, 1), bcast(2, B, 2))
    assert events(effects) == [Congested(False, "TOTAL")]
    assert isinstance(effects[0], Up)


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []


def test_a_header_of_another_layer_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="not a header of TOTAL"):
        hear(member(), bare(A, Announce(1, {}, {})))


def test_a_request_that_comes_while_the_view_begins_does_not_overtake_an_early_one() -> None:  # I5
    layer = member(B)
    hear(layer, request(C, 1, view=2))
    layer.on_event(installed(B, C, number=2), 0.0)
    assert hear(layer, request(C, 2, view=2)) == []
    assert marks_of(layer.on_timer("begin", 0.0)) == [(C, 1), (C, 2)]
