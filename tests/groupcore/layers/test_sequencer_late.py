"""The rules of when the order is late, as a member that is not the coordinator sees it (I8)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from groupcore.batch import Batch
from groupcore.effects import Effect
from groupcore.events import (
    Backlog,
    Event,
    FlushStarted,
    OrderLate,
    PrimaryLost,
    PrimaryRegained,
)
from groupcore.forward_watch import LOOK_S, ForwardWatch
from groupcore.layers.sequencer import Ordered, Sequencer
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, downs, events, headed, installed, timers
from tests.groupcore.layers.sequencers import hear, ordered, send

TIMEOUT_S, PACE_BYTES_S = 2.0, 1_000


def member(me: Address = B) -> Sequencer:
    """A member of the view [A B C], that has been waiting for nothing so far."""
    layer = Sequencer(me, watch=ForwardWatch(TIMEOUT_S, PACE_BYTES_S))
    layer.on_event(installed(A, B, C), 0.0)
    return layer


def look(layer: Sequencer, since_s: float, until_s: float) -> list[Effect]:
    """Every look from one time to the other, on time."""
    steps = range(round(since_s / LOOK_S), round(until_s / LOOK_S) + 1)
    return [effect for step in steps for effect in layer.on_timer("watch", step * LOOK_S)]


def late(effects: Iterable[Effect]) -> list[Event]:
    return [event for event in events(effects) if isinstance(event, OrderLate)]


def big(sender: Address, seqno: int, size_bytes: int) -> Batch:
    """Somebody's message that is `size_bytes` long, put in order."""
    return headed(A, Ordered(sender, seqno), text="m" * size_bytes)


def test_the_order_is_late_when_a_message_does_not_come_back_for_too_long() -> None:  # I8
    layer = member()
    send(layer, "b1")
    assert late(look(layer, 0.1, 2.1)) == []
    assert late(look(layer, 2.2, 4.0)) == [OrderLate(True)]
    assert layer.counters()["late"] == 1


def test_what_comes_back_in_time_is_not_late_though_always_something_is_under_way() -> None:  # I8
    layer = member()
    send(layer, "b1", "b2", "b3")
    for step in range(1, 60):
        send(layer, f"b{step + 3}")
        assert late(look(layer, step * LOOK_S, step * LOOK_S)) == []
        hear(layer, ordered(B, step))


def test_the_order_is_late_no_more_when_it_has_come_back() -> None:  # I8
    layer = member()
    send(layer, "b1")
    look(layer, 0.1, 3.0)
    hear(layer, ordered(B, 1))
    effects = layer.on_timer("watch", 3.1)
    assert (late(effects), timers(effects)) == ([OrderLate(False)], {})


def test_a_coordinator_that_is_busy_with_others_is_not_late() -> None:  # I8
    layer = member()
    send(layer, "b1")
    for step in range(1, 40):
        assert late(look(layer, step * LOOK_S, step * LOOK_S)) == []
        hear(layer, big(C, step, 100))


def test_the_coordinator_waits_for_nobody() -> None:  # I8
    layer = member(A)
    assert timers(send(layer, "a1")) == {}


def test_who_waits_for_nothing_does_not_look() -> None:  # I8
    layer = member()
    assert timers(send(layer, "b1")) == {"watch": LOOK_S}
    assert timers(send(layer, "b2")) == {}
    hear(layer, ordered(B, 1), ordered(B, 2))
    assert timers(look(layer, 0.1, 0.1)) == {}
    assert timers(send(layer, "b3")) == {"watch": LOOK_S}


def test_during_a_view_change_nothing_new_is_said_and_nothing_taken_back() -> None:  # I8
    layer = member()
    send(layer, "b1")
    look(layer, 0.1, 2.0)
    layer.on_event(FlushStarted(), 2.0)
    assert late(look(layer, 2.1, 9.0)) == []
    layer = member()
    send(layer, "b1")
    look(layer, 0.1, 3.0)
    layer.on_event(FlushStarted(), 3.0)
    hear(layer, ordered(B, 1))
    assert late(look(layer, 3.1, 9.0)) == []


def test_a_view_gives_its_coordinator_the_whole_time() -> None:  # I8
    layer = member()
    send(layer, "b1")
    look(layer, 0.1, 2.0)
    layer.on_event(installed(A, B, C, number=2), 2.0)
    assert late(look(layer, 2.1, 4.0)) == []
    assert late(look(layer, 4.1, 4.3)) == [OrderLate(True)]


def test_who_waits_when_another_becomes_coordinator_looks_at_that_one() -> None:  # I8
    layer = member(C)
    send(layer, "c1")
    look(layer, 0.1, 2.0)
    layer.on_event(installed(B, C, number=2), 2.0)
    assert late(look(layer, 2.1, 4.0)) == []
    layer = member(B)
    send(layer, "b1")
    effects = layer.on_event(installed(B, C, number=2), 0.05)
    assert len(downs(effects)) == 1
    assert (late(look(layer, 0.1, 0.1)), layer.own.watching) == ([], False)


def test_outside_the_primary_view_nobody_is_late() -> None:  # I8
    layer = member()
    send(layer, "b1")
    look(layer, 0.1, 2.0)
    layer.on_event(PrimaryLost(), 2.0)
    assert late(look(layer, 2.1, 9.0)) == []
    layer.on_event(PrimaryRegained(), 9.0)
    assert late(look(layer, 9.1, 11.0)) == []
    assert late(look(layer, 11.1, 11.3)) == [OrderLate(True)]


def test_who_has_said_it_and_loses_the_primary_view_takes_it_back() -> None:  # I8
    layer = member()
    send(layer, "b1")
    look(layer, 0.1, 3.0)
    layer.on_event(PrimaryLost(), 3.0)
    assert late(look(layer, 3.1, 3.2)) == [OrderLate(False)]


@pytest.mark.parametrize("said", [False, True])
def test_who_has_slept_begins_to_count_anew(said: bool) -> None:  # I8
    layer = member()
    send(layer, "b1")
    assert bool(late(look(layer, 0.1, 3.0 if said else 1.5))) == said
    assert late(look(layer, 8.0, 10.0)) == ([OrderLate(False)] if said else [])
    assert late(look(layer, 10.1, 10.2)) == [OrderLate(True)]


def test_who_does_not_read_says_nothing_of_others() -> None:  # I8
    layer = member()
    send(layer, "b1")
    layer.on_event(Backlog(70_000), 0.0)
    assert late(look(layer, 0.1, 9.0)) == []
    layer.on_event(Backlog(0), 9.0)
    assert late(look(layer, 9.1, 11.3)) == [OrderLate(True)]
