"""Every order of votes, proposals, acceptances and one lost disk, by the real rules.

Three nodes decide what follows their view. Attempts are made, whose steps may come in any order. A
voter's record is on disk before it answers; an answer counts at the proposer at once, or never, as
a proposer may go on at any time or not at all. One disk is lost at any moment, and the node takes
part again with an empty one; one memory may be lost as well, and the node goes on with its disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

from groupcore.membership.attempt import Attempt
from groupcore.membership.log_end import LogEnd
from groupcore.membership.succession import Ballot, Candidates, Proposal, Vote, decide
from groupcore.view import Address, View
from tests.groupcore.membership.building import A, B, C, view_of

BASIS = view_of(A, B, C)
STORED = Candidates(stateful=True, logged=True)
MORE, LESS, NOTHING = LogEnd(1, 9, 3), LogEnd(1, 7, 3), LogEnd()
STREAM = {A: 4}
"""What a and b have of a's stream, and of its multicasts."""


class Node(NamedTuple):
    """A life, and what is on its disk; `accepted` is the number of a proposal.

    `live`: it has its memory of the former view, too.
    """

    me: Address
    end: LogEnd
    live: bool = False
    promised: int = 0
    accepted_in: int = 0
    accepted: int = -1

    @property
    def counts(self) -> bool:
        return self.end != NOTHING

    def holds(self, proposal: Proposal) -> bool:
        return self.end >= proposal.order


class Try(NamedTuple):
    """One attempt: who has voted, and with what; who has accepted, and whether with the cut."""

    votes: tuple[Node, ...] = ()
    proposal: int = -1
    accepted: tuple[tuple[Address, bool], ...] = ()
    decided: bool = False
    over: bool = False


OVER = Try(over=True)
"""Nothing comes of it any more."""


class World(NamedTuple):
    """Everything."""

    nodes: tuple[Node, ...]
    tries: tuple[Try, ...]
    lost: bool = False

    def with_node(self, node: Node) -> World:
        nodes = tuple([node if n.me.name == node.me.name else n for n in self.nodes])
        return World(nodes, self.tries, self.lost)

    def with_try(self, number: int, one: Try) -> World:
        tries = (*self.tries[:number], one, *self.tries[number + 1 :])
        return World(self.nodes, tries, self.lost)


@dataclass
class Exploration:
    """Of these proposers, the first with the lowest ballot; `loses` is whose disk is lost.

    `live`: all have their memory at first, and c is cut off from the first attempt; `crashes` is
    who may lose its memory.
    """

    proposers: tuple[Address, ...]
    loses: Address = B
    live: bool = False
    crashes: Address | None = None
    proposals: list[Proposal] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    demanded: dict[tuple[object, tuple[Node, ...]], int] = field(default_factory=dict)
    decisions: dict[tuple[object, ...], bool] = field(default_factory=dict)
    basis: View = BASIS
    states: int = 0
    needed: bool = False
    most_views: int = 0

    @cached_property
    def empty(self) -> Node:
        """The next life of the node that loses its disk."""
        return Node(self.loses._replace(incarnation=2), NOTHING)

    def run(self) -> Self:
        first = self.beginning()
        seen, left = {first}, [first]
        while left:
            world = left.pop()
            decided = [self.proposals[one.proposal] for one in world.tries if one.decided]
            self.most_views = max(self.most_views, len({p.view for p in decided}))
            if self.most_views > 1:
                break
            self.needed = self.needed or any(proposal.lost for proposal in decided)
            for after in map(self.pruned, self.steps(world)):
                if after not in seen:
                    seen.add(after)
                    left.append(after)
        self.states = len(seen)
        return self

    def beginning(self) -> World:
        """All that are heard have voted first, and a has accepted what was proposed."""
        a, b, c = (Node(A, MORE, self.live), Node(B, MORE, self.live), Node(C, LESS, self.live))
        asking = (a, b) if self.live else (a, b, c)
        asked = Try(asking, self.demand(0, asking), ((A, True),))
        a, b, c = (n._replace(promised=1) if n in asking else n for n in (a, b, c))
        a = a._replace(accepted_in=1, accepted=asked.proposal)
        return World((a, b, c), (asked, *(Try(),) * (len(self.proposers) - 1)))

    def steps(self, world: World) -> Iterator[World]:
        """What may happen next."""
        if not world.lost:
            yield world.with_node(self.empty)._replace(lost=True)
        for node in world.nodes:
            if node.live and node.me == self.crashes:
                yield world.with_node(node._replace(live=False))
        for number, one in enumerate(world.tries):
            if one.over or one.decided:
                continue
            for node in world.nodes:
                yield from self.answers(world, number, one, node)
            if one.votes and one.proposal < 0:
                for proposal in self.demands(number, one.votes):
                    # Of the votes it is asked from now on only which of them count.
                    counted = tuple(Node(vote.me, vote.end) for vote in one.votes)
                    yield world.with_try(number, Try(counted, proposal))
            elif one.accepted and self.is_decided(number, one):
                yield world.with_try(number, Try(proposal=one.proposal, decided=True))

    def pruned(self, world: World) -> World:
        """The same without attempts of which nothing can come: nobody can accept any more."""
        if not world.lost:
            return world  # the node with an empty disk may accept in any of them
        for number, one in enumerate(world.tries):
            if one.over or one.decided:
                continue
            hopes = one.proposal >= 0 and self.is_decided(number, one)
            for node in world.nodes:
                hopes = hopes or (node.promised <= number + 1 and node.accepted_in != number + 1)
            if not hopes:
                world = world.with_try(number, OVER)
        return world

    def answers(self, world: World, number: int, one: Try, node: Node) -> Iterator[World]:
        """A node promises this ballot, or accepts its proposal."""
        round_ = number + 1
        if node.promised > round_:
            return
        if one.proposal < 0:
            if node.promised < round_:
                mine = node._replace(promised=0)
                votes = tuple(sorted((*one.votes, mine), key=lambda vote: vote.me))
                promised = world.with_node(node._replace(promised=round_))
                yield promised.with_try(number, one._replace(votes=votes))
        elif node.accepted_in != round_:
            proposal = self.proposals[one.proposal]
            if node.live and not proposal.recovered:
                if not any(other.live and other.end == MORE for other in world.nodes):
                    return  # nobody can give it what it lacks of the cut
                node = node._replace(end=MORE)
            told = (node.me, node.holds(proposal))
            stored = node._replace(promised=round_, accepted_in=round_, accepted=one.proposal)
            accepted = tuple(sorted((*one.accepted, told)))
            yield world.with_node(stored).with_try(number, one._replace(accepted=accepted))

    def demands(self, attempt: int, votes: tuple[Node, ...]) -> list[int]:
        """The numbers of the proposals that these votes may demand."""
        proposal = self.demand(attempt, votes)
        return [proposal] if proposal >= 0 else []

    def demand(self, attempt: int, votes: tuple[Node, ...]) -> int:
        """The number of the proposal that these votes demand; below 0: none."""
        return self.demand_without({C} if self.live and attempt == 0 else set(), votes)

    def demand_without(self, cut_off: Set[Address], votes: tuple[Node, ...]) -> int:
        """The same where these cannot go on with the proposer."""
        key = (frozenset(cut_off), votes)
        if key not in self.demanded:
            who = replace(STORED, cut_off=frozenset(cut_off))
            proposal = decide(self.basis, [self.vote(node) for node in votes], who, 3, lineage=99)
            number = -1
            if proposal is not None:
                number = self.known.setdefault(repr(proposal), len(self.proposals))
                if number == len(self.proposals):
                    self.proposals.append(proposal)
            self.demanded[key] = number
        return self.demanded[key]

    def is_decided(self, number: int, one: Try) -> bool:
        """Whether these acceptances decide it; most states share that with others."""
        key = (number, one.proposal, one.votes, one.accepted)
        if key not in self.decisions:
            self.decisions[key] = self._decides(number, one)
        return self.decisions[key]

    def _decides(self, number: int, one: Try) -> bool:
        made = Attempt(self.basis, self.ballot(number + 1), frozenset(), 3)
        made.votes = {node.me: self.vote(node) for node in one.votes}
        made.proposal, made.acceptances = self.proposals[one.proposal], dict(one.accepted)
        return made.is_decided()

    def ballot(self, round_: int) -> Ballot:
        return Ballot(round_, self.proposers[round_ - 1])

    def vote(self, node: Node) -> Vote:
        accepted = self.proposals[node.accepted] if node.accepted >= 0 else None
        return Vote(
            node.me,
            live=node.live,
            counts=node.counts,
            digest=STREAM if node.live and node.end == MORE else {},
            accepted_ballot=self.ballot(node.accepted_in) if accepted else None,
            accepted=accepted,
            epoch=node.end.epoch,
            position=node.end.position,
            streams=STREAM if node.end == MORE else {},
            holds=accepted is None or node.holds(accepted),
            log_view=node.end.view,
            delivered=STREAM if node.live and node.end == MORE else {},
            logged=True,
            lost=not node.counts,
        )
