"""The rules of the clock that leaves out what a process slept."""

from __future__ import annotations

import pytest

from groupcore.awake import SLEEP_S, AwakeClock


def test_a_clock_of_a_process_that_is_never_late_is_the_monotonic_one() -> None:
    clock = AwakeClock()
    for turn in range(10):
        now = turn * 0.1
        assert clock.begin_turn(now + SLEEP_S / 2) == 0.0
        assert clock.seconds(now) == now
        clock.end_turn(now + 0.1)
    assert (clock.sleeps, clock.slept_s) == (0, 0.0)


def test_what_a_turn_begins_later_than_the_timer_was_due_is_left_out() -> None:
    clock = AwakeClock()
    clock.end_turn(10.1)
    assert clock.begin_turn(15.1) == pytest.approx(5.0)
    assert clock.seconds(15.1) == pytest.approx(10.1)
    assert clock.seconds(15.2) == pytest.approx(10.2)
    assert clock.monotonic(10.2) == pytest.approx(15.2)
    assert clock.sleeps == 1
    assert clock.longest_s == pytest.approx(5.0)


def test_a_sleep_is_told_once_and_the_next_one_adds_to_it() -> None:
    clock = AwakeClock()
    clock.end_turn(1.0)
    assert clock.begin_turn(3.0) == pytest.approx(2.0)
    assert clock.begin_turn(3.0) == 0.0
    clock.end_turn(1.1)
    assert clock.begin_turn(3.1) == 0.0
    clock.end_turn(1.2)
    assert clock.begin_turn(4.2) == pytest.approx(1.0)
    assert clock.seconds(4.2) == pytest.approx(1.2)
    assert clock.sleeps == 2
    assert clock.longest_s == pytest.approx(2.0)


def test_who_waits_for_nothing_is_never_late() -> None:
    clock = AwakeClock()
    clock.end_turn(None)
    assert clock.begin_turn(1_000.0) == 0.0


def test_a_timer_that_was_due_before_the_turn_is_no_sleep() -> None:
    clock = AwakeClock()
    for turn in range(10):
        now = 100.0 + turn
        assert clock.begin_turn(now) == 0.0
        clock.end_turn(3.0, now + 0.9)
