"""The rules of views that begin another lineage."""

from __future__ import annotations

from random import Random

from groupcore.events import Flushed
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot
from groupcore.membership.branching import fork, into, unite
from groupcore.membership.succession import binding
from groupcore.view import View
from tests.groupcore.membership.building import A, B, C, D, E, view_of, vote

BALLOT = Ballot(1, D)
BASIS = view_of(A, B, C, D, E)
VOTES = [vote(D), vote(E)]
STOPPED = {
    D: Flushed(D, BALLOT, {A: 5, D: 2}, 17, {A: 4, D: 1}),
    E: Flushed(E, BALLOT, {A: 6, D: 2}, 18, {A: 5, D: 1}),
}


def test_a_component_goes_on_in_a_view_of_a_lineage_number_and_epoch_of_its_own() -> None:
    view = fork(BASIS, VOTES, STOPPED, Random(1))
    assert view.members == (D, E)
    assert view.lineage != BASIS.lineage
    assert not view.primary
    assert BASIS.primary
    assert view.number > BASIS.number + 1
    assert view.epoch > BASIS.epoch + 1
    assert view.floor == 18


def test_a_side_ends_with_what_anybody_of_it_has_delivered_and_not_with_what_is_held() -> None:
    # what a quorum does not hold may get another place where the others go on
    view = fork(BASIS, VOTES, STOPPED, Random(1))
    proposal = into(BASIS, VOTES, STOPPED, view)
    assert proposal.cut == {A: 5, D: 1}
    assert proposal.holders == {A: (E,), D: (D, E)}
    assert proposal.position == 18
    assert (proposal.basis, proposal.basis_lineage) == (BASIS.number, BASIS.lineage)
    assert proposal.forked


def test_a_components_own_view_is_decided_by_all_of_its_members() -> None:
    view = fork(BASIS, VOTES, STOPPED, Random(1))
    attempt = Attempt(BASIS, BALLOT, frozenset({D, E}), 5, alone=True)
    attempt.votes = {voted.voter: voted for voted in VOTES}
    attempt.proposal = into(BASIS, VOTES, STOPPED, view)
    attempt.acceptances = {D: True}
    assert not attempt.is_decided()
    attempt.acceptances[E] = True
    assert attempt.is_decided()
    assert attempt.concerned() == {D, E}


def test_a_components_own_view_binds_nobody_in_the_chain_that_it_leaves() -> None:
    proposal = into(BASIS, VOTES, STOPPED, fork(BASIS, VOTES, STOPPED, Random(1)))
    accepted = vote(D, accepted=(BALLOT, proposal))
    assert binding(BASIS, [vote(A), vote(B), accepted]) is None


def test_a_merged_view_binds_like_any_other_successor() -> None:
    merged = unite([(BASIS, (A, B, C), 20), (view_of(D, lineage=8), (D,), 9)], Random(1))
    proposal = into(BASIS, VOTES, STOPPED, merged, (BASIS, view_of(D, lineage=8)))
    accepted = [vote(member, accepted=(BALLOT, proposal)) for member in (A, B, C)]
    assert binding(BASIS, accepted) == proposal
    assert not proposal.forked


def test_a_merge_is_decided_by_a_quorum_of_the_view_whoever_else_comes_with_another_side() -> None:
    mine = view_of(D, A)
    other = view_of(A, B, lineage=8)  # A has joined both; it lives in this one
    merged = unite([(mine, (D,), 0), (other, (A, B), 0)], Random(1))
    attempt = Attempt(mine, BALLOT, frozenset({D, A}), 2, merge_id=7)
    attempt.votes = {D: vote(D)}
    stopped = {D: Flushed(D, BALLOT, {}, 0)}
    attempt.proposal = into(mine, [vote(D)], stopped, merged, (mine, other))
    attempt.acceptances = {D: True}
    assert attempt.is_decided()
    assert binding(mine, [vote(D, accepted=(BALLOT, attempt.proposal))]) == attempt.proposal


def test_the_members_of_a_merged_view_are_sorted_and_the_first_coordinates() -> None:
    one, two = view_of(C, A, number=9, epoch=2), View(4, 5, 0, 8, (E, B))
    view = unite([(one, (C, A), 30), (two, (E, B), 41)], Random(1))
    assert view.members == (A, B, C, E)
    assert view.coordinator == A
    assert view.number > 9
    assert (view.epoch, view.floor) == (6, 41)


def test_a_merge_is_primary_if_one_of_its_sides_is() -> None:
    forked = [(View(4, 1, 0, 8, (A,)), (A,), 0), (View(5, 1, 0, 6, (B,)), (B,), 0)]
    assert not unite(forked, Random(1)).primary
    assert unite([*forked, (view_of(C), (C,), 0)], Random(1)).primary


def test_who_is_told_of_a_merged_view_are_the_own_side_and_whom_it_leaves_behind() -> None:
    mine = view_of(A, B, C)
    attempt = Attempt(mine, BALLOT, frozenset({A, B, C}), 3, merge_id=7)
    attempt.votes = {member: vote(member) for member in (A, B, C)}
    merged = unite([(mine, (A, B), 0), (view_of(D, lineage=8), (D,), 0)], Random(1))
    stopped = {m: Flushed(m, BALLOT, {}, 0) for m in (A, B, C)}
    attempt.proposal = into(mine, list(attempt.votes.values()), stopped, merged, (mine,))
    assert attempt.concerned() == {A, B, C}
