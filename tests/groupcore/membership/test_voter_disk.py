"""Whose disk has a vote on what follows a view that its node learns of and never began."""

from __future__ import annotations

from groupcore.membership.ballots import Ballot, Record, Vote
from groupcore.membership.headers import Prepare
from groupcore.membership.state import MembershipOptions
from groupcore.membership.voter import Voter
from groupcore.view import Address, View
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    World,
    install_of,
    proposal_of,
    state_of,
    view_of,
)

FIRST = Ballot(1, B)
BEFORE = Address("a", 0)
"""The life of A before."""
JOINED = view_of(B, C, BEFORE, number=4)


def learned(before: Record, view: View, *later: View) -> Vote:
    """The vote of A, whose node keeps state, on what follows a view that it learns of."""
    state = state_of(A, None, before, MembershipOptions(application_state=True, durable=True))
    voter = Voter(state, World().questions())
    for told in (view, *later):
        voter.on_prepare(B, Prepare(told, FIRST))
        assert state.record.view == told
    return voter.vote()


def test_who_joined_without_the_state_and_never_began_its_view_has_no_vote() -> None:
    assert not learned(Record(view_of(B, C)), JOINED).counts


def test_who_came_from_the_view_before_or_is_not_in_it_has_its_vote() -> None:
    assert learned(Record(view_of(B, BEFORE)), JOINED).counts
    assert learned(Record(view_of(B, C)), view_of(B, C, number=4)).counts


def test_who_has_accepted_the_view_has_a_vote_if_it_was_to_hold_the_state() -> None:
    def accepted(*holders: Address) -> Record:
        proposal = proposal_of(B, C, BEFORE, recovered=True, state_holders=holders)
        return Record(view_of(B, C)).with_acceptance(FIRST, proposal)

    assert learned(accepted(B, BEFORE), JOINED).counts
    assert learned(accepted(), JOINED).counts  # there is no state yet
    assert not learned(accepted(B, C), JOINED).counts


def test_who_comes_with_an_empty_disk_says_so_until_it_begins_a_view() -> None:
    """Also of a later view that it is told of: it may have been in that before."""
    for vote in (learned(Record(), JOINED), learned(Record(), view_of(B, C), JOINED)):
        assert (vote.lost, vote.counts) == (True, False)
    state = state_of(A, None, Record(), MembershipOptions(application_state=True, durable=True))
    voter = Voter(state, World().questions())
    voter.on_prepare(B, Prepare(JOINED, FIRST))
    install = install_of(proposal_of(B, C, A, basis=4, state_holders=(B, C)))
    voter.on_install(B, install)
    voter.on_cut_delivered()
    assert state.record.rebuilding
    assert not state.record.lost
    assert not voter.vote().lost


def test_who_is_rebuilding_or_was_away_knows_what_it_has_accepted() -> None:
    assert not learned(Record(view_of(B, BEFORE), rebuilding=True), JOINED).lost
    assert not learned(Record(view_of(B, C)), JOINED).lost
