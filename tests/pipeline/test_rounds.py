"""How long senders wait, out of counts: as it was, and with another placement."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta
from math import log2
from random import Random
from statistics import median

import pytest

from pipeline.measuring import Measured, Window, over
from pipeline.rounds import (
    RUNS_LEAST,
    UNKNOWN_USE,
    Pair,
    Rounds,
    Timed,
    Use,
    hops,
    percentile,
)
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


def timed(node: str, sequencer: str, bucket: int, runs: int, queue: int | None = None) -> Timed:
    return Timed(Pair(node, sequencer, node == sequencer), bucket, queue, runs)


def all_to(**sequencers: str) -> dict[str, dict[str, float]]:
    """Each sender's node has all that it sends sequenced by one node."""
    return {node: {sequencer: 1.0} for node, sequencer in sequencers.items()}


def test_what_is_near_after_a_move_takes_what_its_node_s_runs_took_in_other_hops() -> None:
    near, far = bucket(1_000), bucket(4_000)
    rounds = Rounds([timed("a", "a", near, 10), timed("b", "a", far, 30), timed("c", "a", far, 10)])
    was = rounds.measured()
    assert was is not None
    assert was.near == 0.2
    assert was.p50_us == pytest.approx(4_000, rel=0.1)
    all_near = rounds.expected(all_to(a="a", b="b", c="c"))
    assert all_near is not None
    assert all_near == was._replace(near=1.0), "with three nodes that is as many hops"
    of_five = rounds.expected(all_to(a="a", b="b", c="c"), nodes=5)
    assert of_five is not None
    assert of_five.p50_us == pytest.approx(4_000 * 2 / 3, rel=0.1)
    apart = rounds.expected(all_to(a="b", b="b", c="c"), nodes=5)
    assert apart is not None
    assert apart.p95_us == pytest.approx(4_000 * 2 / 3, rel=0.15)
    away = rounds.expected(all_to(a="b", b="a", c="a"), nodes=5)
    assert away is not None
    assert percentile({near: 1.0}, 0.5) * 1.5 < away.p95_us
    half = rounds.expected(all_to(a="a", b="b", c="b"))
    assert half is not None
    assert half.near == 0.8
    # As it was is expected of what it was.
    assert rounds.expected(all_to(a="a", b="a", c="a")) == was


@pytest.mark.parametrize("nodes", [3, 5])
def test_near_runs_that_were_timed_say_more_than_hops(nodes: int) -> None:
    near, far = bucket(3_000), bucket(4_000)
    rounds = Rounds([timed("a", "a", near, RUNS_LEAST), timed("b", "a", far, RUNS_LEAST)])
    assert rounds.nearer(nodes) == pytest.approx(3 / 4, rel=0.1)
    nearer = rounds.expected(all_to(a="a", b="b"), nodes=nodes)
    assert nearer is not None
    assert nearer.p95_us == pytest.approx(3_000, rel=0.15)
    further = rounds.expected(all_to(a="b", b="a"), nodes=nodes)
    assert further is not None
    assert further.p50_us == pytest.approx(4_000, rel=0.15)
    few = Rounds([timed("a", "a", near, RUNS_LEAST - 1), timed("b", "a", far, RUNS_LEAST)])
    assert few.nearer(nodes) == hops(nodes, near=True) / hops(nodes, near=False)


def test_near_runs_of_a_busier_node_promise_nobody_a_longer_wait() -> None:
    slow, quick = bucket(5_000), bucket(4_000)
    rounds = Rounds([timed("a", "a", slow, RUNS_LEAST), timed("b", "a", quick, RUNS_LEAST)])
    assert rounds.nearer(5) == 1.0
    nearer = rounds.expected(all_to(a="a", b="b"), nodes=5)
    assert nearer is not None
    assert nearer._replace(near=0.5) == rounds.measured()


def test_what_was_waited_for_numbers_says_nothing_of_ways() -> None:
    rows = [
        timed("a", "a", bucket(9_000), RUNS_LEAST, bucket(6_000)),
        timed("b", "a", bucket(10_000), RUNS_LEAST, bucket(6_000)),
    ]
    assert Rounds(rows).nearer(5) == pytest.approx(3 / 4, rel=0.15)


def test_a_node_s_wait_is_that_of_those_who_send_there() -> None:
    rounds = Rounds([timed("a", "a", bucket(1_000), 5), timed("b", "a", bucket(4_000), 3)])
    assert rounds.nodes == ["a", "b"]
    at_b = rounds.measured("b")
    assert at_b is not None
    assert at_b.near == 0.0
    assert at_b.p50_us == pytest.approx(4_000, rel=0.1)
    assert rounds.measured("c") is None


def test_a_node_s_own_times_count_before_those_of_others() -> None:
    slow, quick = bucket(8_000), bucket(500)
    rounds = Rounds(
        [timed("a", "a", quick, 900), timed("b", "b", slow, 10), timed("b", "a", quick, 90)]
    )
    found = rounds.expected(all_to(a="a", b="b"))
    assert found is not None
    assert found.p95_us > 7_000  # all of b's hundred
    assert found.p50_us < 600


def test_a_pair_s_own_times_count_before_those_of_its_node_with_others() -> None:
    slow, quick = bucket(8_000), bucket(500)
    rounds = Rounds([timed("a", "b", quick, 10), timed("a", "c", slow, 90)])
    there = rounds.expected(all_to(a="b"))
    elsewhere = rounds.expected(all_to(a="d"))
    assert there is not None
    assert elsewhere is not None
    assert there.p50_us < 600
    assert elsewhere.p50_us > 7_000


def test_where_no_run_was_timed_nothing_is_guessed() -> None:
    assert Rounds([]).measured() is None
    assert Rounds([]).expected(all_to(a="a")) is None
    assert Rounds([timed("b", "a", 80, 5)]).expected(all_to(b="a")) is not None


def test_what_was_waited_does_not_change_with_the_hops() -> None:
    rounds = Rounds([timed("b", "a", bucket(4_000), 10, bucket(3_000))])
    found = rounds.expected(all_to(b="b"), nodes=5)
    assert found is not None
    assert found.p50_us == pytest.approx(3_000 + 1_000 * 2 / 3, rel=0.1)


def test_what_is_waited_for_numbers_grows_with_how_busy_their_sequencer_is() -> None:
    whole, waited = bucket(10_000), bucket(8_000)
    rounds = Rounds([timed("b", "a", whole, 10, waited)])

    def median_us(sequencer: str, use: Use) -> float:
        found = rounds.expected(all_to(b=sequencer), use)
        assert found is not None
        return found.p50_us

    was = median_us("a", UNKNOWN_USE)
    use = Use({"a": 0.8, "c": 0.2}, {"a": 0.5, "c": 0.5})
    # In proportion to u / (1 - u): a quarter of the wait is left, and the rest of the time.
    assert median_us("a", use) == pytest.approx(was - 0.75 * 8_000, rel=0.15)
    assert median_us("c", use) == median_us("a", use)
    assert median_us("d", use) == was  # nothing is known of it
    worse = Use({"a": 0.5}, {"a": 0.8})
    assert median_us("a", worse) == pytest.approx(was + 3 * 8_000, rel=0.15)
    # A process without work, and one with too much, say nothing about others.
    assert median_us("a", Use({"a": 0.0}, {"a": 0.01})) == was
    assert median_us("a", Use({"a": 0.95}, {"a": 7.0})) == was


def test_windows_together_are_medians_and_show_each() -> None:
    windows = [Window(T + timedelta(minutes=i), 30.0 + i, 10.0) for i in range(3)]
    windows.append(Window(T + timedelta(minutes=3), 0.0, 0.0))
    found = over(windows)
    assert (found.windows, found.imbalance) == (4, 3.1)
    assert found.fullest_us == pytest.approx(31.9, abs=0.05)  # between the two highest
    assert over([]) == over([Window(T, 0.0, 0.0)])
    shown = Measured(windows, found, None, {T: (7, 812.5)}, {}, {T: 5}).shown()
    first, second = shown["windows"][:2]  # type: ignore[index]
    assert first == {
        "at_s": T.timestamp(),
        "window_s": 5,
        "imbalance": 3.0,
        "fullest_us": 30.0,
        "runs": 7,
        "latency_us": 812.5,
    }
    assert (second["runs"], second["latency_us"]) == (0, None)


def test_medians_of_the_windows_that_are_shown_are_those_that_were_measured() -> None:
    windows = [Window(T, 1.1874, 1.0), Window(T + timedelta(minutes=1), 1.1898, 1.0)]
    rows = Measured(windows, over(windows), None, {}, {}, {}).shown()["windows"]
    shares = [one["imbalance"] for one in rows]  # type: ignore[attr-defined]
    assert round(median(shares), 3) == over(windows).imbalance == 1.189


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
