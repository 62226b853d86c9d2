"""Whole clusters that split and meet again, under both merge policies."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from groupcore.membership.state import MembershipOptions
from groupcore.sim.checkers import Integrity, SlotAgreement, TotalOrder, check_all
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault, Send
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import Verdict, run_scenario
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Delivered, Viewed
from groupcore.stack import Stack
from groupcore.stacks import DEFAULT_STACK, StackOptions, compose
from groupcore.transport import TransportOptions
from groupcore.view import Address

SPLIT_S, HEALED_S = 3, 6
MERGED_WITHIN_S = 5.0
"""What the issue allows from the healing to one view."""
SAFE = (Integrity, SlotAgreement, TotalOrder)
"""What holds in partitionable groups too: a place holds one message, in all components."""


def partitionable(
    scenario: Scenario,
    address: Address,
    random: Random,
    transport: TransportOptions,
    lineage: bytes | None,
) -> Stack:
    """The default stack with the merge policy `application`."""
    membership = MembershipOptions(
        cluster_size=scenario.nodes, durable=True, merge_policy="application"
    )
    options = StackOptions(membership=membership, body_bytes_max=transport.packet_bytes_max - 1024)
    return compose(DEFAULT_STACK, address, random, options, lineage)


def scenario_of(nodes: int, *components: tuple[int, ...], more: tuple[Fault, ...] = ()) -> Scenario:
    """A cluster that these components are cut off from, and that sends all the time."""
    length_ns = (HEALED_S - SPLIT_S) * SECOND
    splits = [Fault(SPLIT_S * SECOND, "split", nodes_, length_ns) for nodes_ in components]
    sends = tuple(Send(SECOND + i * 40 * MILLISECOND, i % nodes, (60,)) for i in range(200))
    starts = tuple(10 * MILLISECOND * i for i in range(nodes))
    faults = tuple(sorted([*splits, *more], key=lambda fault: fault.at_ns))
    return Scenario(3, nodes, starts, 10 * SECOND, faults=faults, sends=sends)


def last_views(verdict: Verdict) -> dict[str, Viewed]:
    """The last view of each node."""
    return {record.n: record for record in verdict.trace.views}


def alone(verdict: Verdict) -> set[tuple[str, ...]]:
    """The components that have gone on in a view of their own, by name."""
    return {
        tuple(member.name for member in record.members)
        for record in verdict.trace.views
        if not record.lineage & 1
    }


def assert_one_view(verdict: Verdict, nodes: int) -> Viewed:
    """All nodes end in one view, in time; what is safe has held."""
    assert check_all(verdict.trace, SAFE) == []
    views = last_views(verdict)
    first = views["a"]
    assert len(first.members) == nodes
    for record in views.values():
        assert (record.number, record.members) == (first.number, first.members)
        assert record.t < (HEALED_S + MERGED_WITHIN_S) * SECOND
    return first


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
    verdict = run_scenario(scenario_of(nodes, *components), partitionable)
    assert expected <= alone(verdict)
    merged = assert_one_view(verdict, nodes)
    assert [m.name for m in merged.members] == sorted(m.name for m in merged.members)
    assert merged.recovered  # an epoch begins


def test_there_is_no_merge_loop() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), partitionable)
    after = {record.number for record in verdict.trace.views if record.t > HEALED_S * SECOND}
    assert len(after) == 1


def test_what_is_sent_in_a_component_is_delivered_by_all_of_it_and_by_nobody_else() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), partitionable)
    begin, end = (SPLIT_S + 2) * SECOND, HEALED_S * SECOND - 100 * MILLISECOND
    sent = {s.mid for s in verdict.trace.sent if begin < s.t < end and s.n in "de"}
    assert sent
    for node in "abcde":
        got = {d.mid for d in verdict.trace.of(Delivered) if d.n == node}
        assert sent <= got if node in "de" else not sent & got


def test_what_is_sent_during_the_merge_arrives_everywhere_once() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), partitionable)
    merged = assert_one_view(verdict, 5)
    around = range(merged.t - 30 * MILLISECOND, merged.t + 30 * MILLISECOND)
    dense = tuple(Send(t, i % 5, (60,)) for i, t in enumerate(around[:: 2 * MILLISECOND]))
    scenario = scenario_of(5, (3, 4))
    sends = tuple(sorted([*scenario.sends, *dense], key=lambda send: send.at_ns))
    verdict = run_scenario(replace(scenario, sends=sends), partitionable)
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
    verdict = run_scenario(scenario_of(5, (3, 4), more=(crash,)), partitionable)
    assert check_all(verdict.trace, SAFE) == []
    views = last_views(verdict)
    assert len({record.number for record in views.values()}) == 1
    assert len(views["a"].members) == 5


def test_under_the_policy_primary_the_minority_forms_no_view_and_rejoins_in_time() -> None:
    verdict = run_scenario(scenario_of(5, (3, 4)), PROFILES["stack"].make_stack)
    assert verdict.violations == []
    assert alone(verdict) == set()
    assert_one_view(verdict, 5)
