"""Virtual time: order, ties, and the clocks that nodes read."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from groupcore.sim.clock import SECOND, Clock, LocalClock, WallClock


def test_events_run_in_the_order_of_their_times() -> None:
    clock, seen = Clock(Random(1)), list[str]()
    clock.at(20, seen.append, "late")
    clock.at(10, seen.append, "early")
    clock.run_until(100)
    assert seen == ["early", "late"]
    assert clock.now_ns == 100


def test_an_event_beyond_the_end_waits() -> None:
    clock, seen = Clock(Random(1)), list[str]()
    clock.at(20, seen.append, "late")
    clock.run_until(19)
    assert seen == []
    clock.run_until(20)
    assert seen == ["late"]


def test_an_event_in_the_past_runs_now_and_time_never_goes_back() -> None:
    clock, times = Clock(Random(1)), list[int]()

    def late() -> None:
        times.append(clock.now_ns)
        if len(times) == 1:
            clock.at(0, late)

    clock.at(50, late)
    clock.run_until(60)
    assert times == [50, 50]


def test_the_order_of_equal_times_is_drawn_from_the_seed() -> None:
    def order(seed: int) -> list[int]:
        clock, seen = Clock(Random(seed)), list[int]()
        for number in range(10):
            clock.at(5, seen.append, number)
        clock.run_until(5)
        return seen

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != list(range(10))


@given(
    st.floats(0, 1e5),
    st.floats(0.99, 1.01),
    st.integers(0, 60 * SECOND),
    st.floats(0, 60),
)
def test_a_timer_is_due_when_its_moment_has_come(
    offset: float, rate: float, start_ns: int, delay: float
) -> None:
    local = LocalClock(offset, rate)
    deadline = local.seconds(start_ns) + delay
    assert local.seconds(local.moment(deadline)) >= deadline - 1e-9


def test_a_wall_clock_that_is_set_back_reads_less_than_before() -> None:
    clock = WallClock()
    before = clock.read()
    clock.step(-3)
    assert clock.read() < before
    assert clock.ahead_s == -3 * WallClock.LIFE_S
