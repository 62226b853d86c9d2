"""A quorum is lost for good: nobody goes on by itself, and all do when an operator has said so."""

from __future__ import annotations

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.plant_schedules import CUT_APART_AND_WAIVED, GONE_ON_WITHOUT
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Trace, Viewed
from groupcore.stacks import read_record
from tests.groupcore.sim.rows.playing import Play, fault, membership, scenario, sends

A, B, C = range(3)
FALLS = (
    fault(2.0, "crash", A, for_s=4.0),
    fault(3.0, "lose", B, for_s=3.0),
    fault(4.5, "crash", C, for_s=1.5),
)
"""a, then b, then c; the last view is [b c], and b has lost its disk. All start at 6 s."""


def lineages(trace: Trace, since_s: float = 0.0) -> set[int]:
    return {view.lineage for view in trace.of(Viewed) if view.t >= since_s * SECOND}


def test_a_lost_quorum_is_not_made_up_for_and_who_is_awaited_is_said() -> None:
    traffic = sends(1.0, 1.9, 0.04, A, B, C)
    play = Play(
        scenario(*FALLS, fault(14.0, "waive", C, B, for_s=3.0), length_s=18, traffic=traffic)
    )
    told = []

    def look() -> None:
        for node in play.cluster.nodes:
            awaiting = membership(node).awaiting(node._local.seconds(play.cluster.clock.now_ns))
            assert awaiting is not None
            told.append((awaiting.reason, awaiting.here, awaiting.empty, awaiting.others))

    play.at(13.0, look)
    trace = play.run().trace
    assert told == [("quorum", ("c",), ("b",), ("a",))] * 3
    assert not [view for view in trace.of(Viewed) if 6.0 <= view.t / SECOND < 14.0]
    assert len(lineages(trace)) == 2


def test_all_go_on_in_another_lineage_when_an_operator_has_said_so() -> None:
    traffic = sends(1.0, 1.9, 0.04, A, B, C)
    play = Play(
        scenario(*FALLS, fault(8.0, "waive", C, B, for_s=3.0), length_s=12, traffic=traffic)
    )
    trace = play.run().trace
    before, after = lineages(trace) - lineages(trace, 6.0), lineages(trace, 6.0)
    assert (len(before), len(after)) == (1, 1)
    for node in play.cluster.nodes[:1]:
        assert read_record(node.disk.lineage).view is not None


@pytest.mark.parametrize("schedule", [GONE_ON_WITHOUT, CUT_APART_AND_WAIVED])
def test_who_comes_back_later_is_fenced(schedule: Scenario) -> None:
    Play(schedule).run()


def test_a_waiver_is_nothing_while_the_waived_disk_is_there() -> None:
    """b is there, and its disk counts: the view follows by votes, in the same lineage."""
    falls = (fault(3.0, "crash", B, for_s=3.0), FALLS[0], FALLS[2])
    trace = Play(scenario(*falls, fault(5.0, "waive", C, B, for_s=4.0), length_s=10)).run().trace
    assert len(lineages(trace)) == 1
