"""A folder that goes back as a whole, as from a backup: nothing on its disk tells, its peers may.

What c and b save while a is away is on their disks alone. Both stop, c's folder goes back, and a
and c start again without b: two of three voters. A folder from before c's last start is found out:
the view that a knows has a life of c which that folder does not, so c has no vote
(`lacks_state_of`). One of the same life says nothing that is not true of a node that was away.
"""

from __future__ import annotations

from copy import deepcopy

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.run import Verdict, run_cluster
from tests.groupcore.sim.rows.playing import Play, fault, scenario, sends

A, B, C = range(3)
AGAIN_S, AWAY_S, STOP_S, ALONE_S, B_BACK_S, END_S = 2.5, 5.0, 7.0, 0.5, 12.0, 18.0


def put_back(taken_s: float) -> Verdict:
    """c's folder of that time is in its place again when it starts behind its last stop."""
    falls = [
        fault(AGAIN_S, "crash", C, for_s=0.4),
        fault(AWAY_S, "crash", A, for_s=STOP_S + ALONE_S - AWAY_S),
        fault(STOP_S, "crash-keep", B, for_s=B_BACK_S - STOP_S),
    ]
    play = Play(scenario(*falls, length_s=END_S, traffic=sends(1.0, STOP_S, 0.04, B, C)))
    node = play.cluster.nodes[C]
    taken: dict[str, object] = {}

    def take() -> None:
        taken.update(lineage=node.disk.lineage, _safe=deepcopy(node.disk._safe))

    def stop() -> None:
        node.crash(keep_all=True)
        for name, value in taken.items():
            setattr(node.disk, name, value)
        play.cluster.clock.after(round(ALONE_S * SECOND), node.start)

    play.at(taken_s, take).at(STOP_S, stop)
    return run_cluster(play.cluster)


def broken(verdict: Verdict) -> set[int]:
    return {violation.number for violation in verdict.violations}


def test_a_folder_of_now_loses_nothing() -> None:
    assert broken(put_back(STOP_S - 0.001)) == set()


def test_a_folder_from_before_the_last_start_has_no_vote() -> None:
    assert broken(put_back(AGAIN_S - 0.5)) == set()


@pytest.mark.xfail(strict=True, reason="a folder of the same life looks as that of a node away")
def test_a_folder_of_the_same_life_loses_nothing_that_was_saved() -> None:
    assert broken(put_back(AWAY_S - 0.5)) == set()
