"""The rules of flow control: credit towards each member, and what happens when there is none."""

from __future__ import annotations

from groupcore.batch import Batch, Header
from groupcore.events import Backlog, Congested, FlushStarted, Stalled
from groupcore.layers.flow_control import (
    Ask,
    Credit,
    FlowControl,
)
from groupcore.layers.fragmentation import Fragment
from groupcore.layers.sequencer import Forward
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
    told,
    ups,
)
from tests.groupcore.layers.flows import (
    COST,
    OPTIONS,
    costing,
    credit,
    look,
    member,
    receive,
    send,
    turn,
)

# --- sending --------------------------------------------------------------------------------------


def test_a_batch_goes_out_while_all_receivers_have_credit_left() -> None:  # I1
    layer = member()
    assert len(downs(send(layer, 10))) == 10
    assert downs(send(layer)) == []
    assert layer.counters()["waiting_bytes"] == COST


def test_the_slowest_receiver_decides_for_multicasts() -> None:  # I1
    layer = member()
    send(layer, 11)
    assert downs(credit(layer, B, 1000, 0)) == []
    assert downs(credit(layer, A, 1000, 0)) == []
    assert downs(credit(layer, C, 1000, 900)) == [costing(COST)]


def test_unicasts_wait_for_their_one_receiver() -> None:  # I1
    layer = member()
    assert len(downs(send(layer, 10, to=B))) == 10
    assert downs(send(layer, to=B)) == []
    assert len(downs(send(layer, 10, to=C))) == 10
    assert len(downs(send(layer, 10))) == 10
    assert downs(credit(layer, B, 400, 0, multicast=False)) == [costing(COST, to=B)]


def test_what_waits_goes_out_in_order() -> None:  # I2
    layer = member(A, A, B)
    send(layer, 10)
    for name in b"xyz":
        layer.on_down(Batch(A, None, (), bytes([name]), 0), 0.0)
    credit(layer, A, 1000, 0)
    assert [batch.body for batch in downs(credit(layer, B, 500, 0))] == [b"x", b"y", b"z"]


def test_nothing_overtakes_what_is_on_its_way_down() -> None:  # I2
    layer = member(A, A, B)
    send(layer, 11)
    credit(layer, A, 1000, 0)
    effects = credit(layer, B, 1000, 0)
    assert timers(effects) == {"reopen": 0}
    assert downs(send(layer)) == []  # sent in answer to what is being released
    assert downs(layer.on_timer("reopen", 0.0)) == [costing(COST)]
    layer.on_timer("reopen", 0.0)
    assert len(downs(send(layer))) == 1


def test_the_rest_of_a_body_follows_its_beginning_without_credit() -> None:  # I3
    layer = member()
    send(layer, 9)
    pieces = [Batch(A, None, (Fragment(i, 3),), bytes(500), 1) for i in range(3)]
    assert [b for p in pieces for b in downs(layer.on_down(p, 0.0))] == pieces
    first = Batch(A, None, (Fragment(0, 2),), b"", 1)
    second = Batch(A, None, (Fragment(1, 2),), b"", 1)
    assert downs(layer.on_down(first, 0.0)) == []
    assert downs(layer.on_down(second, 0.0)) == []


def test_unreliable_batches_pass() -> None:
    layer = member()
    send(layer, 11)
    batch = bare(A, Ask(1, True))
    assert downs(layer.on_down(batch, 0.0)) == [batch]


def test_unicasts_of_a_layer_that_bounds_them_itself_pass_uncounted() -> None:
    layer = member()
    forward = Batch(A, B, (Forward(1, 1),), bytes(5000), 1)
    for _ in range(3):
        assert downs(layer.on_down(forward, 0.0)) == [forward]
    arrived = Batch(B, A, (Forward(1, 1),), bytes(5000), 1)
    assert ups(layer.on_pass(arrived, 0.0)) == [arrived]
    assert layer.consumption.streams == ()


def test_the_application_is_told_to_wait_and_to_go_on() -> None:  # I8
    layer = member(A, A, B)
    send(layer, 10)
    assert events(send(layer, 9)) == []
    assert events(send(layer)) == [Congested(True, "FC")]
    credit(layer, A, 1000, 0)
    assert events(credit(layer, B, 400, 0)) == []
    credit(layer, A, 1300, 0)
    layer.on_timer("reopen", 0.0)
    assert events(credit(layer, B, 600, 0)) == [Congested(False, "FC")]


# --- receiving ------------------------------------------------------------------------------------


def test_credit_is_given_back_a_third_at_a_time() -> None:
    layer = member(B)
    receive(layer, A, 3)
    assert [*turn(layer), *turn(layer)] == []
    receive(layer, A, 1)
    turn(layer)
    assert downs(turn(layer)) == [bare(B, Credit(1, True, 400, 0), to=A)]
    assert downs(turn(layer)) == []


def test_what_the_application_has_not_consumed_is_not_given_back() -> None:
    layer = member(B)
    receive(layer, A, 10)
    turn(layer)
    assert downs(layer.on_event(Backlog(800), 0.0)) == []
    assert downs(layer.on_event(Backlog(500), 0.0)) == [bare(B, Credit(1, True, 1000, 500), to=A)]
    assert layer.counters()["unread_bytes"] == 500


def test_what_is_consumed_without_a_word_is_given_back_soon() -> None:
    layer = member(B)
    receive(layer, A, 10)
    effects = turn(layer)
    assert downs(effects) == []
    assert 0 < timers(effects)["settle"] < 0.01
    assert told(turn(layer)) == [Credit(1, True, 1000, 0)]


def test_an_application_that_does_not_read_costs_no_timer() -> None:
    layer = member(B)
    receive(layer, A, 10)
    layer.on_event(Backlog(1000), 0.0)
    assert timers(turn(layer)) == {}


def test_multicasts_and_unicasts_are_counted_apart() -> None:
    layer = member(B)
    receive(layer, A, 4)
    receive(layer, A, 5, to=B)
    turn(layer)
    assert told(turn(layer)) == [Credit(1, True, 400, 0), Credit(1, False, 500, 0)]


def test_a_member_gives_credit_to_itself() -> None:
    layer = member(A, A)
    send(layer, 12)
    receive(layer, A, 10)
    turn(layer)
    assert len(downs(turn(layer))) == 2


# --- what is lost, and who is wrong ---------------------------------------------------------------


def test_a_sender_that_is_blocked_asks_and_credit_that_was_lost_comes_again() -> None:  # I4
    sender, receiver = member(A), member(B)
    assert timers(send(sender, 11)) == {"watch": OPTIONS.ask_s}
    receive(receiver, A, 10)
    turn(receiver)
    assert told(turn(receiver)) == [Credit(1, True, 1000, 0)]  # and is lost
    asked = downs(sender.on_timer("watch", 0.1))
    assert asked == [bare(A, Ask(1, True), to=B), bare(A, Ask(1, True), to=C)]
    (answer,) = downs(receiver.on_up(bare(A, Ask(1, True), to=B), 0.2))
    assert answer == bare(B, Credit(1, True, 1000, 0), to=A)
    sender.on_up(answer, 0.3)
    assert sender.multicasts.accounts[B].consumed == 1000


def test_a_sender_that_is_slow_to_send_does_not_wait_for_its_own_word() -> None:  # I4
    layer = member()
    send(layer, 5)
    receive(layer, A, 5)
    turn(layer)
    for other in (B, C):
        credit(layer, other, 400, 0)
    effects = look(layer, 5.0)
    assert layer.multicasts.accounts[A].received == 500
    assert events(effects) == []


def test_who_waits_for_nobody_asks_nobody() -> None:
    layer = member()
    assert timers(send(layer, 1)) == {"watch": OPTIONS.ask_s}
    assert timers(send(layer, 1)) == {}
    for receiver in (A, B, C):
        credit(layer, receiver, 100, 0)
    assert layer.on_timer("watch", 0.1) == []


def test_an_older_word_changes_nothing() -> None:  # I4
    layer = member(A, A, B)
    send(layer, 10)
    credit(layer, B, 600, 100)
    assert credit(layer, B, 500, 0) == []
    assert credit(layer, B, 600, 200) == []
    assert layer.multicasts.accounts[B].consumed == 500


def test_strangers_former_views_and_unknown_streams_are_dropped_and_counted() -> None:  # I6
    layer = member()
    send(layer, 11)
    wrong: list[tuple[Address, Header]] = [
        (STRANGER, Credit(1, True, 1000, 0)),
        (B, Credit(0, True, 1000, 0)),
        (B, Credit(1, False, 1000, 0)),
        (STRANGER, Ask(1, True)),
    ]
    for sender, header in wrong:
        assert layer.on_up(bare(sender, header, to=A), 0.0) == []
    assert layer.counters()["dropped"] == len(wrong)
    assert layer.multicasts.accounts[B].consumed == 0


def test_nobody_is_believed_to_have_got_more_than_was_sent() -> None:  # I6
    layer = member(A, A, B)
    send(layer, 5)
    credit(layer, B, 1 << 40, 0)
    assert layer.multicasts.accounts[B].consumed == 500


# --- views ----------------------------------------------------------------------------------------


def test_multicasts_wait_while_the_view_changes_and_go_out_in_the_next() -> None:  # I5
    layer = member()
    layer.on_event(FlushStarted(), 1.0)
    assert downs(send(layer)) == []
    assert len(downs(send(layer, to=B))) == 1
    assert downs(layer.on_event(installed(A, B, number=2), 1.1)) == [costing(COST)]
    assert layer.multicasts.sent == COST


def test_before_the_first_view_multicasts_wait() -> None:  # I5
    layer = FlowControl(A, OPTIONS)
    assert downs(send(layer)) == []
    assert len(downs(layer.on_event(installed(A), 0.0))) == 1


def test_who_has_left_is_waited_for_no_more_and_who_is_new_has_full_credit() -> None:  # I5
    layer = member(A, A, B)
    send(layer, 12)
    send(layer, 12, to=B)
    credit(layer, A, 1000, 0)
    effects = layer.on_event(installed(A, C, number=2), 1.0)
    assert len(downs(effects)) == 2
    assert B not in layer.unicasts
    layer.on_timer("reopen", 1.0)
    assert len(downs(send(layer, 20))) == 8


def test_what_a_member_has_not_consumed_counts_in_the_next_view() -> None:  # I5
    layer = member(A, A, B)
    send(layer, 10)
    credit(layer, A, 1000, 0)
    credit(layer, B, 1000, 700)
    layer.on_event(installed(A, B, number=2), 1.0)
    assert len(downs(send(layer, 10))) == 3
    assert len(downs(credit(layer, B, 300, 500, 2))) == 5


def test_a_receiver_tells_in_the_next_view_what_was_consumed_since() -> None:  # I5
    layer = member(B)
    receive(layer, A, 10)
    layer.on_event(Backlog(1000), 0.0)
    turn(layer)
    layer.on_up(bare(A, Ask(1, True), to=B), 0.0)
    layer.on_event(installed(A, B, number=2), 1.0)
    assert told(layer.on_event(Backlog(0), 1.0)) == [Credit(2, True, 0, 0)]


def test_who_is_waited_for_in_vain_is_reported() -> None:  # I7
    layer = member(A, A, B, C)
    send(layer, 11)
    for other in (A, C):
        credit(layer, other, 1000, 0)
    assert Stalled((B,)) in events(look(layer, 2.5))
