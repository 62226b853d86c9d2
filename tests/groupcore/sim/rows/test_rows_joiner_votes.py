"""A joiner that has no state yet is a learner: nobody waits for its vote.

Of a, b and c, d is taken in; a, from which it takes the state, and d die at once. b and c are a
majority of the voters a, b and c, as before. When d has the state it votes, from a later view on.
"""

from __future__ import annotations

from groupcore.sim.clock import SECOND
from groupcore.sim.trace import Viewed
from tests.groupcore.sim.rows.playing import Play, scenario, sends

A, B, _, D = range(4)
DOWN_S = 8.0


class DonorAndJoinerDie:
    """a and d crash as soon as b is in a view with d, and start again `DOWN_S` later."""

    def __init__(self) -> None:
        traffic = sends(1.0, 2.9, 0.04, A, B)
        self.play = Play(scenario(nodes=4, length_s=16, traffic=traffic, starts_s={D: 3.0}))
        self.nodes = self.play.cluster.nodes
        self.died_ns = 0
        self.play.lose(self.is_lost)

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        view = self.nodes[B].view
        if not self.died_ns and view is not None and "d" in view.names:
            clock = self.play.cluster.clock
            self.died_ns = clock.now_ns
            for index in (A, D):
                self.nodes[index].crash(True)
                clock.after(round(DOWN_S * SECOND), self.nodes[index].start)
        return False


def first_view_s(died: DonorAndJoinerDie) -> float:
    """Seconds from the deaths to the next view of b."""
    views = [view.t for view in died.play.run().trace.of(Viewed) if view.n == "b"]
    assert died.died_ns
    return (min(t for t in views if t > died.died_ns) - died.died_ns) / SECOND


def test_two_whole_nodes_go_on_though_the_donor_and_the_joiner_have_died() -> None:
    assert first_view_s(DonorAndJoinerDie()) < 2.0
