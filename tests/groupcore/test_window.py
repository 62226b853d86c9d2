"""The rules of a sender's window, against a slow obvious version."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.view import Address
from groupcore.window import AHEAD_MAX, Window

A = Address("a", 1)


def batch(number: int) -> Batch:
    return Batch(A, None, (), str(number).encode(), 1)


def filled(*numbers: int) -> Window:
    window = Window()
    for number in numbers:
        window.add(number, batch(number))
    return window


def ranges_of(numbers: set[int]) -> list[tuple[int, int]]:
    """Runs of consecutive numbers, one number after the other."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


@settings(max_examples=50)
@given(st.lists(st.integers(1, 12), max_size=30))
def test_batches_come_out_in_order_once_whatever_the_order_of_arrival(arrivals: list[int]) -> None:
    window, delivered = Window(), []
    seen: set[int] = set()
    for number in arrivals:
        assert window.add(number, batch(number)) == (number not in seen)
        seen.add(number)
        delivered += list(window.deliverable())
    without_gap = next(n for n in range(1, 99) if n not in seen) - 1
    assert delivered == [batch(n) for n in range(1, without_gap + 1)]
    assert window.received == window.delivered == without_gap
    assert window.highest == max(seen, default=0)


@given(st.sets(st.integers(1, 20)), st.integers(0, 25), st.none() | st.integers(0, 25))
def test_the_gaps_are_what_is_not_held_up_to_the_limit(
    held: set[int], announced: int, limit: int | None
) -> None:
    window = filled(*sorted(held, reverse=True))
    window.announce(announced)
    end = max([announced, *held]) if limit is None else limit
    received = next(n for n in range(1, 99) if n not in held) - 1
    expected = {n for n in range(received + 1, end + 1) if n not in held}
    assert window.missing(limit) == ranges_of(expected)


@given(st.integers(0, 9), st.integers(0, 12), st.integers(0, 12))
def test_only_what_is_delivered_here_and_held_by_all_is_dropped(
    count: int, delivered: int, stable: int
) -> None:
    window = filled(*range(1, count + 1))
    taken = list(window.deliverable(delivered))
    window.purge(stable)
    window.purge(stable)
    dropped = min(stable, len(taken))
    assert window.purged == dropped
    assert [n for n in range(1, count + 1) if window.get(n) is None] == list(range(1, dropped + 1))


def test_nothing_behind_the_limit_is_delivered() -> None:
    window = filled(1, 2, 3)
    assert list(window.deliverable(2)) == [batch(1), batch(2)]
    assert list(window.deliverable(2)) == []
    assert list(window.deliverable()) == [batch(3)]


def test_what_is_dropped_does_not_come_back() -> None:
    window = filled(1)
    assert list(window.deliverable()) == [batch(1)]
    window.purge(1)
    assert not window.add(1, batch(1))
    assert window.batches == {}


def test_what_is_too_far_ahead_is_not_kept() -> None:
    window = Window()
    assert not window.add(AHEAD_MAX + 1, batch(1))
    assert window.add(AHEAD_MAX, batch(1))
    assert window.highest == AHEAD_MAX


def test_an_announcement_never_takes_the_highest_number_back() -> None:
    window = filled(1, 2)
    window.announce(1)
    assert window.highest == 2
