"""The rules of who goes on with whom, against slow obvious versions."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.membership.reachability import connected, is_lowest
from groupcore.view import Address
from tests.groupcore.membership.building import A, B, C, D, E

MEMBERS = (A, B, C, D, E)
Unheard = dict[Address, frozenset[Address]]
members = st.sampled_from(MEMBERS)
reports = st.dictionaries(members, st.frozensets(members, max_size=3))


def hear_each_other(one: Address, other: Address, unheard: Unheard) -> bool:
    deaf = unheard.get(one, frozenset()), unheard.get(other, frozenset())
    return other not in deaf[0] and one not in deaf[1]


def is_clique(group: tuple[Address, ...], unheard: Unheard) -> bool:
    return all(hear_each_other(one, other, unheard) for one, other in combinations(group, 2))


def slow_connected(me: Address, unheard: Unheard) -> tuple[Address, ...]:
    """Of all groups that I hear and that hear each other, the one with the oldest members."""
    heard = [m for m in MEMBERS if m == me or m not in unheard.get(me, frozenset())]
    groups = [
        group
        for size in range(len(heard) + 1)
        for group in combinations(heard, size)
        if is_clique(group, unheard)
    ]
    oldest = max(groups, key=lambda group: [member in group for member in MEMBERS])
    return oldest if me in oldest else (me,)


@settings(max_examples=60)
@given(members, reports)
def test_those_who_go_on_hear_each_other_and_are_the_oldest_who_do(
    me: Address, unheard: Unheard
) -> None:
    group = connected(MEMBERS, me, unheard)
    assert group == slow_connected(me, unheard)
    assert me in group
    assert is_clique(group, unheard)
    assert list(group) == sorted(group, key=MEMBERS.index)


@settings(max_examples=60)
@given(members, reports)
def test_the_oldest_proposes_unless_somebody_hears_an_older_one(
    me: Address, unheard: Unheard
) -> None:
    older = MEMBERS[: MEMBERS.index(me)]
    heard_by_me = [m for m in MEMBERS if m not in unheard.get(me, frozenset())]
    witnesses = [m for m in heard_by_me if m != me and m in unheard]
    expected = all(
        one not in heard_by_me and all(w == one or one in unheard[w] for w in witnesses)
        for one in older
    )
    assert is_lowest(MEMBERS, me, unheard) == expected


@given(reports)
def test_the_oldest_of_all_always_may_propose(unheard: Unheard) -> None:
    assert is_lowest(MEMBERS, A, unheard)


@given(members, members, reports)
def test_of_two_who_hear_each_other_only_one_proposes(
    one: Address, other: Address, unheard: Unheard
) -> None:
    if one != other and hear_each_other(one, other, unheard):
        assert not (is_lowest(MEMBERS, one, unheard) and is_lowest(MEMBERS, other, unheard))


def test_when_all_hear_all_everybody_stays() -> None:
    assert connected(MEMBERS, C, {}) == MEMBERS


def test_a_member_that_nobody_hears_is_out() -> None:
    gone = {m: frozenset({A}) for m in (B, C)}
    assert connected((A, B, C), B, gone) == (B, C)
    assert is_lowest((A, B, C), B, gone)


def test_a_broken_link_costs_the_younger_of_its_ends() -> None:  # fault matrix, row 10
    broken = {B: frozenset({C}), C: frozenset({B}), A: frozenset[Address]()}
    assert connected((A, B, C), A, broken) == (A, B)
    assert connected((A, B, C), C, broken) == (A, C)
    assert not is_lowest((A, B, C), C, broken)


def test_who_is_deaf_to_the_coordinator_does_not_propose_while_others_hear_it() -> None:  # row 14
    deaf = {C: frozenset({A}), B: frozenset[Address]()}
    assert not is_lowest((A, B, C), C, deaf)


def test_whom_the_coordinator_does_not_hear_goes_on_alone() -> None:
    deaf = {A: frozenset({C})}
    assert connected((A, B, C), C, deaf) == (C,)
    assert connected((A, B, C), A, deaf) == (A, B)


def test_a_member_that_has_reported_nothing_proves_nothing() -> None:
    assert is_lowest((A, B, C), B, {B: frozenset({A})})
