"""The rule of GMS that no member stops a quorum of others which hears one another (I9)."""

from __future__ import annotations

from groupcore.layers.membership import Membership
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot
from groupcore.membership.headers import Install, Prepare, Promise, Propose
from groupcore.membership.state import MembershipOptions
from groupcore.view import Address
from tests.groupcore.layers.building import stored, told
from tests.groupcore.layers.memberships import asks_for, hear, member, store
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    D,
    E,
    World,
    install_of,
    proposal_of,
    view_of,
    vote,
)

MEMBERS = (A, B, C, D, E)
VIEW = view_of(*MEMBERS)
TURN_S = MembershipOptions().turn_s
LOST = {m: frozenset({E}) for m in (A, B, C, D)}


def waiting(me: Address) -> Membership:
    """A member that has waited a turn for A to bring about a view without E, which nobody hears."""
    layer = member(me, World(unheard=LOST), MEMBERS)
    assert not asks_for(3, layer.on_timer("tick", 0.0))
    return layer


def test_while_a_turn_lasts_the_others_leave_the_word_to_the_oldest() -> None:
    assert not asks_for(3, waiting(B).on_timer("tick", TURN_S - 0.1))


def test_when_the_turn_of_the_oldest_has_ended_the_next_proposes_and_only_that() -> None:  # I9
    assert asks_for(3, waiting(B).on_timer("tick", TURN_S))
    assert not asks_for(3, waiting(C).on_timer("tick", TURN_S))


def test_it_proposes_though_it_was_stopped_and_the_former_proposer_asks_on() -> None:
    layer = waiting(B)
    hear(layer, A, Prepare(VIEW, Ballot(1, A)), TURN_S - 0.1)
    store(layer)
    layer.state.blocked = True
    assert asks_for(3, layer.on_timer("tick", TURN_S))


def passing_over(me: Address) -> Membership:
    """The same, once the turn of A has ended."""
    layer = waiting(me)
    layer.on_timer("tick", TURN_S)
    assert layer.company.passed_over == {A}
    return layer


def test_who_has_been_passed_over_is_not_answered_while_somebody_else_asks() -> None:
    layer = passing_over(C)
    assert stored(hear(layer, B, Prepare(VIEW, Ballot(2, B)), TURN_S))
    store(layer)
    until = TURN_S + MembershipOptions().attempt_s
    assert hear(layer, A, Prepare(VIEW, Ballot(9, A)), until - 0.1) == []
    late = Propose(3, Ballot(9, A), proposal_of(A, B, C))
    assert hear(layer, A, late, until - 0.1) == []
    assert layer.state.record.promised == Ballot(2, B)
    assert stored(hear(layer, A, Prepare(VIEW, Ballot(9, A)), until))


def test_where_nobody_else_asks_it_is_answered_as_it_may_be_well() -> None:
    layer = passing_over(C)
    assert stored(hear(layer, A, Prepare(VIEW, Ballot(9, A)), TURN_S))
    answers = [header for header in told(store(layer)) if isinstance(header, Promise)]
    assert [answer.promised for answer in answers] == [Ballot(9, A)]


def test_who_has_the_turn_does_not_answer_it_and_proposes_above_it() -> None:
    layer = passing_over(B)
    layer.proposer.abandon(TURN_S)
    assert hear(layer, A, Prepare(VIEW, Ballot(9, A)), TURN_S) == []
    assert asks_for(3, layer.on_timer("tick", layer.proposer.quiet_until))
    assert layer.state.record.promised == Ballot(10, B)


def voting(*voters: Address) -> tuple[Membership, Attempt]:
    """B, whose turn it is, with its own vote and these."""
    layer = passing_over(B)
    store(layer)
    attempt = layer.proposer.attempt
    assert attempt is not None
    for voter in voters:
        hear(layer, voter, Promise(3, attempt.ballot, attempt.ballot, vote(voter)), TURN_S)
    return layer, attempt


def test_its_vote_does_not_count_so_nothing_is_demanded_that_only_it_has() -> None:
    layer, attempt = voting(A, C, D)
    layer.on_timer("repeat", TURN_S + MembershipOptions().vote_s + 0.01)
    assert set(attempt.votes) == {B, C, D}


def test_its_vote_counts_where_nothing_can_be_decided_without_it() -> None:
    layer, attempt = voting(A, C)
    layer.on_timer("repeat", TURN_S + MembershipOptions().vote_s - 0.01)
    assert set(attempt.votes) == {B, C}
    layer.on_timer("repeat", TURN_S + MembershipOptions().vote_s + 0.01)
    assert set(attempt.votes) == {A, B, C}
    assert attempt.flushing


def test_what_it_has_decided_before_is_installed_all_the_same() -> None:
    layer = waiting(C)
    layer.on_timer("tick", TURN_S)
    decided = install_of(proposal_of(A, B, C, D))
    assert isinstance(decided, Install)
    hear(layer, A, decided)
    assert layer.voter.installing is not None
