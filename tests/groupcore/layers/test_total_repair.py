"""TOTAL: retransmission, acknowledgement, uniform delivery.

"Retransmission" and "Future Improvements" of the paper, sentence by sentence.
"""

from __future__ import annotations

from random import Random

from groupcore.batch import Batch
from groupcore.events import Stable
from groupcore.layers.total import Total
from groupcore.layers.total_headers import (
    CumSeqAck,
    Mark,
    Resend,
    SeqAck,
    TotalOptions,
)
from groupcore.view import Address
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    D,
    E,
    bare,
    downs,
    events,
    installed,
    timers,
    told,
    ups,
)
from tests.groupcore.layers.totals import (
    NAMES,
    bcast,
    begin,
    delivered,
    hear,
    marks_of,
    member,
    send,
)

FIVE = (A, B, C, D, E)


def ack(sender: Address, sequence_id: int, wanted: bool = False, view: int = 1) -> Batch:
    return bare(sender, CumSeqAck(view, sequence_id, wanted), to=A)


def mark(last: int, held: int = 0, stable: int = 0, wanted: bool = False) -> Batch:
    return bare(A, Mark(1, last, held, stable, wanted))


# --- Retransmission -------------------------------------------------------------------------------


def test_a_resend_request_asks_the_sequencer_for_the_next_expected_id() -> None:  # I6
    layer = member()
    assert timers(hear(layer, bcast(2, A, 2)))["repair"] == 0
    assert downs(layer.on_timer("repair", 0.0)) == [bare(B, Resend(1, (1, 1)), to=A)]


def test_a_larger_gap_and_several_gaps_are_asked_for_in_one_go() -> None:  # I6
    layer = member()
    hear(layer, bcast(4, A, 4), bcast(6, A, 6))
    assert told(layer.on_timer("repair", 0.0)) == [Resend(1, (1, 3, 5, 5))]


def test_what_was_requested_already_is_not_requested_again_at_once() -> None:
    layer = member()
    hear(layer, bcast(2, A, 2))
    layer.on_timer("repair", 0.0)
    hear(layer, bcast(4, A, 4))
    assert told(layer.on_timer("repair", 0.0)) == [Resend(1, (3, 3))]


def test_resend_requests_back_off_with_jitter_while_nothing_comes() -> None:
    layer = member()
    hear(layer, bcast(2, A, 2))
    delays = [timers(layer.on_timer("repair", 0.0))["retry"]]
    delays += [timers(layer.on_timer("retry", 0.0))["retry"] for _ in range(4)]
    for tries, delay_s in enumerate(delays):
        least = 0.02 * 2**tries
        assert 0.75 * least <= delay_s <= 1.25 * least


def test_after_the_sequencer_any_holder_is_asked() -> None:
    layer = member()
    hear(layer, bcast(2, A, 2))
    layer.on_timer("repair", 0.0)
    asked = {batch.destination for _ in range(30) for batch in downs(layer.on_timer("retry", 0.0))}
    assert asked == {A, C}


def test_a_sequencer_that_is_not_heard_is_not_asked() -> None:
    layer = Total(B, Random(1), TotalOptions(), unreachable=lambda: frozenset({A}))
    begin(layer, installed(*NAMES), first=1)
    hear(layer, bcast(2, A, 2))
    assert downs(layer.on_timer("repair", 0.0)) == [bare(B, Resend(1, (1, 1)), to=C)]


def test_asking_ends_when_the_gap_is_closed() -> None:
    layer = member()
    hear(layer, bcast(2, A, 2))
    layer.on_timer("repair", 0.0)
    hear(layer, bcast(1, A, 1))
    assert layer.on_timer("retry", 0.0) == []


def test_the_state_of_retransmission_is_cleared_when_the_view_changes() -> None:  # I2
    layer = member()
    hear(layer, bcast(5, A, 5))
    layer.on_timer("repair", 0.0)
    begin(layer, installed(A, B, C, number=2), first=1)
    assert layer.on_timer("repair", 0.0) == layer.on_timer("retry", 0.0) == []
    hear(layer, bcast(2, A, 2, view=2))
    assert told(layer.on_timer("repair", 0.0)) == [Resend(2, (1, 1))]


def test_the_sequencer_sends_again_what_is_asked_for_at_the_end_of_the_turn() -> None:
    layer = member(A)
    send(layer, "a1", "a2", "a3")
    assert timers(hear(layer, bare(B, Resend(1, (2, 3)))))["answer"] == 0
    assert downs(layer.on_timer("answer", 0.0)) == [bcast(2, A, 2, to=B), bcast(3, A, 3, to=B)]


def test_every_holder_sends_again_what_it_holds() -> None:
    layer = member(C)
    hear(layer, bcast(1, A, 1), bcast(3, A, 3))
    hear(layer, bare(B, Resend(1, (1, 3))))
    assert downs(layer.on_timer("answer", 0.0)) == [
        bcast(1, A, 1, sender=C, to=B),
        bcast(3, A, 3, sender=C, to=B),
    ]


def test_what_came_second_hand_is_delivered_and_repaired_like_the_original() -> None:  # I1
    layer = member()
    (up,) = ups(hear(layer, bcast(1, A, 1, sender=C, to=B)))
    assert up == delivered(A, 1, position=1)
    hear(layer, bare(C, Resend(1, (1, 1))))
    assert downs(layer.on_timer("answer", 0.0)) == [bcast(1, A, 1, sender=B, to=C)]


def test_what_many_ask_for_is_broadcast_once() -> None:
    layer = member(A)
    send(layer, "a1")
    hear(layer, bare(B, Resend(1, (1, 1))), bare(C, Resend(1, (1, 1))))
    assert downs(layer.on_timer("answer", 0.0)) == [bcast(1, A, 1)]


def test_a_resend_of_a_stranger_or_of_no_view_is_dropped() -> None:
    layer = member(A)
    send(layer, "a1")
    hear(layer, bare(STRANGER, Resend(1, (1, 1))), bare(B, Resend(7, (1, 1))))
    assert layer.on_timer("answer", 0.0) == []
    assert layer.counters()["dropped"] == 2


# --- acknowledgements -----------------------------------------------------------------------------


def test_a_cumulative_acknowledgement_tells_the_last_id_without_a_gap() -> None:
    layer = member()
    assert timers(hear(layer, bcast(1, A, 1), bcast(2, A, 2)))["ack"] == 0
    assert downs(layer.on_timer("ack", 0.0)) == [ack(B, 2)]
    assert layer.on_timer("ack", 0.0) == []


def test_who_is_not_needed_for_the_quorum_acknowledges_a_little_later() -> None:
    assert timers(hear(member(C), bcast(1, A, 1)))["ack"] == 0.005


def test_a_single_id_beyond_a_gap_is_acknowledged_by_itself() -> None:
    layer = member(C)
    assert timers(hear(layer, bcast(1, A, 1), bcast(3, A, 3), bcast(4, A, 4)))["ack"] == 0
    assert told(layer.on_timer("ack", 0.0)) == [
        CumSeqAck(1, 1, False),
        SeqAck(1, 3),
        SeqAck(1, 4),
    ]


def test_an_id_that_has_become_contiguous_in_the_turn_is_not_acknowledged_twice() -> None:
    layer = member()
    hear(layer, bcast(2, A, 2), bcast(1, A, 1))
    assert told(layer.on_timer("ack", 0.0)) == [CumSeqAck(1, 2, False)]


def test_what_was_acknowledged_by_itself_is_not_sent_again() -> None:
    layer = member(A)
    send(layer, "a1", "a2", "a3")
    hear(layer, ack(B, 1), bare(B, SeqAck(1, 3), to=A), bare(B, Resend(1, (1, 3))))
    assert downs(layer.on_timer("answer", 0.0)) == [bcast(2, A, 2, to=B)]


def test_the_sequencer_does_not_run_ahead_of_its_window() -> None:  # I7
    layer = member(A, window_bytes=10)  # a message has five bytes
    assert marks_of(send(layer, "a1", "a2", "a3", "a4")) == [(A, 1), (A, 2)]
    assert marks_of(hear(layer, ack(B, 2))) == []
    assert marks_of(hear(layer, ack(C, 1))) == [(A, 3)]
    assert marks_of(hear(layer, ack(C, 2))) == [(A, 4)]


def test_what_everybody_holds_beyond_a_gap_opens_the_window() -> None:
    layer = member(A, window_bytes=10)
    send(layer, "a1", "a2", "a3")
    assert marks_of(hear(layer, bare(B, SeqAck(1, 2), to=A))) == []
    assert marks_of(hear(layer, bare(C, SeqAck(1, 2), to=A))) == [(A, 3)]


def test_the_buffer_keeps_only_what_somebody_lacks() -> None:  # I7
    layer = member(A)
    send(layer, "a1", "a2")
    hear(layer, ack(B, 2), ack(C, 1))
    assert layer.counters()["kept"] == 1
    assert layer.counters()["in_flight_bytes"] == 5


def test_members_let_go_of_what_the_sequencer_says_that_all_hold() -> None:  # I7
    layer = member()
    hear(layer, bcast(1, A, 1), bcast(2, A, 2), bcast(3, A, 3, stable=2))
    assert layer.counters()["kept"] == 1
    effects = hear(layer, mark(3, stable=3))
    assert layer.counters()["kept"] == 0
    assert events(effects) == [Stable({A: 3}, {A: 3})]


def test_an_acknowledgement_of_what_was_not_sent_counts_for_what_was() -> None:
    layer = member(A)
    send(layer, "a1")
    hear(layer, ack(B, 99), ack(C, 99))
    assert layer.counters()["kept"] == 0
    assert marks_of(send(layer, "a2")) == [(A, 2)]


# --- the lost suffix ------------------------------------------------------------------------------


def test_an_idle_sequencer_tells_its_last_id_until_all_have_acknowledged() -> None:  # I6
    layer = member(A)
    assert timers(send(layer, "a1"))["idle"] == 0.03
    assert timers(layer.on_timer("idle", 0.0)) == {"idle": 0.03}  # it was busy until now
    effects = layer.on_timer("idle", 0.0)
    assert downs(effects) == [mark(1, held=0, wanted=True)]
    assert timers(effects) == {"idle": 0.06}
    hear(layer, ack(B, 1))
    assert told(layer.on_timer("idle", 0.0)) == [Mark(1, 1, 1, 0, True)]
    hear(layer, ack(C, 1))
    effects = layer.on_timer("idle", 0.0)
    assert told(effects) == [Mark(1, 1, 1, 1, False)]  # all may let go of it
    assert timers(effects) == {}


def test_a_lost_suffix_is_requested_when_the_mark_tells_of_it() -> None:  # I6
    layer = member()
    assert timers(hear(layer, mark(2, wanted=True))) == {"ack": 0, "repair": 0}
    assert told(layer.on_timer("repair", 0.0)) == [Resend(1, (1, 2))]
    assert told(layer.on_timer("ack", 0.0)) == [CumSeqAck(1, 0, False)]


def test_a_mark_of_another_than_the_sequencer_counts_for_nothing() -> None:
    layer = member()
    assert hear(layer, bare(C, Mark(1, 9, 9, 9, True))) == []
    assert layer.counters()["dropped"] == 1


# --- uniform delivery -----------------------------------------------------------------------------


def test_the_sequencer_delivers_when_a_quorum_holds_the_message() -> None:  # I3
    layer = member(A)
    assert ups(send(layer, "a1", "a2")) == []
    assert ups(hear(layer, ack(B, 1))) == [delivered(A, 1, position=1)]
    assert ups(hear(layer, ack(C, 2))) == [delivered(A, 2, position=2)]


def test_what_is_held_beyond_a_gap_counts_for_no_quorum() -> None:  # I3
    # two hold 2, but the digests of their votes would name 0: the next view would not have it
    layer = member(A)
    send(layer, "a1", "a2")
    single = bare(B, SeqAck(1, 2), to=A), bare(C, SeqAck(1, 2), to=A)
    assert ups(hear(layer, *single)) == []
    assert layer.role is not None
    assert layer.role.held == 0


def test_in_a_view_of_five_members_wait_until_the_mark_tells_that_a_quorum_holds_it() -> None:  # I3
    layer = member(B, members=FIVE)
    effects = hear(layer, bcast(1, A, 1), bcast(2, A, 2))
    assert ups(effects) == []
    assert timers(effects)["ask"] == 0.03
    assert ups(hear(layer, bcast(3, A, 3, held=1))) == [delivered(A, 1, position=1)]
    assert len(ups(hear(layer, mark(3, held=3)))) == 2


def test_the_sequencer_tells_what_a_quorum_holds_to_those_who_cannot_know() -> None:  # I3
    layer = member(A, members=FIVE)
    send(layer, "a1")
    assert timers(hear(layer, ack(B, 1))) == {}
    assert timers(hear(layer, ack(C, 1))) == {"mark": 0}
    assert downs(layer.on_timer("mark", 0.0)) == [mark(1, held=1)]
    assert layer.on_timer("mark", 0.0) == []


def test_a_lost_mark_is_asked_for_less_and_less_often() -> None:  # I3
    layer = member(B, members=FIVE)
    hear(layer, bcast(1, A, 1))
    effects = layer.on_timer("ask", 0.0)
    assert downs(effects) == [ack(B, 1, wanted=True)]
    assert timers(effects) == {"ask": 0.06}
    hear(layer, mark(1, held=1))
    assert layer.on_timer("ask", 0.0) == []


def test_the_sequencer_answers_who_asks_for_its_mark() -> None:  # I3
    layer = member(A, members=FIVE)
    send(layer, "a1")
    hear(layer, ack(B, 1), ack(C, 1))
    assert downs(hear(layer, ack(B, 1, wanted=True))) == [bare(A, Mark(1, 1, 1, 0, False), to=B)]


def test_a_member_that_has_slept_waits_for_a_mark() -> None:  # I11
    layer = member()
    layer.on_timer("awake", 0.0)
    effects = layer.on_up(bcast(1, A, 1), 5.0)
    assert (ups(effects), timers(effects)["ask"]) == ([], 0.03)
    assert len(ups(layer.on_up(mark(1, held=1), 5.1))) == 1
    for tick in range(1, 8):
        layer.on_timer("awake", 5.0 + tick / 10)
    assert len(ups(layer.on_up(bcast(2, A, 2), 5.75))) == 1
