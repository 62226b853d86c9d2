"""Every order of votes, proposals, acceptances and losses, by the real rules.

Three nodes decide what follows their view. Attempts are made, whose steps may come in any order. A
voter's record is on disk before it answers; an answer counts at the proposer at once, or never, as
a proposer may go on at any time or not at all. One disk may be lost at any moment, and the node
takes part again with an empty one; memories may be lost, and the nodes go on with their disks.
Behind each decision all memories may be lost: what the disks of any voters then demand is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, Self

from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.log_end import LogEnd
from groupcore.membership.succession import Candidates, decide
from groupcore.view import Address, View
from tests.groupcore.membership.building import A, B, C, view_of

BASIS = view_of(A, B, C)
STORED = Candidates(stateful=True, logged=True)
MORE, LESS, NOTHING = LogEnd(1, 9, 3), LogEnd(1, 7, 3), LogEnd()
ACCEPTED, HELD, LACKED = range(3)
"""Without the cut, with it, and with all of it but its commands."""
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
    lacks: bool = False

    @property
    def counts(self) -> bool:
        return self.end != NOTHING

    def holds(self, proposal: Proposal) -> bool:
        return self.end >= proposal.order

    def lacks_commands(self, proposal: Proposal) -> bool:
        """Whether it has only its disk, and tells with its acceptance that commands are missing."""
        asked = proposal.view.absent if proposal.recovered else proposal.view.voters
        can_tell = self.counts and not self.live and self.me.name in asked
        return can_tell and not self.holds(proposal)


class Try(NamedTuple):
    """One attempt: who has voted, and with what; who has accepted, and how (`HELD`, `LACKED`)."""

    votes: tuple[Node, ...] = ()
    proposal: int = -1
    accepted: tuple[tuple[Address, int], ...] = ()
    decided: bool = False
    over: bool = False
    lacked: bool = False


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

    `live`: all have their memory at first, and c is cut off from the first attempt; `crashes` are
    those that may lose their memory, and what of their logs was not stored with an acceptance.
    """

    proposers: tuple[Address, ...]
    loses: Address | None = B
    live: bool = False
    crashes: tuple[Address, ...] = ()
    proposals: list[Proposal] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    demanded: dict[tuple[object, tuple[Node, ...]], int] = field(default_factory=dict)
    decisions: dict[tuple[object, ...], bool] = field(default_factory=dict)
    basis: View = BASIS
    followed: dict[tuple[object, ...], bool] = field(default_factory=dict)
    states: int = 0
    needed: bool = False
    lacked: bool = False
    forgotten: bool = False
    most_views: int = 0

    @cached_property
    def empty(self) -> Node:
        """The next life of the node that loses its disk."""
        assert self.loses is not None
        return Node(self.loses._replace(incarnation=2), NOTHING)

    def run(self) -> Self:
        first = self.beginning()
        seen, left = {first}, [first]
        while left:
            world = left.pop()
            decided = [self.proposals[one.proposal] for one in world.tries if one.decided]
            self.most_views = max(self.most_views, len({p.view for p in decided}))
            self.lacked = self.lacked or any(one.lacked for one in world.tries)
            self.forgotten = self.forgotten or not all(self.lasts(world, p) for p in decided)
            if self.most_views > 1 or self.forgotten:
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
        asked = Try(asking, self.demand(0, asking), ((A, HELD),))
        a, b, c = (n._replace(promised=1) if n in asking else n for n in (a, b, c))
        a = a._replace(accepted_in=1, accepted=asked.proposal)
        tries = (asked, *(Try(),) * (len(self.proposers) - 1))
        return World((a, b, c), tries, lost=self.loses is None)

    def steps(self, world: World) -> Iterator[World]:
        """What may happen next."""
        if not world.lost:
            yield world.with_node(self.empty)._replace(lost=True)
        for node in world.nodes:
            if node.live and node.me in self.crashes:
                yield world.with_node(node._replace(live=False))
                if node.accepted < 0:  # what it had delivered need not be in its log
                    yield world.with_node(node._replace(live=False, end=min(node.end, LESS)))
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
                lacked = any(how == LACKED for _, how in one.accepted)
                done = Try(proposal=one.proposal, decided=True, lacked=lacked)
                yield world.with_try(number, done)

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
            lacks = node.lacks_commands(proposal)
            told = (node.me, HELD if node.holds(proposal) else LACKED if lacks else ACCEPTED)
            stored = node._replace(promised=round_, accepted_in=round_, accepted=one.proposal)
            stored = stored._replace(lacks=lacks)
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
        made.proposal = self.proposals[one.proposal]
        made.acceptances = {member: how == HELD for member, how in one.accepted}
        made.lacking = {member for member, how in one.accepted if how == LACKED}
        return made.is_decided()

    # --- what follows -----------------------------------------------------------------------------

    def lasts(self, world: World, proposal: Proposal) -> bool:
        """Whether all that a decided view began with is in each view that may follow it."""
        key = (proposal.view, proposal.order, tuple(self.disk_of(node) for node in world.nodes))
        if key not in self.followed:
            votes = [self.vote_behind(node, proposal.view) for node in world.nodes]
            some = [combinations(votes, size) for size in (1, 2, 3)]
            self.followed[key] = all(
                self.keeps(proposal, list(given)) for sized in some for given in sized
            )
        return self.followed[key]

    @staticmethod
    def disk_of(node: Node) -> tuple[object, ...]:
        """What of a node decides what it says of the next view."""
        return node.me, node.end, node.accepted, node.lacks

    def keeps(self, proposal: Proposal, votes: list[Vote]) -> bool:
        """Whether what these disks demand behind that view has its commands."""
        following = decide(proposal.view, votes, STORED, 3, lineage=99)
        return following is None or following.order >= proposal.order

    def vote_behind(self, node: Node, view: View) -> Vote:
        """What its disk says of what follows this view, which it is told of."""
        accepted = self.proposals[node.accepted] if node.accepted >= 0 else None
        record = Record(self.basis, accepted=accepted, lacks=node.lacks)
        name = node.me.name
        record = record.with_view(view, not node.counts or record.lacks_state_of(view, name))
        return replace(
            self.vote(node._replace(live=False, accepted=-1)),
            counts=not record.rebuilding,
            missing=record.missing,
        )

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
            lacks=node.lacks,
        )
