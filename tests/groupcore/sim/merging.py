"""Clusters that split and meet again, for the tests of merging."""

from __future__ import annotations

from random import Random

from groupcore.membership.state import MembershipOptions
from groupcore.sim.checkers import Integrity, SlotAgreement, TotalOrder, check_all
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.cluster import MakeStack
from groupcore.sim.fault import Fault, Send
from groupcore.sim.run import Verdict
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Viewed
from groupcore.stack import Stack
from groupcore.stacks import DataPlane, StackOptions, compose
from groupcore.transport import TransportOptions
from groupcore.view import Address

SPLIT_S, HEALED_S = 3, 6
MERGED_WITHIN_S = 5.0
"""What the issue allows from the healing to one view."""
SAFE = (Integrity, SlotAgreement, TotalOrder)
"""What holds in partitionable groups too: a place holds one message, in all components."""


def partitionable(spec: str) -> MakeStack:
    """Makes that stack with the merge policy `application`."""

    def make_stack(
        scenario: Scenario,
        address: Address,
        random: Random,
        transport: TransportOptions,
        lineage: bytes | None,
        plane: DataPlane | None,
    ) -> Stack:
        membership = MembershipOptions(
            cluster_size=scenario.nodes, durable=True, merge_policy="application"
        )
        body_bytes_max = transport.packet_bytes_max - 1024
        options = StackOptions(membership=membership, body_bytes_max=body_bytes_max)
        return compose(spec, address, random, options, lineage, plane)

    return make_stack


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
