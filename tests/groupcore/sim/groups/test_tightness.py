"""Tight limits of the service: each changes the options, is drawn, and lets a calm cluster work."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from groupcore.sequencing.names import Order
from groupcore.sequencing.options import ServiceOptions
from groupcore.sim.groups.drawing import draw_groups
from groupcore.sim.groups.tightness import SERVICE_POINTS, draw_points, tighten_service
from groupcore.sim.trace_groups import GroupDelivered, GroupVolatile
from tests.groupcore.sim.rows.playing_groups import SEQUENCING, GroupPlay, members, moves, traffic


@pytest.mark.parametrize("point", SERVICE_POINTS)
def test_each_point_changes_the_options(point: str) -> None:
    assert tighten_service(ServiceOptions(), (point,)) != ServiceOptions()


def test_nothing_is_tight_by_default_and_every_point_is_drawn() -> None:
    assert tighten_service(ServiceOptions(), ()) == ServiceOptions()
    drawn = [draw_points(Random(seed)) for seed in range(300)]
    assert {point for points in drawn for point in points} == set(SERVICE_POINTS)
    assert 100 < drawn.count(()) < 200
    assert {point for seed in range(100) for point in draw_groups(seed).points}


@pytest.mark.parametrize("point", SERVICE_POINTS)
def test_a_calm_cluster_delivers_everything_with_a_tight_limit(point: str) -> None:
    play = GroupPlay(
        members({0: "a0 b0 c0", 1: "a0 b0"}),
        traffic(1.5, 2.5, 0.02, [("a0", 0), ("b0", 1), ("c0", 0)]),
        moves(2.0, "b", 0),
        length_s=3.0,
    )
    verdict = SEQUENCING.play(replace(play.scenario, points=(point,)))
    assert verdict.violations == []
    assert len(verdict.trace.of(GroupDelivered)) > 100


def test_volatile_messages_reach_the_members() -> None:
    play = GroupPlay(
        members({0: "a0 b0"}),
        traffic(1.5, 2.5, 0.02, [("a0", 0), ("b0", 0)]),
        orders=(Order.VOLATILE,),
        length_s=3.0,
    )
    given = {(r.n, r.process[0]) for r in play.run().trace.of(GroupVolatile)}
    assert given == {(to, by) for to in "ab" for by in "ab"}
