"""The rules of the replay window, and a comparison with the obvious slow version."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.replay_window import WINDOW_COUNTERS, ReplayWindow


def test_a_counter_is_accepted_once() -> None:  # W1
    window = ReplayWindow(0)
    assert window.refusal(5) == ""
    window.accept(5)
    assert window.refusal(5) == "replayed"
    assert window.refusal(4) == ""


def test_nothing_up_to_the_floor_is_accepted() -> None:  # W2
    window = ReplayWindow(100)
    assert window.refusal(100) == "too_old"
    assert window.refusal(1) == "too_old"
    assert window.refusal(101) == ""


def test_looking_does_not_move_the_window() -> None:  # W3
    window = ReplayWindow(0)
    assert window.refusal(1 << 63) == ""
    assert window.refusal(1) == ""
    assert window.highest == 0


def test_a_counter_as_far_back_as_the_window_is_too_old() -> None:
    window = ReplayWindow(0)
    window.accept(WINDOW_COUNTERS + 7)
    assert window.refusal(7) == "too_old"
    assert window.refusal(8) == ""


def test_the_largest_counters_are_told_apart() -> None:  # fault 7
    top = (1 << 64) - 1
    window = ReplayWindow(top - 3)
    window.accept(top)
    assert window.refusal(top) == "replayed"
    assert window.refusal(top - 1) == ""


steps = st.integers(1, 40) | st.integers(WINDOW_COUNTERS - 20, WINDOW_COUNTERS + 60)


@given(floor=st.integers(0, 30), counters=st.lists(steps, max_size=80))
def test_it_agrees_with_a_set_of_all_accepted_counters(floor: int, counters: list[int]) -> None:
    window, accepted, highest = ReplayWindow(floor), set[int](), floor
    for counter in counters:
        expected = ""
        if counter <= floor or counter <= highest - WINDOW_COUNTERS:
            expected = "too_old"
        elif counter in accepted:
            expected = "replayed"
        assert window.refusal(counter) == expected
        if not expected:
            window.accept(counter)
            accepted.add(counter)
            highest = max(highest, counter)
        assert window.highest == highest
