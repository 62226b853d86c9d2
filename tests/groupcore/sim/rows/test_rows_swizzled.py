"""Swizzled cuts: everything to some nodes fails, one direction after the other, and heals so."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.aio.lives import RejoinPace
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.link import Manner
from tests.groupcore.sim.rows.playing import Play, scenario

BACK_S = 5.0
NODES = 5
END_S = 9.0


@pytest.mark.parametrize("manner", ["stop", "jam"])
@pytest.mark.parametrize("seed", [0, 3])
def test_row_18_after_swizzled_cuts_five_nodes_are_in_one_view_within_five_seconds(
    manner: Manner, seed: int
) -> None:
    random = Random(seed)
    cuts = [
        Fault(
            round((3 + number) * SECOND),
            "swizzle",
            tuple(random.sample(range(NODES), random.randint(2, NODES))),
            round((END_S - 3 - number) * SECOND),
            1,
            manner,
        )
        for number in range(4)
    ]
    running = Play(scenario(*cuts, nodes=NODES, length_s=END_S + BACK_S, traffic=[]))
    unwell: list[float] = []

    def look() -> None:
        views = [node.view for node in running.cluster.nodes]
        whole = all(view is not None and len(view.members) == NODES for view in views)
        if not whole or len(set(views)) > 1:
            unwell.append(running.cluster.clock.now_ns / SECOND)

    for tenth in range(round(10 * (END_S + BACK_S))):
        if tenth > 20:
            running.at(tenth / 10, look)
    running.run()
    assert unwell, "the cuts have cut nothing"
    assert max(unwell) <= END_S + BACK_S


def test_row_18_three_exclusions_in_a_row_cost_less_than_two_seconds_of_waiting() -> None:
    """What the simulator leaves out: a node itself waits before it comes back."""
    pace = RejoinPace()
    now, waited = 0.0, 0.0
    for _ in range(3):
        pause = pace.delay_s(now)
        waited += pause
        now += pause + 1.5
    assert waited < 2.0
