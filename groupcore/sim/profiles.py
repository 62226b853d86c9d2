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
from groupcore.stacks import (
    DEFAULT_STACK,
    LARGE_GROUP_STACK,
    TOTAL_STACK,
    StackOptions,
    compose,
)
from groupcore.transport import TransportOptions
from groupcore.view import Address


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of schedule: how one is drawn from its seed, what runs in it, what it is judged by."""

    name: str
    draw: Callable[[int], Scenario]
    make_stack: MakeStack
    checkers: tuple[type[Checker], ...] = CHECKERS


def stack_maker(spec: str, application_state: bool = True) -> MakeStack:
    """Makes that stack for each life, of a cluster of all nodes of the scenario."""

    def make_stack(
        scenario: Scenario,
        address: Address,
        random: Random,
        transport: TransportOptions,
        lineage: bytes | None,
    ) -> Stack:
        membership = MembershipOptions(
            cluster_size=scenario.nodes,
            application_state=application_state,
            durable=True,
            absorb=False,
        )
        body_bytes_max = transport.packet_bytes_max - 1024
        options = StackOptions(membership=membership, body_bytes_max=body_bytes_max)
        return compose(spec, address, random, options, lineage)

    return make_stack


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("stack", draw_scenario, stack_maker(DEFAULT_STACK)),
        Profile("total", draw_scenario, stack_maker(TOTAL_STACK)),
        Profile("gossip", draw_large_scenario, stack_maker(LARGE_GROUP_STACK, False), UNORDERED),
    )
}
"""The profiles by name."""


def profile_of(name: str, index: int) -> Profile:
    """The profile of a schedule: the one of that name, or by turns each of them for `all`."""
    if name != "all":
        return PROFILES[name]
    profiles = list(PROFILES.values())
    return profiles[index % len(profiles)]
