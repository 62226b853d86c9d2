"""Every order of votes, proposals and acceptances where two halves may go on, by the real rules.

a and b decide what follows their view, in which c still learns. In each attempt its proposer takes
the others for cut off, or not: b lets a stay behind and takes its vote, a goes on alone, or all go
on. It may go on with any votes that suffice. One memory may be lost at any moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from groupcore.membership.ballots import Ballot
from groupcore.view import Address, View
from tests.groupcore.membership.building import A, B, C
from tests.groupcore.membership.exploring_losses import (
    BASIS,
    LESS,
    MORE,
    NOTHING,
    Exploration,
    Node,
    Try,
    World,
)

TWO = replace(BASIS, voters=("a", "b"))
OTHERS = {A: {B, C}, B: {A}}
"""Whom the proposer leaves behind."""


@dataclass
class Halves(Exploration):
    """`views`: all that are decided. `waits_for_b`: whether a, without b, is ever bound to it."""

    live: bool = True
    basis: View = TWO
    views: frozenset[View] = frozenset()
    waits_for_b: int = 0

    def beginning(self) -> World:
        """Nobody has been asked yet; what a has sent last has not come to b. No disk is lost."""
        nodes = (Node(A, MORE, True), Node(B, LESS, True), Node(C, NOTHING, True))
        return World(nodes, (Try(),) * len(self.proposers), lost=True)

    def demands(self, attempt: int, votes: tuple[Node, ...]) -> list[int]:
        """With the others left behind, or with all that have voted."""
        cut_off = OTHERS[self.proposers[attempt]]
        found = {self.demand_without(behind, votes) for behind in (cut_off, set[Address]())}
        return sorted(number for number in found if number >= 0)

    def answers(self, world: World, number: int, one: Try, node: Node) -> Iterator[World]:
        """c has no state, which nothing that it accepts changes."""
        for after in super().answers(world, number, one, node):
            learner = next(other for other in after.nodes if other.me == C)
            yield after if not learner.counts else after.with_node(learner._replace(end=NOTHING))

    def steps(self, world: World) -> Iterator[World]:
        """Note what has been decided, and whether a waits for b."""
        decided = {self.proposals[one.proposal].view for one in world.tries if one.decided}
        self.views |= decided
        a, b, c = world.nodes
        assert self.ends((a, b, c), {A, B}), world
        if not decided and not self.ends((a, c), {A}):
            self.waits_for_b += 1
            bound = self.proposals[a.accepted]
            assert bound.view.members[0] == B or not (a.live and b.live), world
        yield from super().steps(world)

    def ends(self, there: tuple[Node, ...], voters: set[Address]) -> bool:
        """Whether another attempt, with the votes of these and whatever they lack, decides."""
        assert voters <= {node.me for node in there}
        proposal = self.demand_without(set(), tuple(there))
        if proposal < 0:
            return False
        has_all = any(node.live and node.end == MORE for node in there)
        told = [(node.me, has_all or node.holds(self.proposals[proposal])) for node in there]
        return self.is_decided(len(self.proposers), Try(there, proposal, tuple(told)))

    def ballot(self, round_: int) -> Ballot:
        """Those of one attempt more are a's."""
        return Ballot(round_, (*self.proposers, A)[round_ - 1])
