"""The rules of who goes on with whom, against slow obvious versions."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.membership.reachability import connected, hearing_quorum, proposer
from groupcore.view import Address, View
from tests.groupcore.membership.building import A, B, C, D, E, view_of

MEMBERS = (A, B, C, D, E)
VIEW = view_of(*MEMBERS)
FOUR, THREE = view_of(A, B, C, D), view_of(A, B, C)
NOBODY: frozenset[Address] = frozenset()
Unheard = dict[Address, frozenset[Address]]
members = st.sampled_from(MEMBERS)
reports = st.dictionaries(members, st.frozensets(members, max_size=3))
views = st.sampled_from((VIEW, FOUR))


def hear_each_other(one: Address, other: Address, unheard: Unheard) -> bool:
    deaf = unheard.get(one, NOBODY), unheard.get(other, NOBODY)
    return other not in deaf[0] and one not in deaf[1]


def is_clique(group: tuple[Address, ...], unheard: Unheard) -> bool:
    return all(hear_each_other(one, other, unheard) for one, other in combinations(group, 2))


def cliques(of: list[Address], unheard: Unheard) -> list[tuple[Address, ...]]:
    return [
        group
        for size in range(len(of) + 1)
        for group in combinations(of, size)
        if is_clique(group, unheard)
    ]


def quorums(view: View, groups: list[tuple[Address, ...]]) -> list[tuple[Address, ...]]:
    return [group for group in groups if view.is_quorum(member.name for member in group)]


def oldest_of(view: View, groups: list[tuple[Address, ...]]) -> tuple[Address, ...]:
    return max(groups, key=lambda group: [member in group for member in view.members])


def largest(groups: list[tuple[Address, ...]]) -> list[tuple[Address, ...]]:
    most = max(map(len, groups), default=0)
    return [group for group in groups if len(group) == most]


def heard_by(view: View, me: Address, unheard: Unheard) -> list[Address]:
    return [m for m in view.members if m == me or m not in unheard.get(me, NOBODY)]


def slow_connected(view: View, me: Address, unheard: Unheard) -> tuple[Address, ...]:
    """Of those that I hear and that hear each other the largest quorum; else the oldest."""
    groups = cliques(heard_by(view, me, unheard), unheard)
    chosen = oldest_of(view, largest(quorums(view, groups)) or groups)
    return chosen if me in chosen else (me,)


@settings(max_examples=100)
@given(views, st.sampled_from((A, B, C, D)), reports)
def test_those_who_go_on_hear_each_other_and_are_the_most_who_can(
    view: View, me: Address, unheard: Unheard
) -> None:
    group = connected(view, me, unheard)
    assert group == slow_connected(view, me, unheard)
    assert me in group
    assert is_clique(group, unheard)
    assert list(group) == sorted(group, key=MEMBERS.index)


def slow_proposer(view: View, me: Address, unheard: Unheard) -> Address | None:
    """The first of the largest quorum of those who live, as far as I know; else the oldest."""
    heard = heard_by(view, me, unheard)
    witnesses = [m for m in heard if m != me and m in unheard]
    living = [m for m in view.members if m in heard or any(m not in unheard[w] for w in witnesses)]
    found = largest(quorums(view, cliques(living, unheard)))
    if found:
        return oldest_of(view, found)[0]
    return me if living[0] == me else None


@settings(max_examples=100)
@given(views, st.sampled_from((A, B, C, D)), reports)
def test_the_first_of_those_who_can_go_on_proposes(
    view: View, me: Address, unheard: Unheard
) -> None:
    assert proposer(view, me, unheard) == slow_proposer(view, me, unheard)


@given(views, reports, st.data())
def test_a_majority_that_hears_one_another_goes_on_whatever_the_others_hear_and_say(
    view: View, unheard: Unheard, data: st.DataObject
) -> None:
    """The rule that keeps a gray member, the coordinator as any other, from stopping them."""
    size = len(view.members) // 2 + 1
    majority = data.draw(st.sets(st.sampled_from(view.members), min_size=size))
    for member in majority:
        unheard[member] = unheard.get(member, NOBODY) - majority
    names = [m.name for m in view.members if m in majority]
    for me in majority:
        chosen = proposer(view, me, unheard)
        assert chosen is not None
        group = hearing_quorum(view, heard_by(view, me, unheard), unheard)
        assert view.is_quorum(member.name for member in group)
    assert view.is_quorum(names)


@given(st.dictionaries(members, st.frozensets(members, max_size=3), min_size=5))
def test_all_with_the_same_reports_mean_the_same_proposer(unheard: Unheard) -> None:
    """Of those who hear all that lives, each names the same one."""
    group = hearing_quorum(VIEW, MEMBERS, unheard)
    hearing_all = [m for m in group if not unheard[m]]
    assert {proposer(VIEW, member, unheard) for member in hearing_all} <= set(group[:1])


def test_when_all_hear_all_everybody_stays_and_the_oldest_proposes() -> None:
    assert connected(VIEW, C, {}) == MEMBERS
    assert proposer(VIEW, C, {}) == A


def test_a_member_that_nobody_hears_is_out() -> None:
    gone = {m: frozenset({A}) for m in (B, C)}
    assert connected(THREE, B, gone) == (B, C)
    assert proposer(THREE, B, gone) == B


def test_a_broken_link_costs_the_younger_of_its_ends() -> None:  # fault matrix, row 10
    broken = {B: frozenset({C}), C: frozenset({B}), A: NOBODY}
    assert connected(THREE, A, broken) == (A, B)
    assert connected(THREE, C, broken) == (A, C)
    assert proposer(THREE, C, broken) == A


def test_who_is_deaf_to_the_coordinator_does_not_propose_while_others_hear_it() -> None:  # row 14
    deaf = {C: frozenset({A}), B: NOBODY}
    assert proposer(THREE, C, deaf) == A


def test_whom_the_coordinator_does_not_hear_goes_on_alone() -> None:
    deaf = {A: frozenset({C})}
    assert connected(THREE, C, deaf) == (C,)
    assert connected(THREE, A, deaf) == (A, B)


@pytest.mark.parametrize("me", [B, C])
def test_a_coordinator_that_is_heard_and_hears_nobody_stops_nobody(me: Address) -> None:
    deaf = {A: frozenset({B, C}), B: NOBODY, C: NOBODY}
    assert connected(THREE, me, deaf) == (B, C)
    assert proposer(THREE, me, deaf) == B


def test_a_coordinator_that_hears_and_is_heard_by_nobody_does_not_propose() -> None:
    mute = {A: NOBODY, B: frozenset({A}), C: frozenset({A})}
    assert proposer(THREE, A, mute) == B


def test_a_coordinator_with_too_few_links_for_a_quorum_is_left_behind() -> None:
    deaf = {A: frozenset({B, C, D}), **dict.fromkeys((B, C, D, E), NOBODY)}
    assert connected(VIEW, B, deaf) == (B, C, D, E)
    assert connected(VIEW, E, deaf) == (B, C, D, E)


def test_a_gray_coordinator_takes_nobody_with_it() -> None:
    """With B alone it would be a quorum of four, and B one of two that the next time is none."""
    gray = {A: frozenset({C, D}), B: NOBODY, C: NOBODY, D: NOBODY}
    assert connected(FOUR, B, gray) == (B, C, D)
    assert proposer(FOUR, A, gray) == B


def test_restarted_nodes_make_up_a_quorum_only_where_those_that_live_are_none() -> None:
    """B is heard by C and hears nobody; A has been restarted."""
    deaf = {B: frozenset({A, C}), C: frozenset({A})}
    restarted = frozenset({"a"})
    assert proposer(THREE, C, deaf) is None
    assert proposer(THREE, C, deaf, restarted) == B  # it may hear A, whom C cannot ask
    assert connected(THREE, B, deaf, restarted) == (B,)
    gone = {B: frozenset({C}), C: frozenset({A, B})}
    assert connected(THREE, C, gone, restarted) == (C,)
    assert proposer(THREE, C, {C: frozenset({A, B})}, restarted) == C
    assert connected(FOUR, B, {B: frozenset({A})}, restarted) == (B, C, D)


def test_without_a_quorum_the_oldest_go_together() -> None:
    split = {A: frozenset({B, C, D}), E: frozenset({B, C, D}), B: frozenset({A, E, D})}
    assert connected(VIEW, A, split) == (A, E)
    assert proposer(VIEW, A, {**split, E: frozenset({B, C, D})}) == A


def test_a_member_that_has_reported_nothing_proves_nothing() -> None:
    assert proposer(THREE, B, {B: frozenset({A})}) == B


@pytest.mark.parametrize("deaf_to", [5, 40, 100])
def test_a_few_gray_members_among_many_are_searched_in_few_steps(deaf_to: int) -> None:
    chance = Random(1)
    everybody = tuple(Address(f"n{number:03}", 1) for number in range(128))
    gray = everybody[::9]
    unheard = {m: frozenset(chance.sample(everybody, deaf_to)) - {m} for m in gray}
    group = hearing_quorum(view_of(*everybody), everybody, unheard)
    assert len(group) > 64
    assert is_clique(group, unheard)
    assert deaf_to < 100 or set(group).isdisjoint(gray)
