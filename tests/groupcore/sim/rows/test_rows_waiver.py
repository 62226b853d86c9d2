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
"""a, b and c die; the last view is [b c] of voters a, b, c. b's disk is lost. All start at 6 s."""

LOST = (fault(2.0, "lose", A, for_s=4.0), *FALLS[1:])
"""The same, and a has lost its disk too: of the voters c alone is whole."""


def lineages(trace: Trace, since_s: float = 0.0) -> set[int]:
    return {view.lineage for view in trace.of(Viewed) if view.t >= since_s * SECOND}


def test_a_majority_of_whole_folders_goes_on_by_itself() -> None:
    """Nobody could confirm anything without two of the three; a and c have all of it."""
    traffic = sends(1.0, 1.9, 0.04, A, B, C)
    play = Play(scenario(*FALLS, length_s=12, traffic=traffic))
    trace = play.run().trace
    alone = [view for view in trace.of(Viewed) if 3.0 <= view.t / SECOND < 6.0]
    assert not alone  # c by itself is no quorum
    back = [view for view in trace.of(Viewed) if view.t >= 6 * SECOND]
    assert min(view.t for view in back) < 9 * SECOND
    assert len(lineages(trace)) == 1
    assert back[-1].voters == ("c", "a", "b")


def test_a_lost_quorum_is_not_made_up_for_and_who_is_awaited_is_said() -> None:
    traffic = sends(1.0, 1.9, 0.04, A, B, C)
    play = Play(
        scenario(*LOST, fault(14.0, "waive", C, A, B, for_s=3.0), length_s=18, traffic=traffic)
    )
    told = []

    def look() -> None:
        for node in play.cluster.nodes:
            awaiting = membership(node).awaiting(node._local.seconds(play.cluster.clock.now_ns))
            assert awaiting is not None
            told.append((awaiting.reason, awaiting.here, sorted(awaiting.empty), awaiting.needed))

    play.at(13.0, look)
    trace = play.run().trace
    assert told == [("quorum", ("c",), ["a", "b"], 2)] * 3
    assert not [view for view in trace.of(Viewed) if 6.0 <= view.t / SECOND < 14.0]
    assert len(lineages(trace)) == 2


def test_all_go_on_in_another_lineage_when_an_operator_has_said_so() -> None:
    traffic = sends(1.0, 1.9, 0.04, A, B, C)
    play = Play(
        scenario(*LOST, fault(8.0, "waive", C, A, B, for_s=3.0), length_s=12, traffic=traffic)
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


class AcceptedAndGone:
    """a, b and c; c is cut off. a proposes [a b] and dies when b has accepted it: a may have
    decided it. b and c, both whole, are a majority of the voters of both views."""

    def __init__(self, *faults: Fault) -> None:
        cut = fault(2.0, "isolate", C, for_s=3.0)
        traffic = sends(1.0, 1.9, 0.04, A, B, C)
        self.play = Play(scenario(cut, *faults, length_s=18, traffic=traffic))
        self.nodes = self.play.cluster.nodes
        self.died = False
        self.told: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
        self.play.lose(self.is_lost)
        self.play.at(4.8, self.look)

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        accepted = read_record(self.nodes[B].disk.lineage).accepted
        if not self.died and accepted is not None and accepted.view.names == ("a", "b"):
            self.died = True
            self.nodes[A].crash(True)
            self.play.cluster.clock.after(12 * SECOND, self.nodes[A].start)
        return self.died and source == A and self.nodes[A].endpoint is None

    def look(self) -> None:
        """What b says that it waits for, while c is still cut off."""
        now = self.play.cluster.clock.now_ns
        found = membership(self.nodes[B]).awaiting(self.nodes[B]._local.seconds(now))
        assert found is not None
        self.told.append((found.reason, found.here, found.missing))


def test_a_whole_majority_goes_on_by_itself_though_one_may_have_decided_a_view() -> None:
    gone = AcceptedAndGone()
    trace = gone.play.run().trace
    assert gone.died
    assert gone.told == [("quorum", ("b",), ("a", "c"))]
    views = [view for view in trace.of(Viewed) if view.t > 2 * SECOND]
    assert min(view.t for view in views) < 8 * SECOND  # c is heard again from 5 s on
    assert views[-1].t > 14 * SECOND  # and a is taken in
    assert len(lineages(trace)) == 1


def test_what_a_view_of_two_voters_may_have_become_waits_for_its_first() -> None:
    """Of a and b, where no third votes, a may go on alone: b waits, and an operator can end it."""
    falls = (fault(3.0, "crash", B, for_s=3.0), fault(5.0, "crash", A, for_s=6.0))
    traffic = sends(1.0, 1.9, 0.04, A, B)
    trace = Play(scenario(*falls, nodes=2, length_s=14, traffic=traffic)).run().trace
    assert not [view for view in trace.of(Viewed) if 5.0 <= view.t / SECOND < 11.0]
    waived = Play(
        scenario(
            *falls, fault(7.0, "waive", B, A, for_s=3.0), nodes=2, length_s=16, traffic=traffic
        )
    )
    assert len(lineages(waived.run().trace)) == 2
