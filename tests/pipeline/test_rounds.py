"""How long senders wait, out of counts: as it was, and with another placement."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta
from math import log2
from random import Random
from statistics import median

import pytest

from pipeline.measuring import Measured, Window, over
from pipeline.rounds import Rounds, percentile
from pipeline.spans import moment, seconds
from pipeline.transforms.load import BUCKETS

T = datetime(2026, 11, 22, 7, tzinfo=UTC)


def bucket(us: float) -> int:
    """The bucket that is of times from this on."""
    return int(BUCKETS * log2(us))


def test_percentiles_of_counts_are_those_of_the_times() -> None:
    chance = Random(1)
    times = [chance.lognormvariate(6.5, 0.8) for _ in range(20_000)]
    counts: dict[int, float] = {}
    for us in times:
        counts[bucket(us)] = counts.get(bucket(us), 0) + 1
    ranked = sorted(times)
    assert percentile(counts, 0.5) == pytest.approx(median(times), rel=0.02)
    assert percentile(counts, 0.95) == pytest.approx(ranked[19_000], rel=0.02)
    assert percentile({3: 1.0}, 1.0) == pytest.approx(2 ** (4 / 8), abs=0.1)
    assert percentile({}, 0.5) > 0  # nobody asks of nothing; it does not fail


def test_what_is_near_after_a_move_takes_what_near_runs_took() -> None:
    near, far = bucket(1_000), bucket(4_000)
    rounds = Rounds([("a", True, near, 100), ("b", False, far, 300), ("c", False, far, 100)])
    was = rounds.measured()
    assert was is not None
    assert was.near == 0.2
    assert was.p50_us == pytest.approx(4_000, rel=0.1)
    all_near = rounds.expected({"a": 1.0, "b": 1.0, "c": 1.0})
    assert all_near is not None
    assert (all_near.near, all_near.p50_us < 1_100) == (1.0, True)  # b's are as a's were
    half = rounds.expected({"a": 1.0, "b": 1.0})
    assert half is not None
    assert half.near == 0.8
    # As it was is expected of what it was.
    assert rounds.expected({"a": 1.0}) == was


def test_a_node_s_own_times_count_before_those_of_others() -> None:
    slow, quick = bucket(8_000), bucket(500)
    rounds = Rounds([("a", True, quick, 900), ("b", True, slow, 10), ("b", False, quick, 90)])
    found = rounds.expected({"b": 1.0, "a": 1.0})
    assert found is not None
    assert found.p95_us > 7_000  # all of b's hundred
    assert found.p50_us < 600


def test_what_no_run_has_shown_is_not_guessed() -> None:
    assert Rounds([]).measured() is None
    assert Rounds([]).expected({"a": 1.0}) is None
    far_only = Rounds([("b", False, 80, 5)])
    assert far_only.expected({"b": 0.5}) is None
    assert far_only.expected({}) is not None


def test_windows_together_are_medians_and_show_each() -> None:
    windows = [Window(T + timedelta(minutes=i), 30.0 + i, 10.0) for i in range(3)]
    windows.append(Window(T + timedelta(minutes=3), 0.0, 0.0))
    found = over(windows)
    assert (found.windows, found.imbalance) == (4, 3.1)
    assert found.fullest_us == pytest.approx(31.9, abs=0.05)  # between the two highest
    assert over([]) == over([Window(T, 0.0, 0.0)])
    shown = Measured(windows, found, None, {T: (7, 812.5)}).shown(60)
    first, second = shown["windows"][:2]  # type: ignore[index]
    assert first == {
        "at_s": T.timestamp(),
        "imbalance": 3.0,
        "fullest_us": 30.0,
        "runs": 7,
        "latency_us": 812.5,
    }
    assert (second["runs"], second["latency_us"]) == (0, None)


def test_times_are_read_as_people_and_programs_write_them() -> None:
    assert moment("2026-11-22T07:00") == moment("2026-11-22T08:00+01:00") == T
    assert moment(str(T.timestamp())) == T
    for text in ("yesterday", "", "99999999999999999"):
        with pytest.raises(ArgumentTypeError, match="no time like"):
            moment(text)
    assert seconds("5") == 5
    for text in ("0", "3601", "-1", "1.5"):
        with pytest.raises(ArgumentTypeError, match="no number of seconds"):
            seconds(text)
