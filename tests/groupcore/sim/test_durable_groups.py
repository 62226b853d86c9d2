"""Groups on disk while power is cut and disks are lost: the profile `durable`."""

from __future__ import annotations

import pytest

from groupcore.sim.checkers.group_saved import SavedIsKept
from groupcore.sim.jobs import Job
from groupcore.sim.menu import LOSES_DISK
from groupcore.sim.profiles import PROFILES
from groupcore.sim.trace import DISK_LOST, Trace
from groupcore.sim.trace_groups import GroupHolds, GroupSaved
from groupcore.sim.trace_streams import StreamKept

DURABLE = PROFILES["durable"]


@pytest.mark.parametrize("seed", [212, 236])
def test_what_is_saved_is_there_in_the_end(seed: int) -> None:
    verdict = DURABLE.play(DURABLE.draw(seed))
    assert verdict.violations == []
    assert verdict.trace.of(GroupSaved)
    assert verdict.trace.of(GroupHolds)


def test_disks_are_lost_in_some_schedules() -> None:
    drawn = (DURABLE.draw(seed) for seed in range(50))
    hit = [one for one in drawn if any(fault.kind in LOSES_DISK for fault in one.faults)]
    assert len(hit) > 5
    assert all(sum(fault.kind in LOSES_DISK for fault in one.faults) == 1 for one in hit)
    lives = Job("durable", 78, 451, "").verdict().trace.lives
    assert any(life.what == DISK_LOST for life in lives)


def test_what_a_quorum_has_stored_is_there_though_who_has_it_votes_no_more() -> None:
    """Of five nodes that lose power, the only one that is back and has it is a learner at first."""
    job = Job("durable", 1, 3, "d-ends-of-members")
    left_out = DURABLE.play(job.scenario)
    after = [view for view in left_out.trace.views if view.epoch == 2]
    assert [member.name for member in after[0].members] == ["a", "b", "e"]
    assert "e" not in after[0].voters
    assert left_out.violations == []
    assert {violation.number for violation in job.verdict().violations} == {18}


def test_saving_before_the_disk_has_is_found() -> None:
    found = Job("durable", 1, 10, "d-saved-unstored").verdict().violations
    assert {violation.number for violation in found} == {18}


def test_a_node_that_drops_what_it_has_said_to_have_saved_is_found() -> None:
    job = Job("durable", 1, 17, "d-unrested")
    clean = DURABLE.play(job.scenario)
    assert clean.violations == []
    assert any(one.promised == one.kept for one in clean.trace.of(StreamKept))
    assert {violation.number for violation in job.verdict().violations} == {18}


def test_what_a_node_begins_with_is_judged_by_what_it_has_promised() -> None:
    kept = StreamKept(5, "a", 2, ("b", 1), promised=3, kept=3)
    lacking = kept._replace(kept=2)
    assert SavedIsKept().check(Trace([kept])) == []
    [found] = SavedIsKept().check(Trace([kept, lacking]))
    assert found.text == "a#2 begins with frame 2 of b#1, and has said to have saved 3"
