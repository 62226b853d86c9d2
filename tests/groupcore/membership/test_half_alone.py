"""How long a proposer waits that only its own half of the voters has answered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot
from groupcore.membership.half_alone import HalfAlone
from groupcore.view import Address
from tests.groupcore.membership.building import A, B, C, D, view_of

TURN_S = 2.0
TWO = replace(view_of(A, B, C), voters=("a", "b"))


def test_it_waits_for_a_turn_over_all_its_attempts() -> None:
    patience = HalfAlone(TURN_S)
    assert patience.waits(True, 1.0)
    assert not patience.waits(False, 1.5)
    assert patience.waits(True, 2.9)
    assert not patience.waits(True, 3.0)
    assert not patience.waits(True, 3.1)


def test_with_a_view_or_long_after_it_waits_anew() -> None:
    patience = HalfAlone(TURN_S)
    patience.waits(True, 1.0)
    patience.on_view()
    assert patience.waits(True, 3.5)
    assert not patience.waits(True, 5.5)
    assert patience.waits(True, 7.6)


NOBODY: frozenset[Address] = frozenset()


@pytest.mark.parametrize(
    ("answered", "silent", "bare"),
    [
        ({A}, NOBODY, True),
        ({A}, {C}, False),
        ({A, C}, NOBODY, False),
        ({A, B}, NOBODY, False),
        ({A}, {B, C}, False),
    ],
)
def test_a_half_is_bare_where_more_who_are_heard_have_not_answered_than_have(
    answered: set[Address], silent: frozenset[Address], bare: bool
) -> None:
    attempt = Attempt(TWO, Ballot(1, A), frozenset({A, B, C}), 3)
    assert attempt.is_bare_half(answered, frozenset(silent)) == bare


def test_who_is_not_waited_for_or_no_member_counts_for_nothing() -> None:
    again = Address("b", 2)
    assert not Attempt(TWO, Ballot(1, A), frozenset({A, again, D}), 3).is_bare_half({A}, NOBODY)
    assert not Attempt(None, Ballot(1, A), frozenset({A, B, C}), 3).is_bare_half({A}, NOBODY)
    pair = view_of(A, B)
    assert not Attempt(pair, Ballot(1, A), frozenset({A, B}), 2).is_bare_half({A}, NOBODY)
