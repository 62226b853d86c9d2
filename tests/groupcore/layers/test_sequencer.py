"""The rules of SEQUENCER: each sentence of the text's Design section has a test named after it."""

from __future__ import annotations

import pytest

from groupcore.effects import Down, Up
from groupcore.events import Congested, Connect, Drained, Leave, OrderLate, ViewInstalled
from groupcore.layers.sequencer import Forward, Ordered, Sequencer
from groupcore.layers.stability import Announce
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
    told,
    ups,
    view_of,
)
from tests.groupcore.layers.sequencers import delivered, forward, hear, member, ordered, send

# --- variables ------------------------------------------------------------------------------------


def test_the_forward_table_lists_messages_to_be_forwarded_not_yet_received_as_broadcasts() -> None:
    layer = member()
    send(layer, "b1", "b2")
    assert layer.forward_table.batches == {
        1: message(B, "b1"),
        2: message(B, "b2"),
    }  # sorted by seqno
    hear(layer, ordered(B, 1))
    assert list(layer.forward_table.batches) == [2]


def test_the_received_table_keeps_the_highest_seqno_seen_per_member() -> None:
    layer = member()
    hear(layer, ordered(A, 1), ordered(C, 1), ordered(A, 2))
    assert layer.progress.received == {A: 2, C: 1}


def test_the_received_table_has_entries_for_members_of_the_group_only() -> None:
    layer = member()
    hear(layer, ordered(A, 1), ordered(C, 1))
    layer.on_event(installed(A, B, number=2), 0.0)
    assert layer.progress.received == {A: 1}


# --- On send(M) -----------------------------------------------------------------------------------


def test_on_send_unicasts_pass_down_and_only_multicasts_are_handled() -> None:
    layer = member()
    for batch in (message(B, to=C), bare(B, Announce(1, {}, {}))):
        assert layer.on_down(batch, 0.0) == [Down(batch)]
    assert layer.forward_table.batches == {}


def test_on_send_a_forward_header_is_added_with_a_monotonically_increasing_seqno() -> None:
    layer = member()
    effects = send(layer, "b1", "b2", "b3")
    assert told(effects) == [Forward(1, 1), Forward(1, 2), Forward(1, 3)]


def test_on_send_if_not_coordinator_the_message_is_added_to_the_forward_table() -> None:  # I3
    layer = member()
    send(layer, "b1")
    assert layer.forward_table.batches[1] == message(B, "b1")


def test_when_a_broadcast_is_received_the_corresponding_message_leaves_the_forward_table() -> None:
    layer = member()  # I3
    send(layer, "b1", "b2")
    hear(layer, ordered(A, 1), ordered(C, 1))
    assert list(layer.forward_table.batches) == [1, 2]
    hear(layer, ordered(B, 1))
    assert list(layer.forward_table.batches) == [2]


def test_on_send_if_not_coordinator_the_message_is_sent_to_the_coordinator() -> None:  # I1
    assert downs(send(member(), "b1")) == [forward(B, 1)]


def test_on_send_else_the_coordinator_multicasts_the_message() -> None:  # I1
    assert downs(send(member(A), "a1")) == [ordered(A, 1)]


def test_before_the_first_view_nothing_can_be_sent() -> None:
    layer = Sequencer(A)
    assert send(layer, "a1") == []
    assert layer.counters()["dropped"] == 1


# --- On stop() ------------------------------------------------------------------------------------


def test_on_stop_new_down_messages_are_handled_no_more() -> None:  # I7
    layer = member()
    layer.on_event(Leave(), 0.0)
    assert send(layer, "b1") == []
    assert layer.counters()["dropped"] == 1


def test_on_stop_all_replies_are_waited_for_until_the_forward_table_is_empty() -> None:  # I7
    layer = member()
    send(layer, "b1", "b2")
    assert events(layer.on_event(Leave(), 0.0)) == []
    assert events(hear(layer, ordered(B, 1))) == []
    assert events(hear(layer, ordered(B, 2))) == [Drained()]


def test_on_stop_with_an_empty_forward_table_nothing_is_waited_for() -> None:  # I7
    assert events(member().on_event(Leave(), 0.0)) == [Drained()]


# --- On reception of M from S ---------------------------------------------------------------------


def test_a_forward_that_reaches_somebody_else_than_the_coordinator_is_an_error() -> None:  # I1
    layer = member(B)
    assert hear(layer, forward(C, 1)) == []
    assert layer.counters()["dropped"] == 1


def test_a_forward_is_multicast_by_the_coordinator() -> None:  # I1
    assert downs(hear(member(A), forward(C, 1))) == [ordered(C, 1)]


def test_the_sender_of_data_is_taken_from_the_header() -> None:  # I5
    assert ups(hear(member(), ordered(C, 1))) == [delivered(C, 1, position=1)]


def test_what_a_stranger_has_sent_is_dropped_as_forward_and_as_data() -> None:
    assert hear(member(), ordered(STRANGER, 1)) == []
    layer = member(A)
    assert hear(layer, forward(STRANGER, 1)) == []
    assert layer.counters()["dropped"] == 1


def test_a_header_of_another_layer_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="not a header of SEQUENCER"):
        hear(member(), bare(A, Announce(1, {}, {})))


# --- Multicast(M, S) ------------------------------------------------------------------------------


def test_multicast_replaces_the_type_forward_by_data_which_stores_the_sender() -> None:
    (batch,) = downs(hear(member(A), forward(C, 4)))
    assert batch.headers == (Ordered(C, 4),)
    assert batch.sender == A
    assert batch.destination is None
    assert batch.reliable


def test_multicast_leaves_what_unicast_may_still_hold_as_it_was() -> None:
    batch = forward(C, 1)
    hear(member(A), batch)
    assert batch == forward(C, 1)


def test_everybody_thinks_that_the_message_is_from_the_coordinator() -> None:
    # the Overview: so NAKACK asks the coordinator for it, in case it is lost
    (batch,) = downs(hear(member(A), forward(B, 1)))
    assert batch.sender == A


# --- Deliver(M, S) --------------------------------------------------------------------------------


def test_if_the_message_was_sent_by_us_it_is_removed_from_the_forward_table() -> None:  # I3
    layer = member()
    send(layer, "b1")
    assert ups(hear(layer, ordered(B, 1))) == [delivered(B, 1, position=1)]
    assert layer.forward_table.batches == {}
    assert layer.counters()["forward_bytes"] == 0


def test_if_the_message_was_already_delivered_it_is_discarded() -> None:  # I2
    layer = member()
    hear(layer, ordered(C, 1), ordered(C, 2))
    assert hear(layer, ordered(C, 1), ordered(C, 2)) == []
    assert layer.counters()["duplicates"] == 2
    assert layer.progress.position == 2


def test_a_message_of_ours_that_comes_back_twice_is_discarded_the_second_time() -> None:  # I2, I3
    layer = member()
    send(layer, "b1")
    assert ups(hear(layer, ordered(B, 1), ordered(B, 1))) == [delivered(B, 1, position=1)]


def test_the_seqno_needs_to_be_one_higher_than_the_previous() -> None:  # I2
    layer = member()
    assert hear(layer, ordered(C, 2)) == []
    assert layer.counters()["dropped"] == 1
    assert ups(hear(layer, ordered(C, 1), ordered(C, 3), ordered(C, 2))) == [
        delivered(C, 1, position=1),
        delivered(C, 2, position=2),
    ]


def test_delivery_updates_the_received_table_with_key_s() -> None:
    layer = member()
    hear(layer, ordered(C, 1))
    assert layer.progress.received[C] == 1


def test_delivery_is_of_a_shallow_copy_with_the_original_sender() -> None:  # I5
    layer, kept = member(), ordered(C, 1)
    (up,) = ups(hear(layer, kept))
    assert up.sender == C
    assert up.headers == ()
    assert up.body is kept.body
    assert kept == ordered(C, 1)  # NAKACK would repair this one, as the coordinator's


def test_a_batch_of_no_messages_has_the_position_of_the_next_message() -> None:
    empty = ordered(C, 1)
    empty.count, empty.body = 0, b""
    assert [up.position for up in ups(hear(member(), empty, ordered(A, 1)))] == [1, 1]


def test_the_position_counts_messages_not_batches() -> None:
    layer = member()
    batch = ordered(C, 1)
    batch.count = 5
    (first, second) = ups(hear(layer, batch, ordered(A, 1)))
    assert (first.position, second.position) == (1, 6)
    assert layer.progress.position == 6


# --- On view change -------------------------------------------------------------------------------


def test_if_the_coordinator_leaves_the_forward_table_is_sent_to_the_new_one_in_order() -> None:
    layer = member(C)  # I4
    send(layer, "c1", "c2", "c3")
    hear(layer, ordered(C, 1))
    effects = layer.on_event(installed(B, C, number=2), 0.0)
    assert downs(effects) == [
        headed(C, Forward(2, 2), text="c2", to=B),  # M.dest is changed to the new coordinator
        headed(C, Forward(2, 3), text="c3", to=B),
    ]
    assert layer.counters()["resent"] == 2


def test_who_becomes_coordinator_multicasts_its_own_forward_table_in_order() -> None:  # I4, I1
    layer = member(B)
    send(layer, "b1", "b2")
    effects = layer.on_event(installed(B, C, number=2), 0.0)
    assert downs(effects) == [ordered(B, 1, coordinator=B), ordered(B, 2, coordinator=B)]
    assert list(layer.forward_table.batches) == [1, 2]


def test_if_the_coordinator_stays_nothing_is_sent_again() -> None:  # I4
    layer = member()
    send(layer, "b1")
    assert layer.on_event(installed(A, B, number=2), 0.0) == []


def test_what_the_former_coordinator_has_broadcast_is_forwarded_again_and_discarded() -> None:  # I2
    # the Comments: "we don't care about whether the message was forwarded before"
    layer = member(C)
    send(layer, "c1")
    hear(layer, ordered(C, 1))
    layer.on_event(installed(B, C, number=2), 0.0)
    assert hear(layer, ordered(C, 1, coordinator=B)) == []
    assert layer.counters()["duplicates"] == 1


# --- what was added -------------------------------------------------------------------------------


def test_a_forward_that_arrives_before_its_view_waits_for_it() -> None:
    layer = member(B)
    assert hear(layer, forward(C, 1, view=2)) == []
    effects = layer.on_event(installed(B, C, number=2), 0.0)
    assert downs(effects) == [ordered(C, 1, coordinator=B)]
    assert layer.counters()["dropped"] == 0


def test_only_so_many_forwards_wait_for_their_view() -> None:
    layer = member(B)
    layer.early.bytes_max = 600
    hear(layer, *(forward(C, seqno, view=2) for seqno in range(1, 5)))
    assert layer.counters()["dropped"] == 2
    assert len(downs(layer.on_event(installed(B, C, number=2), 0.0))) == 2


def test_a_forward_that_arrives_before_any_view_waits_for_one() -> None:
    layer = Sequencer(A)
    assert hear(layer, forward(B, 1)) == []
    assert downs(layer.on_event(installed(A, B), 0.0)) == [ordered(B, 1)]


def test_a_joiner_is_given_position_and_received_table() -> None:  # I6
    old, joiner = member(A), Sequencer(C)
    hear(old, ordered(A, 1), ordered(B, 1), ordered(A, 2))
    state = old.order_state()
    assert state == OrderState(3, {A: 2, B: 1})
    joiner.on_event(
        ViewInstalled(view_of(A, B, C, number=2), fresh=True, position=3, order_state=state), 0.0
    )
    old.on_event(installed(A, B, C, number=2), 0.0)
    following = ordered(B, 2), ordered(A, 2), ordered(A, 3)
    assert ups(hear(joiner, *following)) == ups(hear(old, *following))
    assert joiner.order_state() == old.order_state() == OrderState(5, {A: 3, B: 2})


def test_the_state_that_is_handed_over_is_a_copy() -> None:  # I6
    layer = member()
    state = layer.order_state()
    hear(layer, ordered(A, 1))
    assert state == OrderState()


def test_what_a_joiner_has_sent_too_early_goes_out_with_its_first_view() -> None:  # I4
    layer = Sequencer(C)
    event = ViewInstalled(view_of(A, C), fresh=True, position=0)
    layer.on_event(event, 0.0)
    assert downs(send(layer, "c1")) == [forward(C, 1)]


def test_a_recovered_epoch_begins_with_empty_tables_at_the_agreed_position() -> None:  # I6
    layer = member(C)
    send(layer, "c1", "c2")
    hear(layer, ordered(A, 1), ordered(C, 1))
    view = view_of(A, C, number=2, epoch=2, floor=17)
    effects = layer.on_event(
        ViewInstalled(view, recovered=True, position=17, order_state=OrderState(17)), 0.0
    )
    assert told(effects) == [Forward(2, 1)]  # c2, numbered anew; the coordinator is the same
    assert layer.order_state() == OrderState(17, {})
    assert layer.forward_table.next_seqno == 2


def test_a_forward_from_before_a_recovered_epoch_is_dropped() -> None:  # I2
    layer = member(A)
    event = ViewInstalled(view_of(A, B, number=5), recovered=True, position=9)
    layer.on_event(event, 0.0)
    assert hear(layer, forward(B, 1, view=4)) == []
    assert told(hear(layer, forward(B, 1, view=5))) == [Ordered(B, 1)]


def test_ordered_sends_are_told_to_wait_when_the_forward_table_is_full() -> None:
    layer = member(B, window_bytes=8)  # a message has five bytes
    assert events(send(layer, "b1")) == []
    assert events(send(layer, "b2")) == [Congested(True, "SEQUENCER")]
    assert events(send(layer, "b3", "b4")) == []
    assert events(hear(layer, ordered(B, 1), ordered(B, 2), ordered(B, 3))) == []
    assert events(hear(layer, ordered(B, 4))) == [Congested(False, "SEQUENCER")]
    assert events(send(layer, "b5", "b6")) == [Congested(True, "SEQUENCER")]


def test_what_is_delivered_goes_up_before_it_is_told_that_sends_may_go_on() -> None:
    layer = member(B, window_bytes=4)
    send(layer, "b1")
    effects = hear(layer, ordered(B, 1))
    assert isinstance(effects[0], Up)
    assert events(effects) == [Congested(False, "SEQUENCER")]


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []


def test_a_message_that_does_not_come_back_makes_the_order_late() -> None:  # I8
    layer = member()
    send(layer, "b1")
    looks = [layer.on_timer("watch", step / 10) for step in range(1, 40)]
    assert [events(effects) for effects in looks if events(effects)] == [[OrderLate(True)]]
