"""A view whose new member never began it: what its disk has of before is no part of a quorum.

Of a, c and d, c's disk is slow; what a and d have stored is saved. Then d leaves and b is taken in
again, so that the view is a, c and b. b and c crash before they have stored anything of it, and a
is cut off. b and c are a majority of the view by name; but b's disk is of long ago, and c's behind.
b is a learner: a and c vote, and of two the first has to be there.
"""

from __future__ import annotations

from groupcore.sim.clock import SECOND
from tests.groupcore.sim.rows.playing import (
    FORMED_S,
    Play,
    fault,
    membership,
    scenario,
    sends,
    views_between,
)

CRASH_S, BACK_S, SLOW_S, HEALED_S, END_S = 2.0, 4.0, 4.1, 9.0, 11.0
SMALL_BYTES = 120
"""A question for a vote is smaller, what tells a view to a new member is larger."""
A, NEW, SLOW, D = range(4)


class DisksBehind:
    """Loses datagrams, and lets nodes crash, by what they have come to."""

    def __init__(self) -> None:
        crash = fault(CRASH_S, "crash", NEW, for_s=BACK_S - CRASH_S)
        traffic = sends(FORMED_S, END_S - 2.0, 0.01, A)
        self.play = Play(scenario(crash, nodes=4, length_s=END_S, traffic=traffic))
        cluster = self.play.cluster
        self.nodes = cluster.nodes
        self.clock = cluster.clock
        self.voters: tuple[str, ...] = ()
        self.left = self.crashed = self.asked = self.over = False
        self.play.at(SLOW_S, lambda: self.nodes[SLOW].disk.slow_ns.append(SECOND // 7))
        self.play.at(HEALED_S, self.heal)
        self.play.lose(self.is_lost)

    def heal(self) -> None:
        """All is well; d starts again."""
        self.over = True
        for node in self.nodes:
            node.disk.heal()
            node.start()

    def look(self) -> None:
        """How far it has come, and what happens next."""
        a, new, slow, d = self.nodes
        if not self.left:
            if self.clock.now_ns > SLOW_S * SECOND and membership(a).admission.applicants:
                self.left = True
                d.leave()
        elif not self.crashed:
            if a.view is not None and a.view.names == ("a", "c", "b"):
                self.crashed = True
                self.voters = a.view.voters
                slow.crash(False)
                new.crash(True)
                self.clock.after(SECOND // 3, new.start)
        elif not self.asked and new.alive:
            self.asked = True
            slow.disk.heal()
            self.clock.after(SECOND // 10, slow.start)

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        """Whether this datagram vanishes."""
        if self.over:
            return False
        self.look()
        if self.asked:
            return A in (source, target)
        if self.left and NEW in (source, target):
            return len(data) > SMALL_BYTES
        return False


def test_a_disk_from_before_the_view_is_no_part_of_its_quorum() -> None:
    behind = DisksBehind()
    trace = behind.play.run().trace
    assert behind.asked
    assert behind.voters == ("a", "c")
    apart = [view for view in views_between(trace, SLOW_S, HEALED_S) if view.n != "a"]
    assert not [view for view in apart if {"b", "c"} <= {m.name for m in view.members[:2]}]
