"""Which half of the voters goes on where only unicasts between the halves do not arrive."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.membership.halves import first_half, other_half
from groupcore.view import Address, View
from tests.groupcore.membership.building import A, B, C, D, E, view_of

TWO = replace(view_of(A, B, C), voters=("a", "b"))
"""c learns."""
FOUR = replace(view_of(A, B, C, D, E), voters=("a", "b", "c", "d"))
NOBODY: frozenset[Address] = frozenset()
Reports = dict[Address, frozenset[Address]]


def heard_by_all(view: View) -> Reports:
    return dict.fromkeys(view.members, NOBODY)


def reports(view: View, **deaf: tuple[Address, ...]) -> Reports:
    """Whom each member does not hear; who is not named hears all."""
    said = {Address(name, 1): frozenset(far) for name, far in deaf.items()}
    return {**heard_by_all(view), **said}


def test_where_all_hear_one_another_nobody_is_left_behind() -> None:
    assert first_half(TWO, reports(TWO)) == ()
    assert other_half(TWO, reports(TWO), {}) == ()


@pytest.mark.parametrize(
    "said",
    [
        reports(TWO, a=(B, C)),
        reports(TWO, b=(A,), c=(A,)),
        reports(TWO, a=(B, C), b=(A,), c=(A,)),
        reports(TWO, a=(B,), c=(A,)),
    ],
    ids=["a gets none", "none of a's come", "both", "each in one direction"],
)
def test_the_others_go_on_where_they_lack_nothing_of_the_first_but_unicasts(  # I2
    said: Reports,
) -> None:
    assert first_half(TWO, said) == (A,)
    assert other_half(TWO, said, said) == (B, C)


@pytest.mark.parametrize("silent", [reports(TWO, a=(B, C)), reports(TWO, b=(A,), c=(A,))])
def test_the_first_goes_on_where_multicasts_do_not_come_either(silent: Reports) -> None:  # I2
    assert other_half(TWO, silent, {}) == ()


@pytest.mark.parametrize(
    "said",
    [
        reports(TWO, b=(A, C)),
        reports(TWO, a=(B,), c=(B,)),
        reports(TWO, a=(B,)),
        reports(TWO, a=(C,)),
        reports(TWO, a=(B, C), b=(C,)),
        reports(TWO, a=(B, C), c=(B,)),
    ],
    ids=["b gets none", "none of b's come", "a and b", "a and c", "b not c", "c not b"],
)
def test_the_first_goes_on_where_another_is_the_one_that_is_apart(said: Reports) -> None:  # I2
    assert other_half(TWO, said, said) == ()


def test_of_two_halves_that_are_as_large_the_first_goes_on() -> None:  # I2
    pair = view_of(A, B)
    said = reports(pair, a=(B,))
    assert other_half(pair, said, said) == ()
    four = view_of(A, B, C, D)
    said = reports(four, a=(C, D), b=(C, D))
    assert other_half(four, said, said) == ()


def test_who_has_reported_nothing_is_in_no_half() -> None:
    said = reports(TWO, a=(B, C))
    for silent in (B, C):
        known = {member: deaf for member, deaf in said.items() if member != silent}
        assert other_half(TWO, known, said) == ()


def test_half_of_four_goes_on_with_the_learner_that_hears_it() -> None:
    said = reports(FOUR, a=(C, D, E), b=(C, D, E))
    assert first_half(FOUR, said) == (A, B)
    assert other_half(FOUR, said, said) == (C, D, E)
    apart = reports(FOUR, a=(C, D, E), b=(C, D, E), e=(D,))
    assert other_half(FOUR, apart, apart) == ()


def test_a_majority_of_the_voters_needs_no_half() -> None:
    three = view_of(A, B, C)
    said = reports(three, a=(B, C))
    assert first_half(three, said) == ()
    assert other_half(three, said, said) == ()


def test_a_voter_that_is_away_is_in_no_half() -> None:  # I3
    away = replace(view_of(A, B, C, E), voters=("a", "b", "c", "d"))
    said = reports(away, a=(C, E), b=(C, E))
    assert other_half(away, said, said) == ()


VIEWS = st.sampled_from((TWO, FOUR, view_of(A, B, C, D), view_of(A, B, C, D, E)))
members = st.sampled_from((A, B, C, D, E))
said = st.dictionaries(members, st.frozensets(members, max_size=3))


@settings(max_examples=300)
@given(VIEWS, said, said)
def test_the_other_half_can_decide_with_the_first_and_hears_one_another(  # I1, I2, I3
    view: View, unheard: Reports, heard_apart: Reports
) -> None:
    unheard = {member: deaf - {member} for member, deaf in unheard.items()}
    indirect = {m: far & unheard.get(m, NOBODY) for m, far in heard_apart.items()}
    first, other = first_half(view, unheard), other_half(view, unheard, indirect)
    if not other:
        return
    assert len(other) > len(first)
    assert not set(first) & set(other)
    assert view.is_quorum([m.name for m in first])
    assert not view.is_quorum([m.name for m in other])
    assert {m.name for m in (*first, *other)} >= set(view.voters)
    assert all(two not in unheard[one] for one in other for two in other if one != two)
    for near, far in combinations((*first, *other), 2):
        for one, two in ((near, far), (far, near)):
            gets = two not in unheard.get(one, NOBODY) or two in indirect.get(one, NOBODY)
            assert gets or (one in first and two in first)
