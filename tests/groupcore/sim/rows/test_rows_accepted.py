"""A node that has accepted a view and stops before it begins it: its disk counts in that view.

d crashes. c accepts [a b c], which a decides with that, and b begins, and crashes before it hears
of that. Then a hears nobody. b and c are two of the three voters, but what c's disk knows to be
decided is the former view. It hears of the later one from b, which has no quorum by itself, and
says that it knows it; so b counts on its vote, and does not leave the word to a.
"""

from __future__ import annotations

from groupcore.sim.clock import SECOND
from groupcore.sim.run import run_cluster
from groupcore.stacks import read_record
from tests.groupcore.sim.rows.playing import Play, fault, names, scenario, sends, views_between

A, B, C, D = range(4)
LOST_S, DEAF_S, AGAIN_S, END_S = 2.0, 3.2, 1.5, 9.0


def test_a_view_goes_on_with_one_who_accepted_it_and_stopped_before_it_began() -> None:
    falls = fault(LOST_S, "crash", D, for_s=20.0), fault(DEAF_S, "deaf", A, for_s=20.0)
    play = Play(scenario(*falls, nodes=4, length_s=END_S, traffic=sends(1.0, LOST_S, 0.1, A)))
    clock, node, other = play.cluster.clock, play.cluster.nodes[C], play.cluster.nodes[B]
    stopped: list[int] = []

    def is_lost(source: int, target: int, data: bytes) -> bool:
        """What is said to c behind its acceptance; c stops when b has begun the view."""
        record = read_record(node.disk.lineage)
        if target != C or record.accepted is None or clock.now_ns < LOST_S * SECOND:
            return False
        if not stopped and other.view == record.accepted.view:
            stopped.append(record.number)
            node.crash(keep_all=True)
            clock.after(round(AGAIN_S * SECOND), node.start)
        return not stopped or not node.alive

    play.lose(is_lost)
    verdict = run_cluster(play.cluster)
    assert (verdict.violations, stopped) == ([], [1])
    again = views_between(verdict.trace, LOST_S + AGAIN_S, END_S)
    assert {names(view) for view in again} == {"bc"}
