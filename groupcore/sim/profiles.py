"""Profiles: which stack is run, and from what its schedules are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from groupcore.layers.nakack_headers import NakackOptions
from groupcore.layers.pbcast import GossipOptions
from groupcore.membership.state import MembershipOptions, MergePolicy
from groupcore.sim.checkers import (
    CHECKERS,
    GROUP_CHECKERS,
    PARTITIONABLE,
    UNORDERED,
    AllIsWell,
    Authenticity,
    Checker,
    LivenessWithoutOrder,
    ViewAgreement,
    VotersKnow,
)
from groupcore.sim.checkers.documents import DOCUMENT_CHECKERS, DocumentReplicas
from groupcore.sim.checkers.group_access import AccessInOrder
from groupcore.sim.checkers.group_order import GroupIntegrity
from groupcore.sim.checkers.group_saved import GroupSavedSurvives, GroupsSettle, SavedIsKept
from groupcore.sim.checkers.log_integrity import LogIntegrity
from groupcore.sim.checkers.pages import PAGE_CHECKERS
from groupcore.sim.checkers.places import PLACE_CHECKERS
from groupcore.sim.checkers.set_aside import SetAsideAlike
from groupcore.sim.checkers.stretches import BETWEEN_POWER_CUTS
from groupcore.sim.cluster import Cluster, MakeStack
from groupcore.sim.documents.cluster import document_cluster
from groupcore.sim.documents.drawing import draw_documents
from groupcore.sim.groups.churning import draw_strict_churn
from groupcore.sim.groups.cluster import group_cluster
from groupcore.sim.groups.drawing import draw_durable, draw_sequencing
from groupcore.sim.groups.guarded import draw_access
from groupcore.sim.pages.cluster import page_cluster
from groupcore.sim.pages.drawing import draw_pages
from groupcore.sim.places.cluster import place_cluster
from groupcore.sim.places.drawing import draw_places
from groupcore.sim.randomness import stream
from groupcore.sim.run import Verdict, run_cluster
from groupcore.sim.scenario import (
    Scenario,
    draw_large_scenario,
    draw_partitions,
    draw_paths,
    draw_scenario,
)
from groupcore.sim.tightness import tighten_stack
from groupcore.stack import Stack
from groupcore.stacks import (
    DEFAULT_STACK,
    LARGE_GROUP_STACK,
    TOTAL_STACK,
    DataPlane,
    StackOptions,
    compose,
)
from groupcore.transfer.options import StateTransferOptions
from groupcore.transport import TransportOptions
from groupcore.view import Address

GENERATION_S = MembershipOptions().generation_s
Vary = Callable[[int, StackOptions], StackOptions]
"""The settings of a schedule, from its seed and the usual ones."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of schedule: how one is drawn from its seed, what runs in it, what it is judged by.

    `make_cluster`: the world that it is played in.
    """

    name: str
    draw: Callable[[int], Scenario]
    make_stack: MakeStack
    checkers: tuple[type[Checker], ...] = CHECKERS
    make_cluster: Callable[[Scenario, MakeStack], Cluster] = Cluster

    def play(self, scenario: Scenario) -> Verdict:
        """Run a schedule, and judge what happened."""
        return run_cluster(self.make_cluster(scenario, self.make_stack), self.checkers)


def stack_maker(
    spec: str,
    application_state: bool = True,
    vary: Vary = lambda _, options: options,
    merge_policy: MergePolicy = "primary",
    counts_folders: bool = False,
) -> MakeStack:
    """Makes that stack for each life, of a cluster of all nodes of the scenario.

    `vary` draws settings of the whole schedule from its seed. `counts_folders`: nodes tell how far
    their folders are.
    """

    def make_stack(
        scenario: Scenario,
        address: Address,
        random: Random,
        transport: TransportOptions,
        lineage: bytes | None,
        plane: DataPlane | None,
    ) -> Stack:
        membership = MembershipOptions(
            cluster_size=scenario.nodes,
            application_state=application_state,
            durable=True,
            absorb=False,
            merge_policy=merge_policy,
            generation_s=GENERATION_S if counts_folders else 0,
        )
        body_bytes_max = transport.packet_bytes_max - 1024
        state = StateTransferOptions(
            chunk_bytes=scenario.state_chunk_bytes or 60_000,
            silence_s=0.3,
            copies=scenario.state_copies,
        )
        options = StackOptions(membership=membership, body_bytes_max=body_bytes_max, state=state)
        varied = tighten_stack(vary(scenario.seed, options), scenario.tight)
        return compose(spec, address, random, varied, lineage, plane)

    return make_stack


def vary_gossip(seed: int, options: StackOptions) -> StackOptions:
    """Small windows and buffers, and gossip of every kind."""
    chance = stream(seed, "gossip-options")
    return replace(
        options,
        nakack=NakackOptions(window_bytes=chance.choice((4 << 10, 64 << 10, 4 << 20))),
        gossip=GossipOptions(
            dynamic=chance.random() < 0.8,
            desired_avg_s=chance.choice((0.02, 0.1, 0.25)),
            multicast=chance.random() < 0.7,
            lag=chance.choice((0, 0, 0, 10)),
            buffer_max=chance.choice((2, 64, 64)),
            seen_max=chance.choice((16, 1_024)),
        ),
    )


GROUPS: tuple[type[Checker], ...] = (
    ViewAgreement,
    VotersKnow,
    AllIsWell,
    LivenessWithoutOrder,
    Authenticity,
    SetAsideAlike,
    *GROUP_CHECKERS,
)
"""What holds where groups are sequenced; the channel beneath carries nothing but commands."""

DURABLE: tuple[type[Checker], ...] = (
    ViewAgreement,
    VotersKnow,
    AllIsWell,
    LivenessWithoutOrder,
    Authenticity,
    SetAsideAlike,
    GroupIntegrity,
    GroupSavedSurvives,
    SavedIsKept,
    LogIntegrity,
    GroupsSettle,
    *BETWEEN_POWER_CUTS,
)
"""What holds where groups are on disk and the power is cut: what was not saved may be gone, and
may have been delivered, so that the rules of groups hold between two power cuts."""

DOCUMENTS: tuple[type[Checker], ...] = (
    *(checker for checker in DURABLE if checker not in (GroupSavedSurvives, GroupsSettle)),
    *DOCUMENT_CHECKERS,
)
"""The same where documents are what is sent; what is saved, and there in the end, is judged by
what people typed."""

PLACES: tuple[type[Checker], ...] = (
    *(checker for checker in DURABLE if checker not in (GroupSavedSurvives, GroupsSettle)),
    *PLACE_CHECKERS,
)
"""The same where people are in a place."""

PAGES: tuple[type[Checker], ...] = (
    *(checker for checker in DURABLE if checker not in (GroupSavedSurvives, GroupsSettle)),
    DocumentReplicas,
    *PAGE_CHECKERS,
)
"""The same where pages are at gateways."""

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("stack", draw_scenario, stack_maker(DEFAULT_STACK)),
        Profile("paths", draw_paths, stack_maker(DEFAULT_STACK)),
        Profile("total", draw_scenario, stack_maker(TOTAL_STACK)),
        Profile(
            "gossip",
            draw_large_scenario,
            stack_maker(LARGE_GROUP_STACK, application_state=False, vary=vary_gossip),
            UNORDERED,
        ),
        Profile(
            "sequencing",
            draw_sequencing,
            stack_maker(DEFAULT_STACK, application_state=False),
            GROUPS,
            group_cluster,
        ),
        Profile(
            "strict-churn",
            draw_strict_churn,
            stack_maker(DEFAULT_STACK, application_state=False),
            GROUPS,
            group_cluster,
        ),
        Profile(
            "access",
            draw_access,
            stack_maker(DEFAULT_STACK, application_state=False),
            (*GROUPS, AccessInOrder),
            group_cluster,
        ),
        Profile(
            "durable",
            draw_durable,
            stack_maker(DEFAULT_STACK, application_state=False, counts_folders=True),
            DURABLE,
            group_cluster,
        ),
        Profile(
            "documents",
            draw_documents,
            stack_maker(DEFAULT_STACK, application_state=False, counts_folders=True),
            DOCUMENTS,
            document_cluster,
        ),
        Profile(
            "places",
            draw_places,
            stack_maker(DEFAULT_STACK, application_state=False),
            PLACES,
            place_cluster,
        ),
        Profile(
            "pages",
            draw_pages,
            stack_maker(DEFAULT_STACK, application_state=False),
            PAGES,
            page_cluster,
        ),
        Profile(
            "partitionable",
            draw_partitions,
            stack_maker(DEFAULT_STACK, application_state=False, merge_policy="application"),
            PARTITIONABLE,
        ),
    )
}
"""The profiles by name."""
TAKING_TURNS = (
    *("stack", "strict-churn", "total", "gossip", "sequencing", "strict-churn"),
    *("stack", "total", "partitionable", "durable", "strict-churn", "stack"),
    *("total", "gossip", "sequencing", "documents", "strict-churn", "stack"),
    *("gossip", "access", "strict-churn", "total", "partitionable", "stack"),
    *("strict-churn", "durable", "stack", "strict-churn", "gossip", "sequencing"),
    *("stack", "documents", "total", "strict-churn", "stack", "places", "pages"),
)
"""What `all` runs, by turns: where groups are sequenced a schedule takes three to five times as
long as of the default stack, which comes most often."""


def profile_of(name: str, index: int) -> Profile:
    """The profile of a schedule: the one of that name, or by turns each of them for `all`."""
    if name != "all":
        return PROFILES[name]
    return PROFILES[TAKING_TURNS[index % len(TAKING_TURNS)]]
