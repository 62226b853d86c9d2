"""One of two disks with the state is lost while a view is formed from disk, at each step of that.

The power of a, b and c is cut; c's disk was slow, so a and b have more of the order than c. a
proposes a view from disk, which names a and b as those with the state: both have to accept. One of
them loses its disk behind its vote, behind its acceptance, or when it has begun the view alone; and
comes back empty. The other one and c go on with the same view, whatever the lost node had come to.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.node import Node
from groupcore.sim.plant_schedules_durable import ONE_BEHIND
from groupcore.sim.profiles import PROFILES
from groupcore.sim.quorums import accepted, proposed
from groupcore.sim.run import run_cluster
from groupcore.sim.trace import Trace, Viewed
from groupcore.stacks import read_record
from groupcore.view import View
from tests.groupcore.sim.rows.playing import (
    Play,
    fault,
    membership,
    names,
    scenario,
    sends,
    views_between,
)

A, B, C = range(3)
BACK_S, LENGTH_S = 3.2, 12
CUT_S = 2.0
DECIDED_S = 3.0
"""The lost node is back after 0.5 s; an attempt that waits for it ends after 1 s."""
BACK_IN_S = 8.0
"""Until it is a member again: its former life is one until it is missed, and it takes the state."""


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
        self.play = Play(ONE_BEHIND, "durable")
        self.play.cluster = self.profile.make_cluster(ONE_BEHIND, self.profile.make_stack)
        nodes = self.play.cluster.nodes
        self.lost, self.watched, self.come_so_far = nodes[lost], nodes[watched], come_so_far
        self.proposed: View | None = None
        self.at_s = 0.0
        self.play.lose(self.is_lost)

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        nodes, clock = self.play.cluster.nodes, self.play.cluster.clock
        if clock.now_ns < BACK_S * SECOND:
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
def test_row_40_the_others_go_on_with_the_view_that_needs_a_lost_disk(
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


def has_begun_without_c(node: Node) -> bool:
    return node.view is not None and node.view.names == ("a", "b")


@pytest.mark.parametrize(
    ("watched", "come_so_far"), [(A, has_begun_without_c), (A, has_accepted), (B, has_accepted)]
)
@pytest.mark.parametrize("other", ["isolate", "crash"])
def test_row_40_an_orderly_view_whose_decider_loses_its_disk_stays_the_next_one(
    watched: int, come_so_far: Callable[[Node], bool], other: str
) -> None:
    """c is away; a proposes [a b], b accepts; a loses its disk before b hears that it is decided.

    c comes back with its memory, or with its disk only.
    """
    away = fault(CUT_S, other, C, for_s=3.0)
    play = Play(scenario(away, length_s=LENGTH_S, traffic=sends(1.0, 1.9, 0.04, A, B, C)))
    first, clock = play.cluster.nodes[A], play.cluster.clock
    lost: list[int] = []

    def is_lost(source: int, target: int, data: bytes) -> bool:
        late = clock.now_ns > CUT_S * SECOND
        if late and not lost and come_so_far(play.cluster.nodes[watched]):
            lost.append(clock.now_ns)
            first.crash(keep_all=True)
            first.lose_disk()
            clock.after(SECOND, first.start)
        return bool(lost) and source == A and not first.alive

    play.lose(is_lost)
    trace = play.run().trace
    assert lost
    (second,) = {view.members for view in trace.of(Viewed) if view.number == 2}
    assert [member.name for member in second] == ["a", "b"]
    *_, last = views_between(trace, lost[0] / SECOND, LENGTH_S)
    assert sorted(names(last)) == ["a", "b", "c"]
