"""A quorum is lost for good: nobody goes on by itself, and all do when an operator has said so."""

from __future__ import annotations

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Fault
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


class AcceptedAndAlone:
    """a, b and c; c is cut off. a proposes [a b] and dies when b has accepted it: a may have
    decided it, and gone on alone. b and c, both whole, are a majority of [a b c] and cannot."""

    def __init__(self, *faults: Fault) -> None:
        cut = fault(2.0, "isolate", C, for_s=3.0)
        traffic = sends(1.0, 1.9, 0.04, A, B, C)
        self.play = Play(scenario(cut, *faults, length_s=18, traffic=traffic))
        self.nodes = self.play.cluster.nodes
        self.died = False
        self.told: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
        self.play.lose(self.is_lost)
        self.play.at(8.0, self.look)

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        accepted = read_record(self.nodes[B].disk.lineage).accepted
        if not self.died and accepted is not None and accepted.view.names == ("a", "b"):
            self.died = True
            self.nodes[A].crash(True)
            self.play.cluster.clock.after(12 * SECOND, self.nodes[A].start)
        return self.died and source == A and self.nodes[A].endpoint is None

    def look(self) -> None:
        """What b and c say that they wait for."""
        for node in self.nodes[B:]:
            found = membership(node).awaiting(node._local.seconds(self.play.cluster.clock.now_ns))
            assert found is not None
            self.told.append((found.reason, found.missing, (*found.here, *found.others)))


def test_a_view_that_may_have_been_decided_waits_for_who_may_have_gone_on_alone() -> None:
    alone = AcceptedAndAlone()
    trace = alone.play.run().trace
    assert alone.died
    assert ("bound", ("a",), ("b", "c")) in alone.told
    views = [view for view in trace.of(Viewed) if view.t > 2 * SECOND]
    assert min(view.t for view in views) > 14 * SECOND  # a is back
    assert len(lineages(trace)) == 1


def test_an_operator_can_have_the_others_go_on_without_it() -> None:
    alone = AcceptedAndAlone(fault(9.0, "waive", B, A, for_s=4.0))
    trace = alone.play.run().trace
    assert alone.died
    gone_on = [view for view in trace.of(Viewed) if view.t > 9 * SECOND]
    assert min(view.t for view in gone_on) < 13 * SECOND
    assert len(lineages(trace, 9.0)) == 1
    assert len(lineages(trace)) == 2


@pytest.mark.xfail(strict=True, reason="who may have gone on alone is waited for: decision 86")
def test_a_whole_majority_goes_on_by_itself_though_one_may_have_decided_a_view_alone() -> None:
    trace = AcceptedAndAlone().play.run().trace
    views = [view for view in trace.of(Viewed) if view.t > 5 * SECOND]
    assert min(view.t for view in views) < 14 * SECOND
