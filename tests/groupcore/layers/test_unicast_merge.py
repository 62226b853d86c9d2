"""The rule of UNICAST for those whom two of the views that merge had let in (I6)."""

from __future__ import annotations

from dataclasses import replace

from groupcore.layers.unicast import Data, Unicast, UnicastOptions, timer_of
from groupcore.view import Address, View
from tests.groupcore.layers.building import A, B, C, headed, installed, message, stopped, told, ups

OURS, THEIRS = (A, C), (B, C)


def side(*members: Address) -> View:
    return View(4, 1, 0, 7, members)


def merged(me: Address, *former: Address) -> Unicast:
    """C was let in by both sides, and has lived in one of them; in view 9 all are together."""
    layer = Unicast(me, UnicastOptions())
    layer.on_event(installed(*former, number=4), 0.0)
    for other in former:
        layer.on_down(message(me, "before", to=other), 0.0)
    view = replace(installed(A, B, C, number=9), merged=(side(*OURS), side(*THEIRS)))
    effects = layer.on_event(view, 0.0)
    assert stopped(effects) == {timer_of(one) for one in former if one != me}
    return layer


def test_all_begin_anew_with_who_is_in_several_of_the_views_that_merge() -> None:  # I6
    for me, former in ((A, OURS), (B, THEIRS)):
        layer = merged(me, *former)
        assert told(layer.on_down(message(me, "after", to=C), 0.0)) == [Data(9, 1)]
        heard = layer.on_up(headed(C, Data(9, 1), text="after", to=me), 0.0)
        assert len(ups(heard)) == 1
        assert ups(layer.on_up(headed(C, Data(4, 1), text="before", to=me), 0.0)) == []


def test_it_begins_anew_with_all_as_it_does_not_know_who_took_it_for_a_member() -> None:  # I6
    layer = merged(C, *OURS)
    for other in (A, B):
        assert told(layer.on_down(message(C, "after", to=other), 0.0)) == [Data(9, 1)]


def test_those_who_were_in_one_of_them_only_go_on_where_they_were() -> None:  # I1
    layer = Unicast(A, UnicastOptions())
    layer.on_event(installed(A, B, number=4), 0.0)
    layer.on_down(message(A, "before", to=B), 0.0)
    view = replace(installed(A, B, C, number=9), merged=(side(A, B), side(C)))
    assert layer.on_event(view, 0.0) == []
    assert told(layer.on_down(message(A, "after", to=B), 0.0)) == [Data(4, 2)]
