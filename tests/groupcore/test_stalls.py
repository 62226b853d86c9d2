"""The rules of who counts as stalled, from what the members report of each other."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from groupcore import stalls
from groupcore.view import Address, View

ME = Address("z", 1)
MEMBERS = A, B, C, D, E = tuple(Address(name, 1) for name in "abcde")
THREE = View(1, 1, 0, 7, (A, B, C))
FOUR = View(1, 1, 0, 7, (A, B, C, D))
FIVE = View(1, 1, 0, 7, MEMBERS)
NOBODY: frozenset[Address] = frozenset()


def stalled_members(
    view: View,
    unheard: Set[Address],
    reports: Mapping[Address, Set[Address]],
    waiting: Set[Address] = NOBODY,
) -> frozenset[Address]:
    """By one who is no member and hears all but these."""
    return stalls.stalled_members(view, {ME: unheard}, ME, reports, waiting)


def test_whom_a_heard_member_reports_is_stalled() -> None:
    assert stalled_members(THREE, NOBODY, {B: {C}}) == {C}
    assert stalled_members(THREE, NOBODY, {}) == NOBODY


def test_a_member_may_report_itself() -> None:
    assert stalled_members(THREE, NOBODY, {A: {A}}) == {A}


def test_who_is_not_heard_is_not_believed() -> None:
    assert stalled_members(THREE, frozenset({B}), {B: {C}}) == NOBODY


def test_of_two_that_accuse_each_other_the_older_is_believed() -> None:
    assert stalled_members(THREE, NOBODY, {A: {B}, B: {A}}) == {B}


def test_a_report_that_leaves_no_quorum_counts_for_nothing() -> None:
    assert stalled_members(THREE, NOBODY, {C: {A, B}}) == NOBODY
    assert stalled_members(FIVE, NOBODY, {A: {B, C}, D: {E}}) == {B, C}


def test_who_is_no_member_is_not_stalled() -> None:
    assert stalled_members(THREE, NOBODY, {A: {D}}) == NOBODY


def test_a_report_counts_only_while_the_others_are_heard_and_a_quorum() -> None:
    """What a stopped member has last said of others stands; whom it counted on may be gone."""
    assert stalled_members(FOUR, NOBODY, {C: {B, D}}) == {B, D}
    assert stalled_members(FOUR, {A}, {C: {B, D}}) == NOBODY
    assert stalled_members(FIVE, {A}, {C: {B, D}}) == NOBODY
    assert stalled_members(FIVE, {A}, {C: {B}}) == {B}


def test_a_report_counts_only_while_the_others_hear_one_another() -> None:
    """B hears the coordinator, with which C alone would have been a quorum, and C does not."""
    said: dict[Address, set[Address]] = {C: {B, D}}
    deaf = {B: NOBODY, C: frozenset({A})}
    assert stalls.stalled_members(FOUR, {B: NOBODY}, B, said) == {B, D}
    assert stalls.stalled_members(FOUR, deaf, B, said) == NOBODY


groups = st.sets(st.sampled_from(MEMBERS))


@given(st.dictionaries(st.sampled_from(MEMBERS), groups))
def test_a_quorum_is_always_left(reports: dict[Address, set[Address]]) -> None:
    out = stalled_members(FIVE, NOBODY, reports)
    assert FIVE.is_quorum(member.name for member in MEMBERS if member not in out)


def test_all_members_with_the_same_reports_agree() -> None:
    for accused in combinations(MEMBERS, 2):
        reports = {A: set(accused), E: {A}}
        assert len({stalled_members(FIVE, NOBODY, reports) for _ in MEMBERS}) == 1


# --- the coordinator holds up the order -----------------------------------------------------------


def test_the_coordinator_has_stalled_when_more_than_half_of_the_heard_others_wait_for_it() -> None:
    assert stalled_members(THREE, NOBODY, {}, {B, C}) == {A}
    assert stalled_members(FIVE, NOBODY, {}, {B, C, D}) == {A}
    assert stalled_members(FIVE, NOBODY, {}, {B, C}) == NOBODY
    assert stalled_members(FIVE, {E}, {}, {B, C}) == {A}


def test_one_member_that_waits_does_not_topple_the_coordinator() -> None:
    assert stalled_members(THREE, NOBODY, {}, {B}) == NOBODY
    assert stalled_members(THREE, {C}, {}, {B}) == NOBODY


def test_of_two_members_neither_topples_the_other() -> None:
    two = View(1, 1, 0, 7, (A, B))
    assert stalled_members(two, NOBODY, {}, {A, B}) == NOBODY


def test_who_is_not_heard_or_no_member_or_coordinator_does_not_count_as_waiting() -> None:
    assert stalled_members(FIVE, {B}, {}, {B, C}) == NOBODY
    assert stalled_members(THREE, NOBODY, {}, {A, B, Address("z", 1)}) == NOBODY


def test_a_coordinator_stays_when_the_heard_others_are_no_quorum() -> None:
    assert stalled_members(FIVE, {D, E}, {}, {B, C}) == NOBODY
    assert stalled_members(FOUR, {D}, {}, {B, C}) == NOBODY


def test_a_coordinator_that_holds_up_the_order_accuses_nobody() -> None:
    assert stalled_members(FIVE, NOBODY, {A: {B}}, {B, C, D}) == {A}


@given(groups, groups, st.dictionaries(st.sampled_from(MEMBERS), groups))
def test_a_quorum_is_left_whoever_waits(
    waiting: set[Address], unheard: set[Address], reports: dict[Address, set[Address]]
) -> None:
    out = stalled_members(FIVE, unheard, reports, waiting)
    left = [member.name for member in MEMBERS if member not in out | unheard]
    assert not out or FIVE.is_quorum(left)
