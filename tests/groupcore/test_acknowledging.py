"""The rules of when to acknowledge: at once only where a quorum waits for it."""

from __future__ import annotations

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from groupcore.acknowledging import Acknowledging, first_quorum
from groupcore.view import Address, View

A, B, C, D, E = MEMBERS = tuple(Address(name, 1) for name in "abcde")


def view_of(*members: Address) -> View:
    return View(1, 1, 0, 7, members)


def acknowledging(me: Address, *members: Address) -> Acknowledging:
    mine = Acknowledging(me, window_bytes=1_000, late_s=0.005)
    mine.begin(view_of(*members))
    return mine


views = st.integers(1, 5).map(lambda count: view_of(*MEMBERS[:count]))


@given(views, st.data())
def test_the_oldest_who_make_a_quorum_with_the_sender_are_enough_and_none_too_many(
    view: View, data: st.DataObject
) -> None:
    sender = data.draw(st.sampled_from(view.members))
    first = first_quorum(view, sender)
    others = [member for member in view.members if member != sender]
    assert [*takewhile(lambda member: member in first, others)] == [m for m in others if m in first]
    assert view.is_quorum([sender.name, *(m.name for m in first)])
    fewer = others[: len(first) - 1] if first else None
    assert fewer is None or not view.is_quorum([sender.name, *(m.name for m in fewer)])


@given(views, st.data())
def test_a_quorum_with_the_sender_always_acknowledges_at_once(
    view: View, data: st.DataObject
) -> None:
    sender = data.draw(st.sampled_from(view.members))
    prompt = [
        m
        for m in view.members
        if m != sender and acknowledging(m, *view.members).note(sender, 1) == 0
    ]
    assert view.is_quorum([sender.name, *(m.name for m in prompt)])


def test_whose_word_completes_the_quorum_acknowledges_at_the_end_of_the_turn() -> None:
    assert acknowledging(B, A, B, C).note(A, 10) == 0.0
    assert acknowledging(A, A, B, C).note(C, 10) == 0.0


def test_the_others_acknowledge_a_little_later_and_for_many() -> None:
    mine = acknowledging(C, A, B, C)
    assert mine.note(A, 10) == 0.005
    assert mine.note(A, 10) is None
    assert mine.take() == [A]
    assert mine.take() == []
    assert mine.note(A, 10) == 0.005


def test_when_a_quarter_of_the_window_is_open_everybody_acknowledges_at_once() -> None:
    mine = acknowledging(C, A, B, C)
    assert mine.note(A, 200) == 0.005
    assert mine.note(A, 49) is None
    assert mine.note(A, 1) == 0.0


def test_what_was_asked_for_is_acknowledged_at_once() -> None:
    assert acknowledging(C, A, B, C).note(A, 0, at_once=True) == 0.0


def test_nothing_is_owed_any_more_when_the_view_ends() -> None:
    mine = acknowledging(C, A, B, C)
    mine.note(A, 10)
    mine.stop()
    assert mine.take() == []
    mine.note(A, 10)
    mine.begin(view_of(A, C))
    assert mine.take() == []
    assert mine.note(A, 10) == 0.005
