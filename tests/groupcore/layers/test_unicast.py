"""The rules of UNICAST: numbered, repeated, delivered in order; I6 has `test_unicast_merge`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, StartTimer, StopTimer, Up
from groupcore.events import Connect
from groupcore.layers.sequencer import Forward
from groupcore.layers.unicast import (
    GAPS_MAX,
    REPEATED_AT_ONCE,
    Ack,
    Data,
    Unicast,
    UnicastOptions,
    timer_of,
)
from groupcore.view import Address
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    bare,
    downs,
    headed,
    installed,
    message,
    stopped,
    timers,
    told,
    ups,
)

REPEAT_B = timer_of(B)


def member(options: UnicastOptions | None = None) -> Unicast:
    layer = Unicast(A, options or UnicastOptions())
    layer.on_event(installed(A, B, C), 0.0)
    return layer


def send(layer: Unicast, count: int, to: Address = B) -> list[Effect]:
    """Send so many messages, `1` first."""
    return [
        effect
        for number in range(1, count + 1)
        for effect in layer.on_down(message(A, str(number), to=to), 0.0)
    ]


def data(seqno: int, sender: Address = B, since: int = 1) -> Batch:
    return headed(sender, Data(since, seqno), text=str(seqno), to=A)


def hear(layer: Unicast, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


def texts(*seqnos: int, sender: Address = B) -> list[Batch]:
    return [message(sender, str(seqno), to=A) for seqno in seqnos]


# --- sending --------------------------------------------------------------------------------------


def test_each_direction_is_numbered_from_one() -> None:  # I1
    layer = member()
    assert told(send(layer, 2)) == [Data(1, 1), Data(1, 2)]
    assert told(send(layer, 1, to=C)) == [Data(1, 1)]


def test_multicasts_and_unreliable_unicasts_pass_as_they_are() -> None:
    layer = member()
    for batch in (message(A), bare(A, Ack(1, 0, ()), to=B)):
        assert layer.on_down(batch, 0.0) == [Down(batch)]


def test_what_a_member_sends_to_itself_does_not_travel() -> None:
    batch = message(A, to=A)
    assert member().on_down(batch, 0.0) == [Up(batch)]


def test_one_timer_watches_over_what_is_on_the_way_to_one_member() -> None:
    layer = member()
    assert timers(send(layer, 1)) == {REPEAT_B: 0.03}
    assert timers(send(layer, 1)) == {}
    assert timers(send(layer, 1, to=C)) == {timer_of(C): 0.03}


def test_what_is_not_acknowledged_is_repeated_less_and_less_often() -> None:  # I2
    layer = member()
    send(layer, 2)
    delays = []
    for _ in range(6):
        effects = layer.on_timer(REPEAT_B, 0.0)
        assert downs(effects) == [message(A, str(n), to=B).with_header(Data(1, n)) for n in (1, 2)]
        delays.append(timers(effects)[REPEAT_B])
    assert delays[:3] == pytest.approx([0.06, 0.12, 0.24])
    assert delays[-1] == 0.5
    assert layer.counters()["repeated"] == 12
    assert layer.counters()["unacknowledged"] == 2


def test_only_the_first_few_are_repeated_at_once() -> None:
    layer = member()
    send(layer, 40)
    assert told(layer.on_timer(REPEAT_B, 0.0)) == [Data(1, n) for n in range(1, 17)]


def test_nothing_is_repeated_sooner_than_an_acknowledgement_can_come() -> None:  # I2
    layer = member()
    layer.on_down(message(A, "1", to=B), 1.0)
    layer.on_up(bare(B, Ack(1, 1, ())), 1.1)
    assert timers(layer.on_down(message(A, "2", to=B), 2.0))[REPEAT_B] == pytest.approx(0.2)
    layer.on_down(message(A, "3", to=B), 2.05)  # the time of one batch is taken at a time
    layer.on_up(bare(B, Ack(1, 3, ())), 2.06)
    delay_s = timers(layer.on_down(message(A, "4", to=B), 3.0))[REPEAT_B]
    assert delay_s == pytest.approx(2 * (0.1 + (0.06 - 0.1) / 8))  # down slowly
    layer.on_up(bare(B, Ack(1, 4, ())), 9.0)
    assert timers(layer.on_down(message(A, "5", to=B), 9.0))[REPEAT_B] == 4.0  # the longest


def test_repeats_that_came_too_early_make_the_sender_patient() -> None:  # I2
    layer = member()
    layer.on_down(message(A, "1", to=B), 1.0)
    for _ in range(3):
        layer.on_timer(REPEAT_B, 1.0)
    layer.on_up(bare(B, Ack(1, 1, ())), 1.3)
    assert timers(layer.on_down(message(A, "2", to=B), 2.0))[REPEAT_B] == pytest.approx(0.48)
    layer.on_up(bare(B, Ack(1, 2, ())), 2.3)  # the first that was not repeated teaches the time
    assert timers(layer.on_down(message(A, "3", to=B), 3.0))[REPEAT_B] == pytest.approx(0.6)


def test_on_a_link_that_is_slower_than_the_longest_pause_repeats_become_rare() -> None:  # I2
    layer = member()
    for number in range(1, 5):
        start = timers(layer.on_down(message(A, str(number), to=B), 10.0 * number))[REPEAT_B]
        waited, pause, repeats = start, start, 0
        while waited < 0.9:
            repeats += 1
            pause = timers(layer.on_timer(REPEAT_B, 10.0 * number + waited))[REPEAT_B]
            waited += pause
        layer.on_up(bare(B, Ack(1, number, ())), 10.0 * number + 0.9)
    assert repeats == 0


def test_what_is_acknowledged_is_not_repeated() -> None:  # I2
    layer = member()
    send(layer, 3)
    assert timers(hear(layer, bare(B, Ack(1, 2, ())))) == {REPEAT_B: 0.03}
    assert told(layer.on_timer(REPEAT_B, 0.0)) == [Data(1, 3)]
    assert hear(layer, bare(B, Ack(1, 3, ()))) == [StopTimer(REPEAT_B)]
    assert layer.on_timer(REPEAT_B, 0.0) == []
    assert layer.counters()["unacknowledged"] == 0


def test_a_gap_that_the_receiver_names_is_repeated_at_once() -> None:  # I2
    layer = member()
    send(layer, 6)
    effects = hear(layer, bare(B, Ack(1, 1, (2, 3, 5, 5))))
    assert told(effects) == [Data(1, 2), Data(1, 3), Data(1, 5)]


def test_an_acknowledgement_that_is_no_news_leaves_the_timer_alone() -> None:
    layer = member()
    send(layer, 2)
    assert hear(layer, bare(B, Ack(1, 0, ()))) == []


def test_a_window_of_batches_is_on_the_way_and_the_rest_waits() -> None:  # I3
    layer = member(UnicastOptions(window_batches=2))
    assert told(send(layer, 5)) == [Data(1, 1), Data(1, 2)]
    effects = hear(layer, bare(B, Ack(1, 1, ())))
    assert told(effects) == [Data(1, 3)]
    assert timers(effects) == {REPEAT_B: 0.03}
    assert told(hear(layer, bare(B, Ack(1, 3, ())))) == [Data(1, 4), Data(1, 5)]
    assert layer.counters()["unacknowledged"] == 2


@pytest.mark.parametrize("received", [3, 99])
def test_an_acknowledgement_of_what_was_not_sent_counts_for_nothing(received: int) -> None:
    layer = member()
    send(layer, 2)
    assert hear(layer, bare(B, Ack(1, received, ()))) == []
    assert layer.counters()["unacknowledged"] == 2


def test_gaps_behind_what_was_sent_and_half_a_gap_are_not_answered() -> None:
    layer = member()
    send(layer, 2)
    assert told(hear(layer, bare(B, Ack(1, 0, (2, 2**63, 1))))) == [Data(1, 2)]


def test_an_acknowledgement_of_nothing_sent_counts_for_nothing() -> None:
    assert hear(member(), bare(B, Ack(1, 0, ()))) == []


# --- receiving ------------------------------------------------------------------------------------


def test_batches_are_delivered_in_the_order_of_their_numbers() -> None:  # I1
    layer = member()
    assert ups(hear(layer, data(2), data(3))) == []
    assert ups(hear(layer, data(1))) == texts(1, 2, 3)


@settings(max_examples=40)
@given(st.permutations(range(1, 7)), st.lists(st.integers(1, 6), max_size=6))
def test_whatever_comes_late_or_twice_is_delivered_once_and_in_order(
    order: list[int], again: list[int]
) -> None:  # I1
    layer = member()
    assert ups(hear(layer, *map(data, [*order, *again]))) == texts(*range(1, 7))


def test_two_senders_do_not_wait_for_each_other() -> None:
    layer = member()
    assert ups(hear(layer, data(2), data(1, sender=C))) == texts(1, sender=C)


def test_what_arrives_is_acknowledged_once_at_the_end_of_the_turn_with_its_gaps() -> None:
    layer = member()
    effects = hear(layer, data(1), data(3), data(6), data(7))
    assert timers(effects) == {"ack": 0}
    assert downs(layer.on_timer("ack", 0.0)) == [bare(A, Ack(1, 1, (2, 2, 4, 5)), to=B)]
    assert layer.on_timer("ack", 0.0) == []


def test_what_comes_twice_is_acknowledged_again() -> None:  # I2: the acknowledgement was lost
    layer = member()
    hear(layer, data(1))
    layer.on_timer("ack", 0.0)
    assert hear(layer, data(1)) == [StartTimer("ack", 0)]
    assert downs(layer.on_timer("ack", 0.0)) == [bare(A, Ack(1, 1, ()), to=B)]
    assert layer.counters()["dropped"] == 1


def test_an_acknowledgement_names_a_bounded_number_of_gaps() -> None:
    layer = member()
    hear(layer, *(data(seqno) for seqno in range(2, 4 * GAPS_MAX, 2)))
    (ack,) = told(layer.on_timer("ack", 0.0))
    assert isinstance(ack, Ack)
    assert len(ack.gaps) == 2 * GAPS_MAX


def test_what_is_too_far_ahead_is_not_kept() -> None:
    layer = member(UnicastOptions(ahead_max=3))
    hear(layer, data(4), data(3))
    assert ups(hear(layer, data(1), data(2))) == texts(1, 2, 3)
    assert layer.counters()["dropped"] == 1


def test_a_header_of_another_layer_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="not a header of UNICAST"):
        hear(member(), headed(B, Forward(1, 1), to=A))


# --- views ----------------------------------------------------------------------------------------


def test_a_stranger_is_not_listened_to_nor_acknowledged() -> None:  # I4
    layer = member()
    assert hear(layer, data(1, sender=STRANGER), bare(STRANGER, Ack(1, 0, ()))) == []
    assert layer.on_timer("ack", 0.0) == []
    assert layer.counters()["dropped"] == 2


def test_what_comes_before_the_view_comes_again_after_it() -> None:  # I4, I2
    receiver = Unicast(A, UnicastOptions())
    sender = Unicast(B, UnicastOptions())
    sender.on_event(installed(A, B), 0.0)
    early = downs(sender.on_down(message(B, "1", to=A), 0.0))
    assert hear(receiver, *early) == []
    receiver.on_event(installed(A, B), 0.0)
    repeated = downs(sender.on_timer(timer_of(A), 0.0))
    assert ups(hear(receiver, *repeated)) == texts(1)


def test_who_has_left_the_view_is_forgotten() -> None:  # I4
    layer = member()
    send(layer, 1)
    hear(layer, data(1))
    effects = layer.on_event(installed(A, C, number=2), 0.0)
    assert stopped(effects) == {REPEAT_B}
    assert layer.on_timer(REPEAT_B, 0.0) == []
    assert layer.on_timer("ack", 0.0) == []
    assert hear(layer, data(2)) == []


def test_a_new_life_begins_with_number_one_again() -> None:  # I4
    layer = member()
    hear(layer, data(1), data(2))
    again = Address("b", 2)
    layer.on_event(installed(A, again, number=2), 0.0)
    assert ups(hear(layer, data(1, sender=again, since=2))) == texts(1, sender=again)
    assert told(send(layer, 1, to=again)) == [Data(2, 1)]


def test_a_new_life_may_have_missed_the_view_in_which_others_met_it() -> None:  # I5
    layer = Unicast(A, UnicastOptions())
    layer.on_event(installed(A, B, number=6), 0.0)
    assert ups(hear(layer, data(1, since=5))) == texts(1)
    assert downs(layer.on_timer("ack", 0.0)) == [bare(A, Ack(5, 1, ()), to=B)]
    assert told(send(layer, 1)) == [Data(6, 1)]


def returned() -> Unicast:
    """A member that B has left and come back to in view 3."""
    layer = member()
    hear(layer, data(1), data(2))
    send(layer, 3)
    layer.on_event(installed(A, C, number=2), 0.0)
    layer.on_event(installed(A, B, C, number=3), 0.0)
    return layer


def test_what_was_said_before_somebody_left_is_not_heard_when_they_are_back() -> None:  # I5
    layer = returned()
    assert ups(hear(layer, data(1), data(2), data(3))) == []
    assert layer.on_timer("ack", 0.0) == []
    assert ups(hear(layer, data(1, since=3), data(2), data(2, since=3))) == texts(1, 2)


def test_what_was_acknowledged_before_says_nothing_of_what_is_sent_now() -> None:  # I5
    layer = returned()
    assert told(send(layer, 3)) == [Data(3, 1), Data(3, 2), Data(3, 3)]
    assert hear(layer, bare(B, Ack(1, 2, (3, 3)))) == []
    assert told(layer.on_timer(REPEAT_B, 0.0)) == [Data(3, 1), Data(3, 2), Data(3, 3)]


def test_who_is_back_in_a_view_that_is_not_here_yet_is_heard_in_it() -> None:  # I5
    layer = member()
    hear(layer, data(1))
    assert ups(hear(layer, data(1, since=3))) == []
    layer.on_event(installed(A, C, number=2), 0.0)
    layer.on_event(installed(A, B, C, number=3), 0.0)
    assert ups(hear(layer, data(1, since=3))) == texts(1)


def test_who_is_back_for_others_only_is_heard_anew_as_well() -> None:  # I5
    layer = member()
    hear(layer, data(1), data(2))
    layer.on_event(installed(A, B, C, number=3), 0.0)
    assert ups(hear(layer, data(1, since=3), data(3))) == texts(1)


def test_between_those_who_stay_the_numbers_go_on_over_a_view() -> None:  # I1
    layer = member()
    send(layer, 1)
    hear(layer, data(1))
    assert layer.on_event(installed(A, B, number=2), 0.0) == []
    assert ups(hear(layer, data(1), data(2))) == texts(2)
    assert told(send(layer, 1)) == [Data(1, 2)]


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []


def test_batches_sent_are_counted() -> None:
    layer = member()
    send(layer, 2)
    assert layer.counters()["sent"] == 2


def test_an_acknowledgement_with_too_many_gaps_is_not_answered() -> None:
    layer = member()
    send(layer, 2)
    assert hear(layer, bare(B, Ack(1, 0, (1, 1) * (GAPS_MAX + 1)))) == []


def test_what_was_lost_together_is_repeated_without_waiting_for_the_timer_again() -> None:  # I2
    layer = member()
    send(layer, 40)
    layer.on_timer(timer_of(B), 1.0)
    effects = hear(layer, bare(B, Ack(1, REPEATED_AT_ONCE, ())))
    repeated = [e.batch.headers[-1] for e in effects if isinstance(e, Down)]
    assert repeated[:REPEATED_AT_ONCE] == [
        Data(1, seqno) for seqno in range(REPEATED_AT_ONCE + 1, 2 * REPEATED_AT_ONCE + 1)
    ]


def test_an_outage_does_not_count_as_the_time_of_an_acknowledgement() -> None:
    layer = member()
    send(layer, 1)
    layer.on_timer(timer_of(B), 9.0)
    layer.on_up(bare(B, Ack(1, 1, ())), 10.0)
    assert layer.sending[B].round_trip_s == 0.0
