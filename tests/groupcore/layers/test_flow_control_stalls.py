"""The rules of who counts as stalled at one sender (I7 of flow control)."""

from __future__ import annotations

from groupcore.events import Backlog, FlushStarted, Stalled
from groupcore.layers.flow_control import FlowControl
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, downs, events, installed, timers
from tests.groupcore.layers.flows import credit, look, member, receive, send


def blocked(*members: Address) -> FlowControl:
    """A sender that waits for B and has the others' credit."""
    layer = member(A, *members)
    send(layer, 11)
    for other in members:
        if other != B:
            credit(layer, other, 1000, 0)
    return layer


def test_who_withholds_credit_for_too_long_is_reported_as_stalled() -> None:  # I7
    layer = blocked(A, B, C)
    assert events(look(layer, 1.9)) == []
    assert events(layer.on_timer("watch", 2.1)) == [Stalled((B,))]
    assert events(layer.on_timer("watch", 2.3)) == []
    assert layer.counters()["stalls"] == 1


def test_who_is_slow_but_keeps_the_pace_is_not_stalled() -> None:  # I7
    layer = blocked(A, B, C)
    for step in range(1, 60):
        assert events(layer.on_timer("watch", step * 0.1)) == []
        credit(layer, B, 20 * step, 0)


def test_a_stalled_member_that_goes_on_is_taken_back() -> None:  # I7
    layer = blocked(A, B, C)
    look(layer, 2.3)
    credit(layer, B, 1000, 0)
    assert events(layer.on_timer("watch", 2.5)) == [Stalled(())]


def test_nobody_is_stalled_when_no_quorum_goes_on() -> None:  # I7
    layer = member(A, A, B, C)
    send(layer, 11)
    credit(layer, A, 1000, 0)
    assert events(look(layer, 5.0)) == []
    assert events(blocked(B, A).on_timer("watch", 9.0)) == []


def test_a_sender_that_holds_itself_up_reports_itself() -> None:  # I7
    layer = member()
    send(layer, 11)
    receive(layer, A, 10)
    layer.on_event(Backlog(1000), 0.0)
    for other in (B, C):
        credit(layer, other, 1000, 0)
    assert events(look(layer, 2.3)) == [Stalled((A,))]


def test_a_view_forgets_who_was_stalled() -> None:  # I7
    layer = blocked(A, B, C)
    look(layer, 2.3)
    layer.on_event(installed(A, B, C, number=2), 3.0)
    assert layer.stalled == frozenset()
    assert events(look(layer, 5.0)) == []


def test_no_judgement_is_made_while_the_view_changes() -> None:  # I7
    layer = blocked(A, B, C)
    layer.on_event(FlushStarted(), 0.0)
    effects = look(layer, 5.0)
    assert (events(effects), downs(effects)) == ([], [])
    assert "watch" in timers(effects)
