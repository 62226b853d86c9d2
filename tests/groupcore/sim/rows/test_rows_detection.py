"""Rows 11 to 14 of the fault matrix: whom the others take for dead."""

from __future__ import annotations

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.fault import COORDINATOR
from groupcore.sim.trace import Delivered
from tests.groupcore.sim.rows.playing import (
    Play,
    excluded_after_s,
    fault,
    lived,
    lives,
    longest_silence_s,
    play,
    scenario,
    views_between,
)


@pytest.mark.parametrize("who", [COORDINATOR, 2])
@pytest.mark.parametrize("nodes", [3, 5])
def test_row_11_a_killed_process_is_excluded_in_two_seconds(who: int, nodes: int) -> None:
    verdict = play(fault(3, "crash", who, for_s=3), nodes=nodes, length_s=8)
    (crash,) = lived(verdict.trace, "crash")
    assert excluded_after_s(verdict.trace, crash.n, 3) <= 2
    others = {end.n for end in verdict.trace.ends} - {crash.n}
    assert max(longest_silence_s(verdict.trace, name, 3, 6) for name in others) <= 2


def test_row_11_a_killed_process_is_suspected_in_one_second() -> None:
    running = Play(scenario(fault(3, "crash", 2, for_s=3)))
    suspicions: list[int] = []

    def look() -> None:
        for node in running.cluster.nodes[:2]:
            assert node.endpoint is not None
            suspicions.append(node.endpoint.counters()["FD.suspicions"])

    running.at(2.9, look).at(4.0, look)
    running.run()
    assert suspicions[:2] == [0, 0]
    assert max(suspicions[2:]) == 1


@pytest.mark.parametrize("pause_s", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("who", [COORDINATOR, 2])
def test_row_12_a_short_pause_is_not_noticed(pause_s: float, who: int) -> None:
    verdict = play(fault(3, "pause", who, for_s=pause_s))
    assert views_between(verdict.trace, 2, 20) == []


@pytest.mark.parametrize(
    "pause_s",
    [2.0, pytest.param(10.0, marks=pytest.mark.slow), pytest.param(60.0, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("who", [0, 2])
def test_row_12_a_long_pause_ends_in_exclusion_before_anything_is_delivered(
    pause_s: float, who: int
) -> None:
    traffic_ends_s = 5 + pause_s
    verdict = play(fault(3, "pause", who, for_s=pause_s), length_s=traffic_ends_s)
    (excluded,) = lived(verdict.trace, "excluded")
    assert excluded.n == "abc"[who]
    successor = views_between(verdict.trace, 3, 3 + pause_s)[0]
    late = [
        record
        for record in verdict.trace.of(Delivered)
        if (record.n, record.inc) == (excluded.n, excluded.inc) and record.t > successor.t
    ]
    agreed = {
        record.mid
        for record in verdict.trace.of(Delivered)
        if record.view == successor.number - 1 and record.n != "abc"[who]
    }
    assert {record.mid for record in late} <= agreed
    assert lives(verdict.trace)[excluded.n] == 2


@pytest.mark.parametrize("who", [0, 2])
def test_row_12_a_sleeper_delivers_nothing_of_a_view_that_was_left_by_way_of_the_disks(
    who: int,
) -> None:
    """One sleeps, another crashes and restarts: the third goes on with that one's disk."""
    dead = 1 if who else 2
    verdict = play(
        fault(3, "pause", who, for_s=4), fault(3.5, "crash", dead, for_s=1.2), length_s=9
    )
    assert [record.n for record in lived(verdict.trace, "excluded")] == ["abc"[who]]


def test_row_12_a_sleeper_concludes_nothing_from_what_gathered_while_it_slept() -> None:
    """It alone holds what the sequencer multicast last: two of three, but one has crashed since."""
    verdict = play(
        fault(3, "pause", 2, for_s=4),
        fault(3, "one-way", 0, 1, for_s=0.3),
        fault(3.2, "crash", 0, for_s=1.2),
        length_s=9,
    )
    (sleeper,) = lived(verdict.trace, "excluded")
    late = [
        record.mid
        for record in verdict.trace.of(Delivered)
        if (record.n, record.inc) == (sleeper.n, sleeper.inc) and record.t > 3.1 * SECOND
    ]
    assert (sleeper.n, late) == ("c", [])


@pytest.mark.parametrize("pause_s", [1.5, 3.0, 5.0])
def test_row_12_who_has_slept_excludes_nobody_for_what_was_said_of_its_sleep(
    pause_s: float,
) -> None:
    """Of two the first could go on alone: the other's reports of its silence lie unread."""
    verdict = play(fault(3, "pause", 0, for_s=pause_s), nodes=2, length_s=4 + pause_s)
    assert views_between(verdict.trace, 2, 20) == []


def test_row_12_who_sleeps_again_and_again_excludes_nobody() -> None:
    naps = [fault(3 + number * 0.7, "pause", 0, for_s=0.6) for number in range(12)]
    verdict = play(*naps, nodes=2, length_s=14)
    assert views_between(verdict.trace, 2, 20) == []


def test_row_12_a_crash_is_found_by_one_that_sleeps_again_and_again() -> None:
    naps = [fault(3 + number * 0.7, "pause", 0, for_s=0.4) for number in range(20)]
    verdict = play(*naps, fault(4, "crash", 1, for_s=30), nodes=2, length_s=14)
    assert [len(view.members) for view in views_between(verdict.trace, 4, 13)] == [1]


def test_row_13_a_slow_node_does_not_come_and_go() -> None:
    verdict = play(fault(3, "slow", 1, for_s=20, factor=20), length_s=24)
    assert len(views_between(verdict.trace, 3, 24)) <= 3


def test_row_14_a_suspicion_that_a_second_path_disproves_splits_no_group() -> None:
    verdict = play(fault(3, "link", 1, 2, for_s=0.5), nodes=5)
    assert views_between(verdict.trace, 2, 20) == []


def test_row_14_a_dead_link_costs_one_member_and_no_more() -> None:
    verdict = play(fault(3, "link", 1, 2, for_s=6), nodes=5, length_s=10)
    during = views_between(verdict.trace, 3, 9)
    assert [len(view.members) for view in during] == [4]
    back, promoted = views_between(verdict.trace, 9, 20)
    assert len(back.members) == len(promoted.members) == 5
    assert (len(back.voters), len(promoted.voters)) == (4, 5)
