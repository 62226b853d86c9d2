"""One of two disks with the state is lost while a view is formed from disk, at each step of that.

The power of a, b and c is cut; c's disk was slow, so a and b have more of the order than c. a
proposes a view from disk, which names a and b as those with the state: both have to accept. One of
them loses its disk behind its vote, behind its acceptance, or when it has begun the view alone; and
comes back empty. The other one and c go on with the same view, whatever the lost node had come to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.node import Node
from groupcore.sim.plant_schedules_groups import CAUSAL, join, move, scenario, sends
from groupcore.sim.profiles import PROFILES
from groupcore.sim.quorums import accepted, proposed
from groupcore.sim.run import run_cluster
from groupcore.sim.trace import Trace, Viewed
from groupcore.stacks import read_record
from groupcore.view import View
from tests.groupcore.sim.rows.playing import Play, membership, names, views_between

A, B, C = range(3)
CUT_MS, BACK_S, LENGTH_S = 3_000, 0.2, 12
DECIDED_S = 3.0
"""The lost node is back after 0.5 s; an attempt that waits for it ends after 1 s."""
BACK_IN_S = 8.0
"""Until it is a member again: its former life is one until it is missed, and it takes the state."""

BEHIND: GroupScenario = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *sends([(0, 0, 0), (1, 0, 0)], 1_500, CUT_MS - 10, 20),
            *(move(2_100 + 100 * number, number % 2, 0) for number in range(8)),
            *sends([(0, 0, 0), (2, 0, 0)], 7_000, LENGTH_S * 1_000 - 1_000, 40),
        ],
        (CAUSAL,),
        faults=(
            Fault(2 * SECOND, "disk-slow", (C,), SECOND, 30_000),
            Fault(CUT_MS * MILLISECOND, "crash-all", (), round(BACK_S * SECOND)),
        ),
        length_s=LENGTH_S,
    ),
    durable=True,
)
"""c has stored nothing of what was ordered and sent in the last second."""


def has_proposed(node: Node) -> bool:
    attempt = None if node.endpoint is None else membership(node).proposer.attempt
    return attempt is not None and attempt.proposal is not None


def has_accepted(node: Node) -> bool:
    return read_record(node.disk.lineage).accepted is not None


def has_begun(node: Node) -> bool:
    return node.view is not None


class Lost:
    """`lost` loses its disk when `watched` has come so far; what it said last arrives nowhere."""

    def __init__(self, lost: int, watched: int, come_so_far: Callable[[Node], bool]) -> None:
        self.profile = PROFILES["durable"]
        self.play = Play(BEHIND, "durable")
        self.play.cluster = self.profile.make_cluster(BEHIND, self.profile.make_stack)
        nodes = self.play.cluster.nodes
        self.lost, self.watched, self.come_so_far = nodes[lost], nodes[watched], come_so_far
        self.proposed: View | None = None
        self.at_s = 0.0
        self.play.lose(self.is_lost)
        # What the slow disk had been asked for before the power was cut holds up nothing any more.
        self.play.at(CUT_MS / 1_000 + BACK_S / 2, nodes[C].disk.heal)

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        nodes, clock = self.play.cluster.nodes, self.play.cluster.clock
        if clock.now_ns < (CUT_MS + 1_000 * BACK_S) * MILLISECOND:
            return False
        if not self.at_s and self.come_so_far(self.watched):
            self.at_s = clock.now_ns / SECOND
            self.proposed = next(
                view for node in nodes for view in (*proposed(node), *accepted(node))
            )
            self.lost.crash(keep_all=True)
            self.lost.lose_disk()
            clock.after(SECOND // 2, self.lost.start)
        return bool(self.at_s) and not self.lost.alive and nodes[source] is self.lost

    def run(self) -> Trace:
        verdict = run_cluster(self.play.cluster, self.profile.checkers)
        assert not verdict.violations, [str(violation) for violation in verdict.violations]
        return verdict.trace


@pytest.mark.parametrize(
    ("lost", "watched", "come_so_far"),
    [
        (B, A, has_proposed),
        (B, B, has_accepted),
        (B, A, has_begun),
        (A, A, has_accepted),
        (A, A, has_begun),
        (A, C, has_accepted),
    ],
)
def test_row_19_the_others_go_on_with_the_view_that_needs_a_lost_disk(
    lost: int, watched: int, come_so_far: Callable[[Node], bool]
) -> None:
    played = Lost(lost, watched, come_so_far)
    trace = played.run()
    assert played.proposed is not None
    assert played.proposed.voters == ("a", "b", "c")
    decided = [view for view in trace.of(Viewed) if view.number == played.proposed.number]
    assert {(view.epoch, view.members) for view in decided} == {
        (played.proposed.epoch, played.proposed.members)
    }
    others = {"a", "b", "c"} - {played.lost.name}
    assert others <= {view.n for view in decided}
    assert max(view.t for view in decided) < (played.at_s + DECIDED_S) * SECOND
    assert len({view.lineage for view in trace.of(Viewed)}) == 1
    back = [view for view in views_between(trace, played.at_s, LENGTH_S) if len(names(view)) == 3]
    assert back[-1].t < (played.at_s + BACK_IN_S) * SECOND
