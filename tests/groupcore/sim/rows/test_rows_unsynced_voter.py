"""A voter of a channel that has not stored what its application was given: open, kept as it is.

Of a, b and c, the disk of a's application hangs; what b and c have stored is saved. c dies, a and b
go on as [a b]. Then both stop, and a, the first of two, starts alone: its record is of that view,
and its journal of before. What b and c have stored and was said to be saved is not in the state
with which a goes on. A node with a log of groups does not vote so (decision 0042).
"""

from __future__ import annotations

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.run import Verdict, run_cluster
from tests.groupcore.sim.rows.playing import FORMED_S, Play, fault, scenario, sends

A, B, C = range(3)
HANGS_S, DIES_S, ALONE_S, BACK_S, END_S = 2.0, 2.5, 0.5, 9.0, 14.0


class UnsyncedVoter:
    """a and b stop as soon as a is in the view without c; a starts again at once, b later."""

    def __init__(self, *, syncs: bool) -> None:
        crash = fault(DIES_S, "crash", C, for_s=BACK_S - DIES_S)
        traffic = sends(FORMED_S, END_S - 3.0, 0.04, A, B)
        self.play = Play(scenario(crash, length_s=END_S, traffic=traffic))
        self.nodes = self.play.cluster.nodes
        self.stopped = False
        if not syncs:
            self.play.at(HANGS_S, lambda: self.nodes[A].disk._syncs.clear())
            self.play.at(HANGS_S, self.hang)
        self.play.lose(self.is_lost)

    def hang(self) -> None:
        """No fsync of what a's application has written ends from here on."""
        self.nodes[A].disk.sync = lambda done: None  # type: ignore[method-assign]

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        a, b, _ = self.nodes
        views = [node.view.names for node in (a, b) if node.view is not None]
        if not self.stopped and views == [("a", "b")] * 2:
            self.stopped = True
            a.disk._unsafe.clear()
            a.crash(False)
            b.crash(False)
            clock = self.play.cluster.clock
            vars(a.disk).pop("sync", None)  # another disk is in its place
            clock.after(round(ALONE_S * SECOND), a.start)
            clock.at(round(BACK_S * SECOND), b.start)
        return False

    def run(self) -> Verdict:
        verdict = run_cluster(self.play.cluster)
        assert self.stopped
        return verdict


def test_what_was_saved_is_there_when_all_have_stored_it() -> None:
    assert UnsyncedVoter(syncs=True).run().violations == []


@pytest.mark.xfail(strict=True, reason="a channel's view change waits for no disk")
def test_what_was_saved_is_there_though_a_voter_has_not_stored_it() -> None:
    assert UnsyncedVoter(syncs=False).run().violations == []
