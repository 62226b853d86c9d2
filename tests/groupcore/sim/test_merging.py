"""Whole clusters that split and meet again, under both merge policies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.sim.checkers import check_all
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault, Send
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import run_scenario
from groupcore.sim.trace import Delivered
from groupcore.stacks import DEFAULT_STACK
from tests.groupcore.sim.merging import (
    HEALED_S,
    SAFE,
    SPLIT_S,
    alone,
    assert_one_view,
    last_views,
    partitionable,
    scenario_of,
)

PARTITIONABLE = partitionable(DEFAULT_STACK)


@pytest.mark.parametrize(
    ("nodes", "components", "expected"),
    [
        (5, ((3, 4),), {("d", "e")}),
        (5, ((0, 1),), {("a", "b")}),  # the coordinator's side is the smaller one
        (5, ((0, 1), (2,)), {("a", "b"), ("c",), ("d", "e")}),
        (3, ((0,), (1,)), {("a",), ("b",), ("c",)}),
        (2, ((1,),), {("b",)}),
    ],
)
def test_components_go_on_alone_and_merge_when_they_meet(
    nodes: int, components: tuple[tuple[int, ...], ...], expected: set[tuple[str, ...]]
) -> None:
    verdict = run_scenario(scenario_of(nodes, *components), PARTITIONABLE)
    assert expected <= alone(verdict)
    merged = assert_one_view(verdict, nodes)
    assert [m.name for m in merged.members] == sorted(m.name for m in merged.members)
    assert merged.recovered  # an epoch begins


def test_there_is_no_merge_loop() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), PARTITIONABLE)
    after = {record.number for record in verdict.trace.views if record.t > HEALED_S * SECOND}
    assert len(after) == 1


def test_what_is_sent_in_a_component_is_delivered_by_all_of_it_and_by_nobody_else() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), PARTITIONABLE)
    begin, end = (SPLIT_S + 2) * SECOND, HEALED_S * SECOND - 100 * MILLISECOND
    sent = {s.mid for s in verdict.trace.sent if begin < s.t < end and s.n in "de"}
    assert sent
    for node in "abcde":
        got = {d.mid for d in verdict.trace.of(Delivered) if d.n == node}
        assert sent <= got if node in "de" else not sent & got


def test_what_is_sent_during_the_merge_arrives_everywhere_once() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), PARTITIONABLE)
    merged = assert_one_view(verdict, 5)
    around = range(merged.t - 30 * MILLISECOND, merged.t + 30 * MILLISECOND)
    dense = tuple(Send(t, i % 5, (60,)) for i, t in enumerate(around[:: 2 * MILLISECOND]))
    scenario = scenario_of(5, (3, 4))
    sends = tuple(sorted([*scenario.sends, *dense], key=lambda send: send.at_ns))
    verdict = run_scenario(replace(scenario, sends=sends), PARTITIONABLE)
    merged = assert_one_view(verdict, 5)
    late = {s.mid for s in verdict.trace.sent if s.t > merged.t}
    assert late
    for node in "abcde":
        got = [d.mid for d in verdict.trace.of(Delivered) if d.n == node]
        assert late <= set(got)
        assert len(got) == len(set(got))


@pytest.mark.parametrize("after_ms", [300, 500, 700, 900, 1_000, 1_100, 1_300])
@pytest.mark.parametrize("victim", [0, 3])
def test_whoever_dies_at_whatever_step_of_the_merge_the_others_come_together(
    victim: int, after_ms: int
) -> None:
    crash = Fault(HEALED_S * SECOND + after_ms * MILLISECOND, "crash", (victim,), SECOND)
    verdict = run_scenario(scenario_of(5, (3, 4), more=(crash,)), PARTITIONABLE)
    assert check_all(verdict.trace, SAFE) == []
    views = last_views(verdict)
    assert len({record.number for record in views.values()}) == 1
    assert len(views["a"].members) == 5


def test_under_the_policy_primary_the_minority_forms_no_view_and_rejoins_in_time() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), PROFILES["stack"].make_stack)
    assert verdict.violations == []
    assert alone(verdict) == set()
    assert_one_view(verdict, 5)
