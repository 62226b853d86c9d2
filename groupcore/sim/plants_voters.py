"""Planted bugs of who votes: nodes that are away, learners, leavers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from groupcore.effects import Effect
from groupcore.membership import attempt, succession
from groupcore.membership.ballots import Proposal, Vote
from groupcore.membership.holding import Holding
from groupcore.membership.seats import electors
from groupcore.membership.seeker import Seeker
from groupcore.membership.succession import Candidates
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault, Send
from groupcore.sim.network import NetworkOptions
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.scenario import Scenario
from groupcore.view import Address, View


def _absent_not_kept() -> list[Patch]:
    def none_kept(
        members: Sequence[Address], having: Set[Address], former: Sequence[str]
    ) -> tuple[str, ...]:
        return electors(members, having, ())

    return [(succession, "electors", none_kept)]


def _learner_votes() -> list[Patch]:
    def all_members(
        members: Sequence[Address], having: Set[Address], former: Sequence[str]
    ) -> tuple[str, ...]:
        return electors(members, {*members}, former)

    return [(succession, "electors", all_members)]


def _leaver_votes() -> list[Patch]:
    original = succession.orderly

    def orderly(basis: View, live: list[Vote], candidates: Candidates) -> Proposal:
        proposal = original(basis, live, candidates)
        voters = electors(proposal.view.members, {*proposal.state_holders}, basis.voters)
        return replace(proposal, view=replace(proposal.view, voters=voters))

    return [(succession, "orderly", orderly)]


def _votes_unsynced() -> list[Patch]:
    def synced(self: Holding, proposal: Proposal) -> bool:
        return True

    return [(Holding, "synced", synced)]


def _empty_disks_tell() -> list[Patch]:
    binding = succession.binding

    def believing(basis: View | None, votes: list[Vote]) -> Proposal | None:
        return binding(basis, [replace(vote, lost=False) for vote in votes])

    return [(succession, "binding", believing)]


def _later_not_learned() -> list[Patch]:
    def learn_nothing(self: Seeker, now: float) -> list[Effect]:
        return []

    return [(Seeker, "learn_of_members", learn_nothing)]


def _away_forgets() -> list[Patch]:
    def living(basis: View, votes: Iterable[Vote]) -> list[Vote]:
        return [vote for vote in votes if vote.live]

    return [(where, "remembering", living) for where in (succession, attempt)]


def _joiners_needed() -> list[Patch]:
    def all_of_them(voters: tuple[str, ...], complete: Set[Address]) -> tuple[str, ...]:
        return voters

    return [(succession, "decidable", all_of_them)]


AWAY_AND_CUT_OFF = Scenario(
    seed=7,
    nodes=3,
    starts_ns=(0,) * 3,
    safety_ns=8 * SECOND,
    faults=(
        Fault(2 * SECOND, "crash", (2,), 1_500 * MILLISECOND),
        Fault(3_300 * MILLISECOND, "isolate", (1,), 4 * SECOND),
    ),
    sends=tuple(Send(SECOND + n * 40 * MILLISECOND, n % 3, (40,)) for n in range(60)),
)
"""c crashes; when it is back, and a voter of [a b], b is cut off: a lives, and c's disk votes."""

TWO_JOIN_ONE = Scenario(
    seed=7,
    nodes=3,
    starts_ns=(0,) * 3,
    safety_ns=7 * SECOND,
    faults=tuple(Fault(2 * SECOND, "leave", (node,), 2 * SECOND) for node in (1, 2)),
    sends=tuple(Send(SECOND + n * 40 * MILLISECOND, 0, (40,)) for n in range(60)),
)
"""b and c leave, and join a at once."""

DECIDER_LOST = Scenario(
    seed=7,
    nodes=3,
    starts_ns=(0,) * 3,
    safety_ns=8 * SECOND,
    faults=(
        Fault(2 * SECOND, "isolate", (2,), 3 * SECOND),
        Fault(2_899 * MILLISECOND, "one-way", (0, 1), 300 * MILLISECOND),
        Fault(2_903 * MILLISECOND, "lose", (0,), SECOND),
    ),
    sends=tuple(Send(SECOND + n * 40 * MILLISECOND, n % 3, (40,)) for n in range(22)),
)
"""c is cut off; a decides [a b] with b's acceptance and begins it, which reaches nobody; then a's
disk is lost."""

STOPPED_BEFORE_IT_BEGAN = Scenario(
    seed=9733425856836766734,
    nodes=5,
    starts_ns=(244750988, 20202476, 10356833, 291307535, 244024791),
    safety_ns=3_592_823_189,
    network=NetworkOptions(
        loss=0.2423619325976904,
        duplicate=0.23437245303305487,
        delay_min_us=30,
        delay_mean_us=1000,
        tail_mean_ms=50,
        loopback=True,
        piece_bytes=9000,
        rate=1250000,
        uneven=153157,
    ),
    turn_us=100,
    connections=True,
    state_chunk_bytes=60_000,
    faults=(
        Fault(919_227_992, "link", (3, 0), 3_989 * MILLISECOND),
        Fault(1_349_400_000, "filter", (2,), 1_305 * MILLISECOND),
        Fault(2_694_722_000, "crash", (-1,), 2_016 * MILLISECOND),
    ),
    sends=(),
    core=True,
    rest=("isolate", "deaf", "mute"),
)
"""a accepts [a b e], and crashes before it begins that; b, which leads it, is cut off then."""

UNSYNCED_VOTERS = Scenario(
    seed=7,
    nodes=5,
    starts_ns=(0,) * 5,
    safety_ns=15 * SECOND,
    faults=(
        *(Fault(2 * SECOND, "sync-hang", (node,), 3 * SECOND) for node in (0, 1)),
        *(Fault(2_500 * MILLISECOND, "crash", (node,), 6_500 * MILLISECOND) for node in (3, 4)),
        *(Fault(4_900 * MILLISECOND, "crash", (node,), SECOND // 2) for node in (0, 1)),
        Fault(4_900 * MILLISECOND, "crash", (2,), 4_100 * MILLISECOND),
    ),
    sends=tuple(Send(SECOND + n * 40 * MILLISECOND, n % 2, (40,)) for n in range(275)),
)
"""Two of the three that are left have not stored what is saved; these two start again first."""


VOTER_PLANTS = (
    Plant(
        "absent-not-kept",
        "a voter that is away is kept no more, so a quorum shrinks to one node",
        (12,),
        _absent_not_kept,
        schedule=Scenario(
            seed=1,
            nodes=3,
            starts_ns=(0, 0, 0),
            safety_ns=6 * SECOND,
            faults=(Fault(2 * SECOND, "crash", (2,), 3 * SECOND),),
        ),
    ),
    Plant(
        "g-absent-not-kept",
        "the same where groups are sequenced",
        (12,),
        _absent_not_kept,
        "sequencing",
    ),
    Plant(
        "votes-unsynced",
        "a view is accepted by members whose applications have not stored what may be saved",
        (18,),
        _votes_unsynced,
        schedule=UNSYNCED_VOTERS,
    ),
    Plant(
        "empty-disks-tell",
        "an empty disk shows that its node has not accepted an orderly view",
        (12,),
        _empty_disks_tell,
        schedule=DECIDER_LOST,
    ),
    Plant(
        "away-forgets",
        "the vote of a voter that is away makes a view one from disk",
        (12,),
        _away_forgets,
        schedule=AWAY_AND_CUT_OFF,
    ),
    Plant(
        "later-view-not-learned",
        "who looks for a view learns nothing of a later one from its members, who are too few",
        (25,),
        _later_not_learned,
        schedule=STOPPED_BEFORE_IT_BEGAN,
    ),
    Plant(
        "joiners-needed",
        "a view's quorum needs joiners that have yet to begin it",
        (12,),
        _joiners_needed,
        "gossip",
        TWO_JOIN_ONE,
    ),
    Plant(
        "learner-votes",
        "a joiner that has not got the state votes",
        (12,),
        _learner_votes,
        schedule=Scenario(
            seed=1, nodes=4, starts_ns=(0, 0, 0, 3 * SECOND), safety_ns=6 * SECOND, faults=()
        ),
    ),
    Plant(
        "leaver-votes",
        "who has left in an orderly way stays a voter",
        (12,),
        _leaver_votes,
        schedule=Scenario(
            seed=1,
            nodes=3,
            starts_ns=(0, 0, 0),
            safety_ns=7 * SECOND,
            faults=(
                Fault(1_900 * MILLISECOND, "disk-slow", (0,), 3 * SECOND, 700),
                Fault(2 * SECOND, "leave", (2,), 4 * SECOND),
            ),
        ),
    ),
)
"""Those of voters; `plants.PLANTS` has all."""
