"""The rules of the table that proves stability: knowledge grows, the lowest entry counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.reports import Reports, lagged, lowest


def test_nothing_is_stable_before_every_member_is_known_to_have_it() -> None:
    reports = Reports(3)
    reports.learn((0,), (5, 5, 5))
    reports.learn((1,), (4, 5, 6))
    assert reports.stable == (0, 0, 0)
    reports.learn((2,), (9, 1, 0))
    assert reports.stable == (4, 1, 0)


def test_what_is_told_of_several_members_counts_for_each() -> None:
    reports = Reports(3)
    reports.learn((0, 1, 2), (3, 2, 1))
    assert reports.stable == (3, 2, 1)


def test_an_old_word_takes_nothing_back() -> None:
    reports = Reports(2)
    reports.learn((0, 1), (3, 3))
    reports.learn((0,), (1, 1))
    assert reports.stable == (3, 3)


def test_who_is_alone_has_everything_stable() -> None:
    reports = Reports(1)
    reports.learn((0,), (7,))
    assert reports.stable == (7,)


def test_the_lag_is_subtracted_and_never_goes_below_zero() -> None:
    # "[P:25, Q:3, R:100] and the lag is 10 ... lower than P:15, R:90 and none of Q's"
    assert lagged((25, 3, 100), 10) == (15, 0, 90)


def test_the_lowest_is_taken_for_each_sender() -> None:
    assert lowest((1, 5, 3), (2, 4, 3)) == (1, 4, 3)


rows = st.tuples(*[st.integers(0, 9)] * 3)


@given(st.lists(st.tuples(st.sets(st.integers(0, 2)), rows), max_size=12))
def test_stable_is_never_more_than_the_highest_word_of_any_member(
    story: list[tuple[set[int], tuple[int, ...]]],
) -> None:
    reports = Reports(3)
    highest: dict[int, tuple[int, ...]] = dict.fromkeys(range(3), (0, 0, 0))
    for ranks, delivered in story:
        reports.learn(ranks, delivered)
        for rank in ranks:
            highest[rank] = tuple(map(max, highest[rank], delivered))
    assert reports.stable == tuple(map(min, *highest.values()))
