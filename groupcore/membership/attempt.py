"""One attempt of a proposer to decide the successor of a view.

A plain value with its rules: which votes and acceptances are in, and whether they suffice. Time
and messages are the membership layer's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from groupcore.membership.succession import Ballot, Proposal, Vote, is_quorum_of, may_decide
from groupcore.view import Address, View, is_quorum


@dataclass(slots=True)
class Attempt:
    """A ballot for the successor of `basis`; `expected` are those whose answer is waited for."""

    basis: View | None
    ballot: Ballot
    expected: frozenset[Address]
    cluster_size: int
    votes: dict[Address, Vote] = field(default_factory=dict)
    proposal: Proposal | None = None
    acceptances: dict[Address, None] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Number of the view whose successor is sought."""
        return 0 if self.basis is None else self.basis.number

    def all_voted(self, silent: frozenset[Address]) -> bool:
        """Whether everybody who is waited for, and is not silent, has voted."""
        return all(member in self.votes for member in self.expected - silent)

    def may_decide(self) -> bool:
        """Whether the votes are a quorum."""
        return may_decide(self.basis, self.votes.values(), self.cluster_size)

    def is_decided(self) -> bool:
        """Whether the acceptances are a quorum of the former view, and of those who stay in it.

        Those who accept hold the cut: with a quorum of those who stay, it outlives the others.
        """
        accepted = [m for m in self.acceptances if m in self.votes and self.votes[m].counts]
        if not is_quorum_of(self.basis, [m.name for m in accepted], self.cluster_size):
            return False
        if self.basis is None or self.proposal is None or self.proposal.recovered:
            return True
        stay = tuple(m.name for m in self.proposal.view.members if m in self.basis.members)
        # By node: a stayer that has restarted since cannot hold the cut any more, and to wait for
        # its dead life would block the others for ever; what follows is recovered from disk.
        return not stay or is_quorum(stay, [m.name for m in accepted])

    def all_accepted(self, silent: frozenset[Address]) -> bool:
        """Whether every voter that is not silent has accepted."""
        return all(m in self.acceptances for m in self.votes if m not in silent)
