"""Rows 15 and 16 of the fault matrix: views that may be decided, of which nobody living knows."""

from __future__ import annotations

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.node import Node
from groupcore.stacks import read_record
from tests.groupcore.sim.rows.playing import (
    Play,
    fault,
    lived,
    names,
    scenario,
    sends,
    views_between,
)

LEAVE_S = 5
"""How long a leaver waits for an answer."""


def has_accepted(node: Node, *members: str) -> bool:
    """Whether its disk says that it has accepted a view of these nodes."""
    accepted = read_record(node.disk.lineage).accepted
    return accepted is not None and tuple(m.name for m in accepted.view.members) == members


def crash_when_accepted(play: Play, by: str, members: str, *dying: str) -> None:
    """These nodes die, and stay dead, when one has a view of those members on its disk."""
    cluster = play.cluster
    nodes = {node.name: node for node in cluster.nodes}

    def look() -> None:
        if not has_accepted(nodes[by], *members):
            cluster.clock.after(MILLISECOND // 10, look)
            return
        for name in dying:
            nodes[name].crash(keep_all=False)

    cluster.clock.at(2 * SECOND, look)


def test_row_16_a_leaver_whose_successor_dies_while_it_takes_over_goes_without_an_answer() -> None:
    """By itself it was a quorum; now it may have handed that to one who can say nothing."""
    given = Play(scenario(fault(2, "leave", 0, for_s=20), nodes=2, length_s=9))
    crash_when_accepted(given, "a", "b", "b")
    verdict = given.run()
    (left,) = lived(verdict.trace, "left")
    assert left.n == "a"
    assert left.t < (2 + LEAVE_S + 0.5) * SECOND
    assert views_between(verdict.trace, 2.5, 9) == []  # and it begins no view by itself


def test_row_15_who_cannot_get_the_cut_that_all_holders_took_with_them_votes_in_a_new_life() -> (
    None
):
    """B is cut off; A and C go on, and die while they decide on it. A comes back, C does not.

    A's disk binds the voters to the view of A and C, which may have been decided. B lives in the
    former view and would have to hold its cut before it accepts: nobody has that any more.
    """
    given = Play(
        scenario(
            fault(2, "isolate", 1, for_s=3),
            fault(2, "disk-slow", 2, for_s=3, factor=40),
            length_s=12,
            traffic=sends(1.0, 5.0, 0.01, 0),
        )
    )
    crash_when_accepted(given, "a", "ac", "a", "c")
    given.at(5.0, given.cluster.nodes[0].start)
    verdict = given.run()
    assert [record.n for record in lived(verdict.trace, "excluded")] == ["b"]
    (together,) = [view for view in views_between(verdict.trace, 5, 12) if names(view) == "ab"]
    assert together.t < (5 + 6) * SECOND  # of these three to give up, and two to look for others
