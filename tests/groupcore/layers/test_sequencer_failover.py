"""SEQUENCER when coordinators go: one, two in a row, with many senders; and a stop() that hangs."""

from __future__ import annotations

from groupcore.events import Drained, Leave
from groupcore.layers.sequencer import Forward, Sequencer
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, D, downs, events, installed, timers, told, ups
from tests.groupcore.layers.sequencers import delivered, forward, hear, member, ordered, send

# --- who may be delivered -------------------------------------------------------------------------


def test_what_was_ordered_for_a_member_that_has_left_meanwhile_is_dropped_by_all_alike() -> None:
    # a layer below held the coordinator's multicast back until the next view
    for me in (A, B):
        layer = member(me)
        layer.on_event(installed(A, B, number=2), 0.0)
        assert hear(layer, ordered(C, 1)) == []
        assert layer.counters()["dropped"] == 1
        assert layer.progress.position == 0


def test_what_a_former_coordinator_multicasts_in_the_next_view_is_dropped_by_all_alike() -> None:
    for me in (A, B, C):
        layer = member(me)
        send(layer, "1")
        layer.on_event(installed(B, A, C, number=2), 0.0)
        assert hear(layer, ordered(me, 1, coordinator=A)) == []
        assert list(layer.forward_table.batches) == [1]  # B multicasts it
        assert len(ups(hear(layer, ordered(me, 1, coordinator=B)))) == 1


# --- coordinators that go -------------------------------------------------------------------------


def group(*members: Address) -> dict[Address, Sequencer]:
    layers = {me: Sequencer(me) for me in members}
    for layer in layers.values():
        layer.on_event(installed(*members), 0.0)
    return layers


def test_a_coordinator_that_leaves_has_its_own_messages_back_before_it_goes() -> None:
    layer = member(A)
    send(layer, "a1")
    layer.on_event(Leave(), 0.0)
    assert downs(hear(layer, forward(C, 1))) == [ordered(C, 1)]  # it still orders for others
    assert events(hear(layer, ordered(A, 1))) == [Drained()]


def test_a_coordinator_that_dies_before_it_multicasts_loses_nothing() -> None:
    layers = group(A, B, C)
    send(layers[C], "c1", "c2")
    for me in (B, C):
        effects = layers[me].on_event(installed(B, C, number=2), 0.0)
        if me == C:
            assert told(effects) == [Forward(2, 1), Forward(2, 2)]


def test_two_coordinators_die_in_a_row_the_second_before_it_has_resent() -> None:
    layers = group(A, B, C, D)
    send(layers[B], "b1")
    send(layers[D], "d1", "d2")
    hear(layers[C], ordered(D, 1))
    hear(layers[D], ordered(D, 1))  # A dies after this; B, who becomes coordinator, too
    for me in (C, D):
        layers[me].on_event(installed(B, C, D, number=2), 0.0)
    effects = {me: layers[me].on_event(installed(C, D, number=3), 0.0) for me in (C, D)}
    (again,) = downs(effects[D])
    assert (again.destination, again.headers) == (C, (Forward(3, 2),))
    (broadcast,) = downs(hear(layers[C], again))
    for me in (C, D):
        assert ups(hear(layers[me], broadcast)) == [delivered(D, 2, position=2)]
    assert len(layers[D].forward_table) == 0


def test_both_coordinators_may_have_multicast_it_and_it_is_delivered_once() -> None:
    layers = group(A, B, C)
    send(layers[C], "c1")
    for batch in (ordered(C, 1),):
        for layer in layers.values():
            hear(layer, batch)
    layers[C].on_event(installed(B, C, number=2), 0.0)
    assert hear(layers[C], ordered(C, 1, coordinator=B)) == []
    assert layers[C].counters()["duplicates"] == 1


def test_concurrent_senders_are_delivered_in_the_coordinators_order_and_each_in_its_own() -> None:
    layers = group(A, B, C)
    for number in (1, 2, 3):
        for me in (A, B, C):
            send(layers[me], f"{me.name}{number}")
    arrivals = [forward(C, 1), forward(B, 1), forward(B, 2), forward(C, 2), forward(C, 3)]
    broadcasts = downs(hear(layers[A], *arrivals))
    got = {me: [(up.sender, up.position) for up in ups(hear(layers[me], *broadcasts))]
           for me in layers}  # fmt: skip
    assert got[A] == got[B] == got[C] == [(C, 1), (B, 2), (B, 3), (C, 4), (C, 5)]


# --- stop() that hangs ----------------------------------------------------------------------------


def test_on_stop_the_replies_are_waited_for_no_longer_than_the_time_out() -> None:  # I7
    layer = member()
    send(layer, "b1", "b2")
    assert timers(layer.on_event(Leave(), 0.0)) == {"stop": 5.0}
    hear(layer, ordered(B, 1))
    assert events(layer.on_timer("stop", 5.0)) == [Drained()]
    assert layer.counters()["abandoned"] == 1


def test_on_stop_no_time_out_runs_when_the_replies_have_come() -> None:  # I7
    layer = member()
    send(layer, "b1")
    effects = [*layer.on_event(Leave(), 0.0), *hear(layer, ordered(B, 1))]
    assert timers(effects) == {}
