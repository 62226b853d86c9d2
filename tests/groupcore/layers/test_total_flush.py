"""TOTAL with a flush beneath it: how a view ends, and who joins with the next."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.events import CutAgreed, CutHeld, FetchCut, FlushStarted, ViewInstalled
from groupcore.layers.total import Total
from groupcore.layers.total_headers import (
    CumSeqAck,
    NewView,
    Resend,
)
from groupcore.order_state import OrderState
from groupcore.view import Address
from tests.groupcore.layers.building import (
    A,
    B,
    C,
    D,
    E,
    bare,
    downs,
    events,
    installed,
    ups,
    view_of,
)
from tests.groupcore.layers.totals import (
    bcast,
    begin,
    delivered,
    hear,
    idle,
    member,
    request,
    send,
    unplaced,
)

FIVE = (A, B, C, D, E)


def ack(sender: Address, sequence_id: int, wanted: bool = False, view: int = 1) -> Batch:
    return bare(sender, CumSeqAck(view, sequence_id, wanted), to=A)


# --- the flush beneath it -------------------------------------------------------------------------


def flushing(me: Address = B) -> Total:
    layer = member(me)
    hear(layer, bcast(1, A, 1), bcast(3, A, 3))
    layer.on_event(FlushStarted(), 0.0)
    return layer


def test_the_digest_names_the_last_id_without_a_gap_under_the_sequencer() -> None:
    layer = flushing()
    assert layer.digest() == {A: 1}
    assert unplaced().digest() == member().digest() == {}
    later = unplaced(number=2)
    hear(later, bare(A, NewView(2, 41)))
    assert later.digest() == {}  # nothing is held: an id before the first is no multicast


def test_in_a_flush_nothing_gets_an_id_is_acknowledged_or_delivered() -> None:  # I4
    layer = flushing()
    assert hear(layer, bcast(2, A, 2)) == []
    sequencer = member(A)
    send(sequencer, "a1")
    sequencer.on_event(FlushStarted(), 0.0)
    assert hear(sequencer, request(C, 1), ack(B, 1)) == []
    assert send(sequencer, "a2") == []
    begin(sequencer, installed(A, B, C, number=2))
    assert sequencer.counters()["forward_table"] == 2


def test_what_the_cut_contains_is_fetched_from_those_who_held_it() -> None:  # I4
    layer = flushing()
    effects = layer.on_event(FetchCut({A: 3}, {A: (C,)}), 0.0)
    assert downs(effects) == [bare(B, Resend(1, (2, 2)), to=C)]
    assert events(hear(layer, bcast(2, A, 2, sender=C, to=B))) == [CutHeld()]


def test_a_cut_that_is_held_already_is_told_at_once() -> None:  # I4
    assert events(flushing().on_event(FetchCut({A: 1}, {}), 0.0)) == [CutHeld()]
    assert events(unplaced().on_event(FetchCut({}, {}), 0.0)) == [CutHeld()]


def test_everything_up_to_the_cut_is_delivered_and_nothing_behind_it() -> None:  # I4
    layer = flushing(C)
    hear(layer, bcast(2, A, 2))
    assert ups(layer.on_event(CutAgreed({A: 2}), 0.0)) == [delivered(A, 2, position=2)]
    begin(layer, installed(B, C, number=2), first=3)
    assert layer.counters()["position"] == 2


def test_the_cut_delivers_what_no_quorum_was_known_to_hold() -> None:  # I3, I4
    layer = member(B, members=FIVE)
    hear(layer, bcast(1, A, 1))
    layer.on_event(FlushStarted(), 0.0)
    assert len(ups(layer.on_event(CutAgreed({A: 1}), 0.0))) == 1


@pytest.mark.parametrize("first", [1, 41])
def test_who_does_not_know_where_the_view_began_learns_it_with_the_cut(first: int) -> None:
    holder, layer = unplaced(C), unplaced(B)
    hear(holder, bare(A, NewView(1, first)), bcast(first, A, 1))
    layer.on_event(FlushStarted(), 0.0)
    (asked,) = downs(layer.on_event(FetchCut({A: first}, {A: (C,)}), 0.0))
    answers = downs([*hear(holder, asked), *holder.on_timer("answer", 0.0)])
    assert events(hear(layer, *answers)) == [CutHeld()]
    assert len(ups(layer.on_event(CutAgreed({A: first}), 0.0))) == 1


def test_who_still_fetches_the_former_views_cut_is_answered() -> None:
    layer = member(C)
    hear(layer, bcast(1, A, 1))
    layer.on_event(FlushStarted(), 0.0)
    layer.on_event(CutAgreed({A: 1}), 0.0)
    begin(layer, installed(B, C, number=2), first=2)
    hear(layer, bare(B, Resend(1, (1, 1))))
    assert downs(layer.on_timer("answer", 0.0)) == [bcast(1, A, 1, sender=C, to=B)]


# --- joiners and merge ----------------------------------------------------------------------------


def test_a_joiner_is_given_position_and_received_table() -> None:  # I9
    old, joiner = member(B), idle(C)
    hear(old, bcast(1, A, 1), bcast(2, B, 1), bcast(3, A, 2))
    state = old.order_state()
    assert state == OrderState(3, {A: 2, B: 1})
    view = view_of(A, B, C, number=2)
    begin(joiner, ViewInstalled(view, fresh=True, position=3, order_state=state), first=4)
    begin(old, ViewInstalled(view), first=4)
    following = bcast(4, B, 2, view=2), bcast(5, C, 1, view=2)
    assert ups(hear(joiner, *following)) == ups(hear(old, *following))
    assert joiner.order_state() == old.order_state() == OrderState(5, {A: 2, B: 2, C: 1})


def test_a_recovered_view_begins_with_empty_tables_at_the_agreed_position() -> None:  # I9
    layer = member(C)
    send(layer, "c1", "c2")
    hear(layer, bcast(1, A, 1), bcast(2, C, 1))
    view = view_of(A, C, number=2, epoch=2, floor=17)
    layer.on_event(ViewInstalled(view, recovered=True, position=17), 0.0)
    assert downs(layer.on_timer("begin", 0.0)) == [request(C, 1, view=2, text="c2")]
    assert layer.order_state() == OrderState(17, {})
