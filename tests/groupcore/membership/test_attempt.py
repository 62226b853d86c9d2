"""The rules of one attempt; and that two attempts never decide two successors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.events import Flushed
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.log_end import LogEnd
from groupcore.membership.succession import Candidates, decide
from groupcore.view import Address
from tests.groupcore.membership.building import A, B, C, D, proposal_of, view_of, vote

NOBODY: frozenset[Address] = frozenset()
BASIS = view_of(A, B, C)


def attempt(*expected: Address, proposal: Proposal | None = None) -> Attempt:
    return Attempt(BASIS, Ballot(1, A), frozenset(expected or (A, B, C)), 3, proposal=proposal)


def with_votes(mine: Attempt, *voters: Address) -> Attempt:
    mine.votes = {voter: vote(voter) for voter in voters}
    return mine


def test_the_attempt_is_about_the_successor_of_one_view() -> None:
    assert attempt().number == 3
    assert Attempt(None, Ballot(1, A), frozenset(), 3).number == 0


def test_all_have_voted_when_only_the_silent_have_not() -> None:
    mine = with_votes(attempt(), A, B)
    assert not mine.all_voted(NOBODY)
    assert mine.all_voted(frozenset({C}))


def test_it_may_be_decided_once_the_votes_are_a_quorum() -> None:
    assert not with_votes(attempt(), B).may_decide()
    assert with_votes(attempt(), B, C).may_decide()


def test_it_is_decided_once_the_acceptances_are_a_quorum() -> None:
    mine = with_votes(attempt(proposal=proposal_of(A, B, C)), A, B, C)
    assert not mine.is_decided()
    mine.acceptances = {A: True}
    assert not mine.is_decided()
    mine.acceptances[C] = True
    assert mine.is_decided()


def test_an_acceptance_of_who_has_no_vote_or_does_not_count_decides_nothing() -> None:
    mine = with_votes(attempt(proposal=proposal_of(A, B, C)), A)
    mine.votes[B] = vote(B, counts=False)
    mine.acceptances = dict.fromkeys((A, B, C, D), True)
    assert not mine.is_decided()


def test_an_orderly_successor_needs_a_quorum_of_those_who_stay() -> None:
    # who leaves must not decide alone and take the end of the former view with it
    mine = Attempt(view_of(A, B), Ballot(1, A), frozenset({A, B}), 2, proposal=proposal_of(B))
    with_votes(mine, A, B).acceptances = {A: True}
    assert not mine.is_decided()
    mine.acceptances[B] = True
    assert mine.is_decided()


def test_who_stays_and_has_restarted_counts_by_its_node() -> None:
    # waiting for its dead life would block the others for ever
    mine = attempt(proposal=proposal_of(A, B, C))
    again = Address("b", 2)
    with_votes(mine, A, again).acceptances = {A: True, again: True}
    assert mine.is_decided()


def test_a_view_from_disk_needs_a_quorum_of_its_own_to_have_stored_it() -> None:
    # a member that crashes before it has is blank, and the others could never go on
    formed = replace(proposal_of(A, B), recovered=True)
    mine = with_votes(Attempt(None, Ballot(1, A), frozenset({A, B}), 3, proposal=formed), A, B, C)
    mine.acceptances = {B: True, C: True}
    assert not mine.is_decided()
    mine.acceptances[A] = True
    assert mine.is_decided()


def test_a_view_from_disk_needs_those_to_have_stored_it_who_have_the_state() -> None:
    formed = replace(proposal_of(A, B, C), recovered=True, state_holders=(A, B))
    mine = with_votes(attempt(proposal=formed), A, B, C)
    mine.acceptances = {A: True, C: True}
    assert not mine.is_decided()
    mine.acceptances[B] = True
    assert mine.is_decided()
    lone = replace(formed, state_holders=(B,))  # no quorum: then nobody has a state to lose
    mine = with_votes(attempt(proposal=lone), A, B, C)
    mine.acceptances = {A: True, C: True}
    assert mine.is_decided()


def test_a_voter_that_is_away_and_has_stored_what_a_view_from_disk_begins_with_counts() -> None:
    # else the others could decide it never, while a member is cut off whom they do not need
    view = replace(view_of(A, B, number=4), voters=("a", "b", "c"))
    begun = LogEnd(1, 7)
    formed = replace(
        proposal_of(A, B, recovered=True, state_holders=(A, B), order=begun), view=view
    )
    mine = with_votes(attempt(proposal=formed), B, C)
    mine.acceptances = {B: True, C: False}
    assert not mine.is_decided()
    mine.acceptances[C] = True
    assert mine.is_decided()


def test_where_nobody_stays_a_quorum_of_the_former_view_decides() -> None:
    mine = with_votes(attempt(proposal=proposal_of(D)), A, B)
    mine.acceptances = {A: True, B: True}
    assert mine.is_decided()


def test_a_recovered_and_a_first_view_are_decided_by_a_quorum() -> None:
    recovered = with_votes(attempt(proposal=proposal_of(A, C, recovered=True)), A, B)
    recovered.acceptances = {A: True, B: True}
    assert recovered.is_decided()
    first = Attempt(None, Ballot(1, A), frozenset(), 3, proposal=proposal_of(A, B, basis=0))
    with_votes(first, A, B).acceptances = {A: True, B: True}
    assert first.is_decided()


def test_all_have_accepted_when_only_the_silent_have_not() -> None:
    mine = with_votes(attempt(), A, B)
    mine.acceptances = {A: True}
    assert not mine.all_accepted(NOBODY)
    assert mine.all_accepted(frozenset({B}))


def test_a_vote_is_complete_with_what_the_answer_to_the_flush_says() -> None:
    mine = with_votes(attempt(), A, B)
    mine.stopped = {A: Flushed(A, mine.ballot, {B: 3}, 5, {B: 2}, {C: 8})}
    (complete,) = mine.complete_votes()
    assert (complete.digest, complete.position, complete.streams) == ({B: 3}, 5, {C: 8})


def test_one_more_that_lives_is_waited_for_only_where_the_others_would_lose_memory() -> None:
    def waits(voters: tuple[str, ...], other: Vote, *silent: Address) -> bool:
        basis = replace(view_of(A, B), voters=voters)
        mine = with_votes(Attempt(basis, Ballot(1, A), frozenset(), 3), A, B)
        mine.votes[other.voter] = other
        mine.stopped = {A: Flushed(A, mine.ballot, {}, 5, {}, {})}
        return mine.would_lose_memory(frozenset(silent))

    away, restarted = vote(Address("c", 2), live=False), vote(Address("b", 2), live=False)
    assert waits(("b", "a"), restarted)  # of b's two lives the one with its memory may yet answer
    assert not waits(("b", "a"), restarted, B)
    assert not waits(("a", "b", "c"), away)  # c has lost none


# --- a whole succession, with lost messages, restarts and rival proposers -------------------------


@dataclass
class Play:
    """Voters and proposers on the succession of one view; any message may come late or never."""

    members: tuple[Address, ...]
    lives: dict[str, Address] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    attempts: dict[Ballot, Attempt] = field(default_factory=dict)
    decided: list[Proposal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.basis = view_of(*self.members)
        self.lives = {member.name: member for member in self.members}
        self.records = {member.name: Record(self.basis) for member in self.members}

    def attempt(self, round_: int, proposer: Address) -> Attempt:
        ballot = Ballot(round_, proposer)
        fresh = Attempt(self.basis, ballot, frozenset(self.members), len(self.members))
        return self.attempts.setdefault(ballot, fresh)

    def prepare(self, mine: Attempt, name: str) -> None:
        record = self.records[name]
        if not record.may_promise(mine.ballot) or mine.proposal is not None:
            return
        self.records[name] = record.with_promise(mine.ballot)
        life = self.lives[name]
        before = (record.accepted_ballot, record.accepted)
        accepted = None if before[0] is None or before[1] is None else (before[0], before[1])
        mine.votes[life] = vote(life, live=life in self.members, accepted=accepted, holds=(1, 1))

    def propose(self, mine: Attempt, leaving: frozenset[Address]) -> None:
        if mine.proposal is None:
            candidates = Candidates(leaving=leaving)
            size = len(self.members)
            mine.proposal = decide(self.basis, list(mine.votes.values()), candidates, size, 1)

    def accept(self, mine: Attempt, name: str) -> None:
        record = self.records[name]
        if mine.proposal is None or not record.may_promise(mine.ballot):
            return
        self.records[name] = record.with_acceptance(mine.ballot, mine.proposal)
        mine.acceptances[self.lives[name]] = True
        if mine.is_decided():
            self.decided.append(mine.proposal)

    def restart(self, name: str) -> None:
        life = self.lives[name]
        self.lives[name] = Address(name, life.incarnation + 1)


ACTS = ("prepare", "propose", "accept")
reached = st.lists(st.sets(st.sampled_from("abcd"), min_size=2), min_size=9, max_size=9)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    count=st.integers(2, 4),
    swaps=st.lists(st.integers(0, 7), max_size=4),
    reached=reached,
    restarts=st.dictionaries(st.integers(0, 8), st.sampled_from("abcd"), max_size=2),
    leaving=st.lists(st.frozensets(st.sampled_from([A, B, C, D])), min_size=3, max_size=3),
)
def test_two_successors_of_one_view_are_never_decided(
    count: int,
    swaps: list[int],
    reached: list[set[str]],
    restarts: dict[int, str],
    leaving: list[frozenset[Address]],
) -> None:
    # Three proposers, each with its three steps; the steps of different ones interleave.
    play = Play((A, B, C, D)[:count])
    order = [1, 1, 1, 2, 2, 2, 3, 3, 3]
    for place in swaps:
        order[place], order[place + 1] = order[place + 1], order[place]
    for step, round_ in enumerate(order):
        mine = play.attempt(round_, play.members[round_ % count])
        act = ACTS[min(order[:step].count(round_), 2)]
        voters = sorted(name for name in reached[step] if name in play.lives)
        if act == "propose":
            play.propose(mine, leaving[round_ - 1])
        for voter in voters:
            if act == "prepare":
                play.prepare(mine, voter)
            elif act == "accept":
                play.accept(mine, voter)
        if restarts.get(step) in play.lives:
            play.restart(restarts[step])
    assert len({proposal.view for proposal in play.decided}) <= 1
