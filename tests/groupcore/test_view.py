"""The rules of views: which members may decide what follows."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.view import Address, View, is_quorum, quorum_size

NAMES = tuple("abcdefgh")


def view_of(count: int) -> View:
    return View(3, 2, 17, 7, tuple(Address(name, 5) for name in NAMES[:count]))


def slow_is_quorum(members: tuple[str, ...], present: set[str]) -> bool:
    """Count one and a half votes for the lowest rank, in halves, and take more than a half."""
    weights = {name: 2 + (rank == 0) for rank, name in enumerate(members)}
    mine = sum(weight for name, weight in weights.items() if name in present)
    return 2 * mine > sum(weights.values())


@given(count=st.integers(1, 8), present=st.sets(st.sampled_from([*NAMES, "z"])))
def test_a_quorum_is_a_majority_or_half_with_the_lowest_rank(count: int, present: set[str]) -> None:
    assert view_of(count).is_quorum(present) == slow_is_quorum(NAMES[:count], present)


@pytest.mark.parametrize("count", range(1, 8))
def test_any_two_quorums_of_a_view_have_a_member_in_common(count: int) -> None:
    members = NAMES[:count]
    subsets = [set(part) for size in range(count + 1) for part in combinations(members, size)]
    quorums = [part for part in subsets if is_quorum(members, part)]
    assert quorums
    assert all(one & other for one in quorums for other in quorums)


@given(count=st.integers(1, 8), present=st.sets(st.sampled_from(NAMES)))
def test_of_a_set_and_its_complement_exactly_one_is_a_quorum(count: int, present: set[str]) -> None:
    members = NAMES[:count]
    assert is_quorum(members, present) != is_quorum(members, set(members) - present)


@given(count=st.integers(1, 8), present=st.sets(st.sampled_from(NAMES)))
def test_the_size_of_a_quorum_agrees_with_the_quorums(count: int, present: set[str]) -> None:
    inside = present & set(NAMES[:count])
    with_lowest = NAMES[0] in inside
    enough = len(inside) >= quorum_size(count, with_lowest)
    assert enough == is_quorum(NAMES[:count], present)


def test_the_coordinator_is_the_first_and_ranks_follow_the_order() -> None:
    view = view_of(3)
    assert view.coordinator == Address("a", 5)
    assert [view.rank(member) for member in view.members] == [0, 1, 2]
    assert view.names == ("a", "b", "c")


def test_the_rank_of_a_stranger_is_an_error() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        view_of(2).rank(Address("z", 1))


def test_a_later_life_of_a_node_votes_but_is_another_member() -> None:
    view = view_of(3)
    assert view.is_quorum(["a", "b"])
    with pytest.raises(ValueError, match="not in tuple"):
        view.rank(Address("a", 6))


def test_views_and_addresses_are_short_in_print() -> None:
    assert str(view_of(2)) == "2.3[a b]"
    assert str(Address("a", 0x123456)) == "a#3456"
