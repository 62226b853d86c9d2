"""A waiver: an operator has the cluster go on without nodes that its last view needs.

Pure rules. A view whose quorum is lost for good has no successor by votes: of [b c] the disk of b,
its first, may hold what nobody else has. An operator who knows that b never comes back waives its
vote. Then those who are there form a view from their disks, and it begins **another lineage**: if
b does come back, or was only cut off, the two chains can never be taken for one, and b is told that
the others have gone on without it.

One decision. The electorate is everybody whose disk counted when the view was proposed, at least
all voters of the last view that are not waived, and all of it must accept. Whoever of it has
voted in a higher ballot without having accepted shows that it was not decided; else it binds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from groupcore.membership.ballots import Proposal, Vote
from groupcore.membership.branching import new_lineage
from groupcore.membership.succession import Candidates, located, may_be_decided, recover
from groupcore.view import View

LEAP_BITS = 16
"""By so many random bits number and epoch leap: what a waived node did alone has others."""
WAIVED_S = 3.0
"""A waiver holds for so long; who has given it repeats it."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """The view of this lineage and number is followed without the votes of these nodes.

    `until`: seconds of the local clock.
    """

    lineage: int
    number: int
    names: frozenset[str]
    until: float

    def holds(self, basis: View | None, now: float) -> bool:
        """Whether it speaks of what follows this view, and does so still."""
        if basis is None or now >= self.until:
            return False
        return (basis.lineage, basis.number) == (self.lineage, self.number)


def may_decide_without(basis: View, votes: list[Vote], waived: frozenset[str]) -> bool:
    """Whether these votes suffice: all voters that are not waived, none that is, all from disk.

    A waived node whose disk counts is there: nothing has to be done without it.
    """
    counting = {vote.voter.name for vote in votes if vote.counts}
    if not counting or any(vote.live for vote in votes):
        return False
    return set(basis.voters) - waived <= counting and not counting & waived


def decide_without(
    basis: View, votes: list[Vote], candidates: Candidates, waived: frozenset[str], chance: Random
) -> Proposal:
    """The successor that these votes demand, under the waiver.

    What was accepted for the former chain does not bind: it needs those who are waived.
    """
    bound = binding_without(votes)
    if bound is not None:
        return located(bound, votes)
    proposal = recover(basis, votes, candidates, basis.lineage, waived)
    view = proposal.view
    leap = 1 + chance.getrandbits(LEAP_BITS)
    view = replace(
        view,
        number=view.number + leap,
        epoch=view.epoch + leap,
        lineage=new_lineage(chance, primary=True),
    )
    return replace(proposal, view=view, left=basis.lineage, waived=tuple(sorted(waived)))


def binding_without(votes: list[Vote]) -> Proposal | None:
    """The proposal under a waiver, of the highest ballot, that may have been decided."""
    accepted = [
        (vote.accepted_ballot, vote.accepted)
        for vote in votes
        if vote.accepted_ballot is not None and vote.accepted is not None and vote.accepted.waived
    ]
    for ballot, proposal in sorted(accepted, key=lambda pair: pair[0], reverse=True):
        if may_be_decided(ballot, proposal, votes):
            return proposal
    return None
