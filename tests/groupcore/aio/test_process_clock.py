"""Why a process slept: it was given no core, or it was stopped."""

from __future__ import annotations

import pytest

from groupcore.aio.process_clock import SAMPLE_S, ProcessClock, wanted_s


class Thread:
    """What a kernel counts for a thread."""

    def __init__(self) -> None:
        self.wanted_s: float | None = 5.0
        self.reads = 0

    def read(self) -> float | None:
        self.reads += 1
        return self.wanted_s


def slept(thread: Thread, wanted_s: float | None, sleep_s: float = 1.5) -> ProcessClock:
    """A clock behind a sleep in which the thread wanted to run for so long."""
    clock = ProcessClock(thread.read)
    for turn in range(10):
        clock.begin_turn(0.1 * turn)
        clock.end_turn(0.1 * turn + 0.1)
    if thread.wanted_s is not None:
        thread.wanted_s = None if wanted_s is None else thread.wanted_s + wanted_s
    assert clock.begin_turn(1.0 + sleep_s) == pytest.approx(sleep_s)
    return clock


@pytest.mark.parametrize(
    ("wanted_s", "starved"), [(0.0, 0), (0.3, 0), (0.8, 1), (1.5, 1), (None, 1)]
)
def test_who_wanted_to_run_was_starved_and_who_was_stopped_was_not(
    wanted_s: float | None, starved: int
) -> None:
    clock = slept(Thread(), wanted_s)
    assert (clock.sleeps, clock.starved) == (1, starved)


def test_the_kernel_is_asked_once_a_second_and_behind_a_sleep() -> None:
    thread = Thread()
    slept(thread, 0.0)
    assert thread.reads == 2
    assert SAMPLE_S == 1.0


def test_a_thread_that_works_has_wanted_to_run() -> None:
    before = wanted_s()
    if before is None:
        pytest.skip("this kernel does not count how long threads wait")
    while (now := wanted_s()) is not None and now < before + 0.02:
        sum(range(10_000))
    assert now is not None
