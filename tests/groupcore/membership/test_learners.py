"""The rules of learners: who says that it has the state, and when."""

from __future__ import annotations

from dataclasses import replace

from groupcore.membership.ballots import Record
from groupcore.membership.headers import Learned
from groupcore.membership.learners import Learners
from tests.groupcore.layers.building import told
from tests.groupcore.membership.building import A, B, C, D, state_of, view_of

VIEW = replace(view_of(A, B, C, D), voters=("b", "c", "d"))


def test_a_learner_says_that_it_has_the_state_when_that_is_on_its_disk() -> None:
    state = state_of(A, VIEW, Record(VIEW, rebuilding=True))
    mine = Learners(state)
    assert mine.tell() == []
    state.record = replace(state.record, rebuilding=False)
    state.persist([])
    assert mine.tell() == []  # on its way: a crash would take it
    state.after_persist.clear()
    assert told(mine.tell()) == [Learned(VIEW.number)]


def test_a_voter_has_nothing_to_say() -> None:
    assert Learners(state_of(B, VIEW)).tell() == []


def test_the_word_of_a_learner_is_news_once_in_a_view() -> None:
    mine = Learners(state_of(B, VIEW))
    assert not mine.note(A, VIEW.number - 1)
    assert not mine.note(C, VIEW.number)
    assert mine.note(A, VIEW.number)
    assert not mine.note(A, VIEW.number)
    mine.on_view(VIEW)
    assert mine.note(A, VIEW.number)
