"""One attempt of a proposer to decide the successor of a view.

A plain value with its rules: which promises, flush answers and acceptances are in, and whether
they suffice. Time and messages are the membership layer's.

A promise binds a voter, but one that lives in the basis goes on delivering after it. What it
holds is known only once it has stopped (flush), so until then its vote is not complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from groupcore.events import Flushed
from groupcore.membership.ballots import Ballot, Proposal, Vote
from groupcore.membership.generation import Generation, newest
from groupcore.membership.succession import binding, is_quorum_of, may_decide, remembering
from groupcore.membership.waiver import may_decide_without
from groupcore.view import Address, View


@dataclass(slots=True)
class Attempt:
    """A ballot for the successor of `basis`; `expected` are those whose answer is waited for.

    `votes`: as promised; `reserve`: those of who had their turn in vain, taken where the others do
    not suffice. `stopped`: those who have answered the flush, of which `flushing` says
    that it has begun. `alone`: those who are expected, all of them, may form a view of their own
    if they are no quorum. `merge_id`: the successor is the view of this merge, when it is known.
    `waived`: whose votes an operator has waived; then everybody who is expected must vote.
    `acceptances`: who has accepted, and whether with the cut; `lacking`: who of the others lacks
    nothing of it but commands, and remembers that.
    """

    basis: View | None
    ballot: Ballot
    expected: frozenset[Address]
    cluster_size: int
    votes: dict[Address, Vote] = field(default_factory=dict)
    reserve: dict[Address, Vote] = field(default_factory=dict)
    flushing: bool = False
    stopped: dict[Address, Flushed] = field(default_factory=dict)
    alone: bool = False
    merge_id: int = 0
    waived: frozenset[str] = frozenset()
    proposal: Proposal | None = None
    acceptances: dict[Address, bool] = field(default_factory=dict)
    lacking: set[Address] = field(default_factory=set)

    @property
    def number(self) -> int:
        """Number of the view whose successor is sought."""
        return 0 if self.basis is None else self.basis.number

    def take(self, voter: Address, vote: Vote) -> None:
        """A promise is in."""
        self.votes[voter] = vote
        self.judge_folders()

    def judge_folders(self) -> None:
        """A folder older than what a voter has heard of it is as one that was lost.

        It lacks what its node has stored since, and may lack what it has promised and accepted.
        """
        told = self.heard()
        for voter, vote in self.votes.items():
            known = told.get(voter.name)
            if known is not None and not vote.live and vote.generation.is_before(known):
                self.votes[voter] = replace(vote, counts=False, lost=True)

    def heard(self) -> dict[str, Generation]:
        """The highest generation of each node's folder that a voter knows of."""
        return newest(heard for vote in self.votes.values() for heard in vote.heard)

    def all_voted(self, silent: frozenset[Address]) -> bool:
        """Whether everybody who is waited for, and is not silent, has voted."""
        return all(member in self.votes for member in self.expected - silent)

    def may_decide(self, votes: Iterable[Vote] | None = None) -> bool:
        """Whether these votes, or the promises, are a quorum, or all that a waiver asks for."""
        given = list(self.votes.values() if votes is None else votes)
        if self.waived and self.basis is not None:
            return may_decide_without(self.basis, given, self.waived)
        return may_decide(self.basis, given, self.cluster_size)

    def promises_suffice(self) -> bool:
        """Whether the flush may begin: a quorum, or all of a component that goes on alone."""
        return self.may_decide() or (self.alone and self.all_voted(frozenset()))

    def take_reserve(self) -> None:
        """Nothing can be decided without those either who have had their turn in vain."""
        self.votes.update(self.reserve)
        self.judge_folders()

    def component_has_stopped(self) -> bool:
        """Whether all of a component that goes on alone have said what they hold."""
        return self.alone and all(member in self.stopped for member in self.expected)

    def cannot_be_orderly(self, votes: list[Vote]) -> bool:
        """Whether these are no quorum, or bound to a view that needs somebody who is not here."""
        no_quorum = not self.may_decide(votes)
        return no_quorum or binding(self.basis, votes) is not None

    def concerned(self) -> set[Address]:
        """Who is told of the successor: its members, and whoever has voted.

        A view of another lineage is told to those who come into it from this one; a component's
        own to nobody else, a merge's to voters that it leaves behind, too.
        """
        assert self.proposal is not None
        members = set(self.proposal.view.members)
        if not self.proposal.left:
            return members | set(self.votes)
        former = set() if self.basis is None else set(self.basis.members)
        return members & former if self.proposal.forked else members & former | set(self.votes)

    def participants(self) -> tuple[Address, ...]:
        """Who has promised and lives in the basis: those must be stopped."""
        return tuple(voter for voter, vote in self.votes.items() if vote.live)

    def complete_votes(self) -> list[Vote]:
        """The votes that count now: of who has only a disk, and of who has stopped."""
        complete = []
        for voter, vote in self.votes.items():
            if voter in self.stopped:
                told = self.stopped[voter]
                held = replace(vote, digest=told.digest, streams=told.streams)
                place = replace(held, position=told.position, synced=told.synced)
                done = replace(place, delivered=told.delivered, known=told.known)
                complete.append(done)
            elif not vote.live:
                complete.append(vote)
        return complete

    def all_stopped(self, silent: frozenset[Address]) -> bool:
        """Whether everybody who was to stop, and is not silent, has said what it holds."""
        return all(member in self.stopped for member in self.participants() if member not in silent)

    def is_bare_half(self, answered: Iterable[Address], silent: frozenset[Address]) -> bool:
        """Whether those who have answered are a quorum by the first voter alone, and more members
        that are heard and waited for have not answered than have."""
        if self.basis is None:
            return False
        members = frozenset(self.basis.members)
        there = members.intersection(answered)
        voting = [member for member in there if member.name in self.basis.voters]
        missing = (self.expected & members) - silent - there
        return 2 * len(voting) == len(self.basis.voters) and len(missing) > len(there)

    def has_stopped(self) -> list[Address]:
        """Whose votes are complete."""
        return [vote.voter for vote in self.complete_votes()]

    def would_lose_memory(self, silent: frozenset[Address]) -> bool:
        """Whether those that have stopped are too few for an orderly view, but will not stay so.

        Then it is better to wait for the others than to form the view from what is on disk.
        """
        if self.basis is None:
            return False
        remembered = remembering(self.basis, self.votes.values())
        stopped = [vote for vote in remembered if vote.voter in self.stopped or not vote.live]
        hoped = [vote for vote in remembered if vote in stopped or vote.voter not in silent]
        size = self.cluster_size
        return may_decide(self.basis, hoped, size) and not may_decide(self.basis, stopped, size)

    def is_decided(self) -> bool:
        """Whether the acceptances are a quorum of the former view, and of those who go on.

        The latter with the cut: then it outlives the others.
        """
        if self.proposal is not None and self.proposal.forked:
            return all(member in self.acceptances for member in self.proposal.view.members)
        accepted = [m for m in self.acceptances if m in self.votes and self.votes[m].counts]
        if self.proposal is not None and self.proposal.waived:
            if not self.proposal.electorate <= {m.name for m in accepted}:
                return False
        elif not is_quorum_of(self.basis, [m.name for m in accepted], self.cluster_size):
            return False
        if self.proposal is None:
            return True
        # By node: to wait for a dead life would block the others for ever. The next one accepts
        # with what its disk has.
        having = [m.name for m in accepted if self.acceptances[m]]
        stored = [m.name for m in self.acceptances]
        lacking = [m.name for m in accepted if m in self.lacking and not self.acceptances[m]]
        lasts = self.proposal.lasts(self.basis, having, lacking)
        return lasts and self.proposal.can_go_on(stored)

    def late(self) -> set[Address]:
        """Who has still to accept, or to get the cut as one of those who go on with it."""
        waited_for = {*self.expected, *self.votes}
        view = None if self.proposal is None else self.proposal.view
        going = set() if view is None else {*view.names, *view.voters}
        having = {m for m, has in self.acceptances.items() if has} | self.lacking
        done = {m for m in self.acceptances if m in having or m.name not in going}
        return waited_for - done

    def all_accepted(self, silent: frozenset[Address]) -> bool:
        """Whether every voter that is not silent has accepted."""
        return all(m in self.acceptances for m in self.votes if m not in silent)
