"""Profiles: which stack is run, and from what its schedules are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from groupcore.membership.state import MembershipOptions
from groupcore.sim.checkers import CHECKERS, UNORDERED, Checker
from groupcore.sim.cluster import MakeStack
from groupcore.sim.scenario import Scenario, draw_large_scenario, draw_scenario
from groupcore.stack import Stack
from groupcore.stacks import DEFAULT_STACK, LARGE_GROUP_STACK, StackOptions, compose
from groupcore.transport import TransportOptions
from groupcore.view import Address


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of schedule: how one is drawn from its seed, what runs in it, what it is judged by."""

    name: str
    draw: Callable[[int], Scenario]
    make_stack: MakeStack
    checkers: tuple[type[Checker], ...] = CHECKERS


def make_default_stack(
    scenario: Scenario,
    address: Address,
    random: Random,
    transport: TransportOptions,
    lineage: bytes | None,
) -> Stack:
    """The stack that nodes use, for a cluster of all nodes of the scenario."""
    membership = MembershipOptions(
        cluster_size=scenario.nodes, application_state=True, durable=True, absorb=False
    )
    options = StackOptions(membership=membership, body_bytes_max=transport.packet_bytes_max - 1024)
    return compose(DEFAULT_STACK, address, random, options, lineage)


def make_large_group_stack(
    scenario: Scenario,
    address: Address,
    random: Random,
    transport: TransportOptions,
    lineage: bytes | None,
) -> Stack:
    """The stack for large groups: no order between senders, no application state."""
    membership = MembershipOptions(cluster_size=scenario.nodes, durable=True, absorb=False)
    options = StackOptions(membership=membership, body_bytes_max=transport.packet_bytes_max - 1024)
    return compose(LARGE_GROUP_STACK, address, random, options, lineage)


PROFILES: dict[str, Profile] = {
    "stack": Profile("stack", draw_scenario, make_default_stack),
    "gossip": Profile("gossip", draw_large_scenario, make_large_group_stack, UNORDERED),
}
"""The profiles by name."""


def profile_of(name: str, index: int) -> Profile:
    """The profile of a schedule: the one of that name, or by turns each of them for `all`."""
    if name != "all":
        return PROFILES[name]
    profiles = list(PROFILES.values())
    return profiles[index % len(profiles)]
