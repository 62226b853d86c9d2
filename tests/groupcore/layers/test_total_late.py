"""When a member of TOTAL says that the order is late (I12); as SEQUENCER, whose tests say more."""

from __future__ import annotations

from groupcore.events import Event, OrderLate
from groupcore.forward_watch import LOOK_S
from groupcore.layers.total import Total
from groupcore.layers.total_headers import Request
from tests.groupcore.layers.building import A, B, C, downs, events, installed, timers
from tests.groupcore.layers.totals import bcast, hear, member, send


def looks(layer: Total, since_s: float, until_s: float) -> list[Event]:
    """What is said at every look from one time to the other, on time."""
    steps = range(round(since_s / LOOK_S), round(until_s / LOOK_S) + 1)
    return [event for step in steps for event in events(layer.on_timer("watch", step * LOOK_S))]


def test_who_waits_for_its_broadcast_too_long_says_that_the_order_is_late() -> None:  # I12
    layer = member()
    assert "watch" in timers(send(layer, "b1"))
    assert looks(layer, 0.1, 1.8) == []
    assert looks(layer, 1.9, 4.0) == [OrderLate(True)]
    hear(layer, bcast(1, B, 1, held=1))
    assert looks(layer, 4.1, 4.1) == [OrderLate(False)]
    assert layer.counters()["late"] == 1


def test_the_sequencer_and_who_waits_for_nothing_do_not_look() -> None:  # I12
    assert "watch" not in timers(send(member(A), "a1"))
    layer = member()
    send(layer, "b1")
    hear(layer, bcast(1, B, 1, held=1))
    assert timers(layer.on_timer("watch", 0.1)) == {}


def test_a_view_gives_its_sequencer_the_whole_time() -> None:  # I12
    layer = member()
    send(layer, "b1")
    assert looks(layer, 0.1, 1.5) == []
    layer.on_event(installed(A, B, C, number=2), 1.5)
    assert looks(layer, 1.6, 3.3) == []
    assert looks(layer, 3.4, 3.6) == [OrderLate(True)]


def test_what_is_late_is_requested_again_once() -> None:  # I5
    layer = member()
    send(layer, "b1", "b2")
    effects = [effect for look in range(1, 41) for effect in layer.on_timer("watch", look * LOOK_S)]
    assert [batch.headers[-1] for batch in downs(effects)] == [Request(1, 1), Request(1, 2)]
    assert layer.counters()["resent"] == 2
