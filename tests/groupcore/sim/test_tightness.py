"""Tight limits: each changes the options, is drawn at times, and lets a calm cluster work."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Send
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import run_scenario
from groupcore.sim.scenario import Scenario, draw_scenario
from groupcore.sim.tightness import POINTS, STACK_POINTS, tighten_stack, tighten_transport
from groupcore.stacks import StackOptions
from groupcore.transport import TransportOptions


@pytest.mark.parametrize("point", STACK_POINTS)
def test_each_point_of_a_stack_changes_its_options(point: str) -> None:
    assert tighten_stack(StackOptions(), (point,)) != StackOptions()


@pytest.mark.parametrize("point", ["tables", "counters"])
def test_each_point_of_the_transport_changes_its_options(point: str) -> None:
    options = TransportOptions()
    assert tighten_transport(options, (point,), 3, Random(1)) != options


def test_nothing_is_tight_by_default() -> None:
    assert tighten_stack(StackOptions(), ()) == StackOptions()
    assert tighten_transport(TransportOptions(), (), 3, Random(1)) == TransportOptions()


def test_every_point_is_drawn_and_half_of_the_schedules_have_none() -> None:
    drawn = [draw_scenario(seed).tight for seed in range(300)]
    assert {point for tight in drawn for point in tight} == set(POINTS)
    assert 100 < drawn.count(()) < 200


@pytest.mark.parametrize("point", POINTS)
def test_a_calm_cluster_delivers_everything_with_a_tight_limit(point: str) -> None:
    sends = [Send(SECOND + n * 20 * MILLISECOND, n % 3, (24, 1_500)) for n in range(40)]
    calm = Scenario(7, 3, (0, 0, 0), 2 * SECOND, datagram_bytes_max=1_400, sends=tuple(sends))
    profile = PROFILES["stack"]
    verdict = run_scenario(replace(calm, tight=(point,)), profile.make_stack)
    assert verdict.violations == []
    assert verdict.deliveries == 3 * len(verdict.trace.sent)
