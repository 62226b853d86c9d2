"""The rules of which view follows a view."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.digest import Digest
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.seats import (
    VOTERS_MIN,
    can_decide,
    decidable,
    electors,
    unique_names,
)
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Candidates, decide, is_quorum_of, may_decide
from groupcore.view import Address, View, is_quorum
from tests.groupcore.membership.building import A, B, C, D, E, proposal_of, view_of, vote

BASIS = view_of(A, B, C)
NOBODY = Candidates()


def decided(
    *votes: Vote, basis: View | None = BASIS, candidates: Candidates = NOBODY, size: int = 3
) -> Proposal:
    proposal = decide(basis, list(votes), candidates, size, lineage=99)
    assert proposal is not None
    return proposal


# --- quorums --------------------------------------------------------------------------------------


def test_without_a_quorum_of_votes_nothing_is_decided() -> None:
    assert decide(BASIS, [vote(B)], NOBODY, 3, 99) is None
    assert decide(BASIS, [vote(B), vote(C, counts=False)], NOBODY, 3, 99) is None
    assert decide(BASIS, [vote(B), vote(D)], NOBODY, 3, 99) is None  # a stranger


def test_the_first_view_needs_a_majority_of_the_clusters_size() -> None:
    assert not is_quorum_of(None, {"a"}, 3)
    assert is_quorum_of(None, {"a", "b"}, 3)
    assert not is_quorum_of(None, {"a", "b"}, 4)
    assert is_quorum_of(None, {"a"}, 1)


@pytest.mark.parametrize("size", range(1, 6))
def test_any_two_quorums_for_the_first_view_have_a_node_in_common(size: int) -> None:
    names = "abcde"[:size]
    groups = [set(g) for count in range(size + 1) for g in combinations(names, count)]
    quorums = [group for group in groups if is_quorum_of(None, group, size)]
    assert quorums
    assert all(one & other for one in quorums for other in quorums)


def test_a_restarted_node_votes_for_its_former_life() -> None:
    assert may_decide(BASIS, [vote(Address("b", 9), live=False), vote(C)], 3)


# --- what may have been decided already -----------------------------------------------------------


def test_what_a_voter_has_accepted_is_proposed_again() -> None:
    earlier = proposal_of(A, C)
    assert decided(vote(A, accepted=(Ballot(1, C), earlier)), vote(B)) == earlier


def test_of_several_acceptances_the_highest_ballot_is_proposed_again() -> None:
    low, high = proposal_of(A, B), proposal_of(A, B, C)
    votes = [vote(A, accepted=(Ballot(1, C), low)), vote(C, accepted=(Ballot(2, A), high))]
    assert decided(*votes) == high
    assert decided(*reversed(votes)) == high


def test_a_ballot_of_the_same_round_is_higher_by_its_proposer() -> None:
    low, high = proposal_of(A, B), proposal_of(B, C)
    votes = [vote(A, accepted=(Ballot(1, A), low)), vote(B, accepted=(Ballot(1, B), high))]
    assert decided(*votes) == high


def test_what_too_few_of_those_who_stay_can_have_accepted_does_not_bind() -> None:
    # A leaves, accepts its own proposal [B], and dies: B has promised and has not accepted.
    basis = view_of(A, B)
    left = proposal_of(B, cut={A: 3})
    again = Address("a", 2)
    bound = vote(again, live=False, accepted=(Ballot(1, A), left), holds=(1, 3))
    proposal = decided(bound, vote(B, holds=(1, 1)), basis=basis)
    assert proposal != left
    assert proposal.recovered


def test_what_enough_of_those_who_have_not_voted_may_have_accepted_binds() -> None:
    basis = view_of(A, B)
    left = proposal_of(B, cut={A: 3})
    again = Address("a", 2)
    assert decided(vote(again, live=False, accepted=(Ballot(1, A), left)), basis=basis) == left


def test_what_only_voters_without_a_disk_have_accepted_binds_nobody() -> None:
    # B has promised and lost its disk; what C asked it to accept, it accepted with an empty one.
    attempted = proposal_of(B, C, cut={A: 6})
    again = Address("b", 2)
    blank = vote(again, live=False, counts=False, accepted=(Ballot(1, C), attempted))
    proposal = decided(vote(Address("a", 2), live=False), blank, vote(C))
    assert proposal != attempted
    counted = vote(again, live=False, accepted=(Ballot(1, C), attempted))
    assert decided(vote(Address("a", 2), live=False), counted, vote(C)) == attempted


def test_a_later_acceptance_may_hide_an_earlier_one() -> None:
    low, high = proposal_of(B, C), proposal_of(B)
    votes = [
        vote(A, accepted=(Ballot(1, A), low)),
        vote(B, accepted=None),
        vote(C, accepted=(Ballot(2, B), high)),
    ]
    # `high` is impossible, since B alone would have to have accepted it; `low` is impossible, too.
    assert decided(*votes).view.members == (A, B, C)
    votes[1] = vote(B, accepted=(Ballot(1, A), low))
    assert decided(*votes) == low


def test_the_first_view_and_a_recovered_one_always_bind() -> None:
    first = proposal_of(C, D, basis=0)
    assert decided(vote(A, accepted=(Ballot(1, A), first)), vote(B), basis=None) == first
    recovered = proposal_of(C, recovered=True)
    assert decided(vote(A, accepted=(Ballot(1, A), recovered)), vote(B), vote(C)) == recovered


def test_when_none_of_the_accepted_proposals_stayers_are_known_it_binds() -> None:
    strange = proposal_of(D, E)
    assert decided(vote(A, accepted=(Ballot(1, A), strange)), vote(B)) == strange


# --- orderly --------------------------------------------------------------------------------------


def test_an_orderly_successor_keeps_those_who_vote_in_rank_order() -> None:
    proposal = decided(vote(C), vote(A))
    assert proposal.view == View(4, 1, 0, BASIS.lineage, (A, C), ("a", "c", "b"))
    assert not proposal.recovered
    assert proposal.basis == 3
    assert proposal.state_holders == (A, C)
    assert proposal.voters == (A, C)


def test_the_cut_is_everything_that_any_voter_holds_and_names_who_holds_it() -> None:
    proposal = decided(vote(A, {A: 5, B: 2}), vote(B, {A: 4, B: 2, C: 7}), vote(C, {A: 5, C: 1}))
    assert proposal.cut == {A: 5, B: 2, C: 7}
    assert proposal.holders == {A: (A, C), B: (A, B), C: (B,)}


@pytest.mark.parametrize(
    "candidates", [Candidates(leaving=frozenset({B})), Candidates(cut_off=frozenset({B}))]
)
def test_what_only_who_does_not_go_on_holds_is_in_the_cut(candidates: Candidates) -> None:
    proposal = decided(
        vote(A, {A: 5}), vote(B, {A: 7, B: 9}), vote(C, {A: 6}), candidates=candidates
    )
    assert proposal.view.members == (A, C)
    assert proposal.cut == {A: 7, B: 9}
    assert proposal.holders == {A: (B,), B: (B,)}


@settings(max_examples=60)
@given(
    st.lists(st.dictionaries(st.sampled_from([A, B, C]), st.integers(1, 5)), min_size=2, max_size=3)
)
def test_every_part_of_the_cut_has_a_holder_among_the_voters(digests: list[Digest]) -> None:
    votes = [vote(member, digest) for member, digest in zip((A, B, C), digests, strict=False)]
    proposal = decided(*votes)
    held = {v.voter: v.digest for v in votes}
    for sender, seqno in proposal.cut.items():
        assert proposal.holders[sender]
        assert all(held[holder][sender] >= seqno for holder in proposal.holders[sender])


def test_who_leaves_and_who_is_cut_off_is_in_the_next_view_no_more() -> None:
    four = view_of(A, B, C, D)
    votes = [vote(m) for m in four.members]
    leaving = Candidates(leaving=frozenset({A}))
    assert decided(*votes, basis=four, candidates=leaving).view.members == (B, C, D)
    cut_off = Candidates(cut_off=frozenset({D}))
    assert decided(*votes, basis=four, candidates=cut_off).view.members == (A, B, C)


def test_who_leaves_must_wait_until_the_others_have_the_state() -> None:
    candidates = Candidates(leaving=frozenset({A}), stateful=True)
    votes = [vote(A), vote(B, counts=False)]
    proposal = decided(*votes, basis=view_of(A, B), candidates=candidates)
    assert proposal.view.members == (A, B)


def test_who_is_cut_off_stays_where_nobody_else_has_the_state() -> None:
    candidates = Candidates(cut_off=frozenset({A}), stateful=True)
    votes = [vote(A), vote(B, counts=False), vote(C, counts=False)]
    basis = replace(view_of(A, B, C), voters=("a", "b"))
    proposal = decided(*votes, basis=basis, candidates=candidates)
    assert proposal.view.members == (A, B, C)
    votes = [vote(A), vote(B), vote(C, counts=False)]
    proposal = decided(*votes, basis=basis, candidates=candidates)
    assert proposal.view.members == (B, C)
    assert proposal.view.voters == ("b", "a")


def test_those_who_have_restarted_do_not_bring_a_memory() -> None:
    again = Address("c", 2)
    proposal = decided(vote(A), vote(B), vote(again, {A: 9}, live=False))
    assert proposal.view.members == (A, B)
    assert proposal.cut == {}


AWAY = replace(view_of(A, B), voters=("a", "b", "c"))
"""A view of a and b, of which c is a voter that is away."""


def test_the_vote_of_a_voter_that_is_away_makes_no_view_from_disk() -> None:
    """It has acknowledged nothing of the view: what a quorum has confirmed is with who lives."""
    again = vote(Address("c", 2), live=False, holds=(1, 99))
    proposal = decided(vote(A, {A: 7, B: 4}), again, basis=AWAY)
    assert not proposal.recovered
    assert (proposal.cut, proposal.view.epoch) == ({A: 7, B: 4}, AWAY.epoch)
    assert (proposal.view.members, proposal.view.voters) == ((A,), ("a", "b"))
    assert (proposal.state_holders, proposal.voters) == ((A,), (A, Address("c", 2)))
    joins = Candidates(joiners=(Address("c", 2),), stateful=True)
    assert decided(vote(B), again, basis=AWAY, candidates=joins).view.voters == ("b", "c")


def test_a_member_that_has_restarted_has_lost_a_memory_of_the_view() -> None:
    """It may have held what it confirmed together with the other."""
    restarted = vote(Address("b", 2), live=False)
    assert decided(vote(A, {A: 7}), restarted, basis=AWAY).recovered
    away = vote(Address("c", 2), live=False)
    assert decided(restarted, away, basis=AWAY).recovered
    assert not decided(vote(A), restarted, away, basis=AWAY).recovered
    rebuilding = vote(Address("c", 2), live=False, counts=False)
    assert decide(AWAY, [vote(A), rebuilding], NOBODY, 3, 99) is None


def test_joiners_come_after_the_members_by_address() -> None:
    candidates = Candidates(joiners=(E, D))
    assert decided(vote(A), vote(B), candidates=candidates).view.members == (A, B, D, E)


# --- joiners --------------------------------------------------------------------------------------


addresses = st.builds(Address, st.sampled_from("abcdefgh"), st.integers(1, 2))


@settings(max_examples=80)
@given(
    st.lists(addresses, min_size=1, max_size=5, unique_by=lambda a: a.name),
    st.lists(addresses, max_size=5),
    st.data(),
)
def test_those_with_the_state_are_a_quorum_of_the_next_voters(
    members: list[Address], joiners: list[Address], data: st.DataObject
) -> None:
    """What a view begins with is known to every quorum of it."""
    members = unique_names([*members, *joiners])
    having = data.draw(st.sets(st.sampled_from(members)))
    former = [member.name for member in data.draw(st.permutations([A, B, C, D, E]))][:3]
    voters = electors(members, having, former)
    with_state = [member.name for member in members if member in having]
    names = [member.name for member in members]
    assert len(set(voters)) == len(voters)
    if not with_state:
        assert list(voters) == names
        return
    assert is_quorum(voters, with_state)
    assert list(voters[: len(with_state)]) == with_state
    kept = voters[len(with_state) :]
    assert set(kept) <= set(former)
    assert len(voters) <= max(VOTERS_MIN, len(with_state))
    left = [name for name in former if name not in voters]
    if left and len(voters) < VOTERS_MIN:
        assert not is_quorum((*voters, left[0]), with_state)


def test_who_has_no_state_is_a_learner_until_it_has() -> None:
    candidates = Candidates(joiners=(D, E), stateful=True)
    joined = decided(vote(A), vote(B), vote(C), candidates=candidates).view
    assert (joined.names, joined.voters) == (("a", "b", "c", "d", "e"), ("a", "b", "c"))
    assert joined.learners == (D, E)
    votes = [vote(A), vote(B), vote(C), vote(D), vote(E, counts=False)]
    promoted = decided(*votes, basis=joined, candidates=Candidates(stateful=True)).view
    assert promoted.members == joined.members
    assert promoted.voters == ("a", "b", "c", "d")


def test_an_absent_voter_is_kept_while_there_would_be_fewer_than_three() -> None:
    away = decided(vote(A), vote(B), candidates=Candidates(stateful=True)).view
    assert (away.names, away.voters, away.absent) == (("a", "b"), ("a", "b", "c"), ("c",))
    assert not away.is_quorum({"a"})
    assert away.is_quorum({"b", "c"})
    five = view_of(A, B, C, D, E)
    left = decided(vote(A), vote(B), vote(C), basis=five, size=5).view
    assert left.voters == ("a", "b", "c")


def test_who_is_back_without_the_state_keeps_its_vote_where_it_is_one_of_three() -> None:
    away = replace(view_of(A, B), voters=("a", "b", "c"))
    candidates = Candidates(joiners=(C, D), stateful=True)
    back = decided(vote(A), vote(B), basis=away, candidates=candidates).view
    assert (back.names, back.voters) == (("a", "b", "c", "d"), ("a", "b", "c"))
    learned = [vote(A), vote(B), vote(C, counts=False), vote(D)]
    instead = decided(*learned, basis=back, candidates=Candidates(stateful=True)).view
    assert instead.voters == ("a", "b", "d")


def test_who_leaves_in_an_orderly_way_is_a_voter_no_more() -> None:
    candidates = Candidates(leaving=frozenset({C}), stateful=True)
    two = decided(vote(A), vote(B), vote(C), candidates=candidates).view
    assert two.voters == two.names == ("a", "b")
    candidates = Candidates(leaving=frozenset({B}), stateful=True)
    one = decided(vote(A), vote(B), basis=two, candidates=candidates).view
    assert one.voters == one.names == ("a",)


def test_a_node_alone_goes_on_alone_and_grows() -> None:
    alone = view_of(A)
    candidates = Candidates(joiners=(B,), stateful=True)
    grown = decided(vote(A), basis=alone, candidates=candidates, size=1).view
    assert (grown.names, grown.voters) == (("a", "b"), ("a",))
    promoted = decided(vote(A), vote(B), basis=grown, candidates=Candidates(stateful=True)).view
    assert promoted.voters == ("a", "b")


def test_without_state_everybody_votes_at_once() -> None:
    joined = decided(vote(A), vote(B), candidates=Candidates(joiners=(D,))).view
    assert joined.voters == ("a", "b", "d")


def test_those_who_decide_are_a_quorum_without_the_joiners_where_there_is_no_state() -> None:
    """Nobody knows yet whether a joiner begins the view; it votes when it has said that it does."""
    alone, both = view_of(A), Candidates(joiners=(B, C))
    grown = decided(vote(A), basis=alone, candidates=both, size=1).view
    assert (grown.names, grown.voters, grown.learners) == (("a", "b", "c"), ("a", "b"), (C,))
    promoted = decided(vote(A), vote(B), vote(C), basis=grown).view
    assert promoted.voters == ("a", "b", "c")
    pair = view_of(C, B)
    left = decided(vote(C), basis=pair, candidates=Candidates(joiners=(A,))).view
    assert left.voters == ("c", "a")
    assert left.is_quorum({"c"})


@given(st.lists(addresses, min_size=1, max_size=8, unique_by=lambda a: a.name), st.integers(1, 8))
def test_no_more_vote_than_leave_those_who_decide_a_quorum(
    members: list[Address], many: int
) -> None:
    complete = set(members[:many])
    names = tuple(member.name for member in members)
    voters = decidable(names, complete)
    assert is_quorum(voters, [member.name for member in complete])
    assert voters == names[: len(voters)]
    more = names[: len(voters) + 1]
    assert more == voters or not is_quorum(more, [member.name for member in complete])


def test_a_kept_voter_votes_with_what_its_disk_knows() -> None:
    """It has lived in no life of that view, and a quorum of its voters has what that began with."""
    away = replace(view_of(A, B, number=4), voters=("a", "b", "c"))
    accepted = replace(proposal_of(A, B), view=away)
    assert not Record(BASIS).lacks_state_of(away, "c")
    assert not replace(Record(BASIS), accepted=accepted).lacks_state_of(away, "c")


def test_two_lives_of_one_node_are_never_in_one_view() -> None:
    again = Address("a", 2)
    assert unique_names([A, B, again]) == [A, B]


def test_nobody_decides_a_view_of_nobody() -> None:
    assert not can_decide([], {A})


# --- recovered ------------------------------------------------------------------------------------


def test_a_view_from_disk_takes_its_state_from_whoever_holds_most() -> None:
    votes = [
        vote(A, live=False, holds=(1, 90)),
        vote(B, live=False, holds=(1, 92)),
        vote(C, live=False, holds=(1, 92)),
    ]
    proposal = decided(*votes, candidates=Candidates(stateful=True))
    assert proposal.recovered
    assert proposal.view == View(4, 2, 92, BASIS.lineage, (B, C, A))
    assert (proposal.position, proposal.state_holders) == (92, (B, C))
    assert (proposal.cut, proposal.holders) == ({}, {})


def test_nodes_keep_their_former_ranks_so_that_who_decided_by_them_can_decide_again() -> None:
    last = View(3, 1, 0, BASIS.lineage, (C, A, B))
    votes = [vote(member, live=False, holds=(1, 9)) for member in (A, B, C)]
    proposal = decided(*votes, basis=last, candidates=Candidates(stateful=True))
    assert proposal.view.members == (C, A, B)


def test_who_lives_goes_before_who_was_restarted() -> None:
    """A view of two is the first one's: better the one that has its memory."""
    votes = [vote(A, live=False, holds=(1, 9)), vote(B, holds=(1, 9)), vote(C, live=False)]
    assert decided(*votes).view.members[:2] == (B, A)


def test_a_later_epoch_is_more_than_a_later_position() -> None:
    votes = [vote(A, live=False, holds=(1, 99)), vote(B, live=False, holds=(2, 5))]
    proposal = decided(*votes)
    assert proposal.state_holders == (B,)
    assert proposal.view.epoch == 3


def test_a_disk_that_does_not_count_is_no_source() -> None:
    votes = [
        vote(A, live=False, holds=(1, 5)),
        vote(B, live=False, holds=(1, 4)),
        vote(C, live=False, counts=False, holds=(1, 99)),
    ]
    proposal = decided(*votes)
    assert proposal.state_holders == (A,)
    assert proposal.voters == (A, B)


def test_a_view_from_disk_takes_who_has_a_vote_before_who_has_lost_its_disk() -> None:
    votes = [
        vote(A, live=False, holds=(1, 9)),
        vote(B, live=False, counts=False),
        vote(C, live=False, holds=(1, 5)),
    ]
    proposal = decided(*votes, candidates=Candidates(stateful=True))
    assert proposal.view.members == (A, C, B)
    assert proposal.view.voters == ("a", "c")  # a alone has the state, and tips the scales


def test_a_live_member_that_holds_less_is_left_out() -> None:
    votes = [vote(A, holds=(1, 3)), vote(Address("b", 2), live=False, holds=(1, 9))]
    assert decided(*votes).view.members == (Address("b", 2),)


def test_the_very_first_view_draws_a_lineage_and_begins_epoch_one() -> None:
    votes = [vote(B, live=False), vote(A, live=False)]
    proposal = decided(*votes, basis=None, candidates=Candidates(stateful=True))
    assert proposal.view == View(1, 1, 0, 99, (A, B))
    assert proposal.state_holders == ()  # there is no state yet, and nobody lacks it


def test_at_the_very_first_nobody_lacks_a_state_and_everybody_is_admitted() -> None:
    votes = [vote(m, live=False, counts=m in (A, B)) for m in (A, B, C, D, E)]
    proposal = decided(*votes, basis=None, candidates=Candidates(stateful=True))
    assert proposal.view.members == (A, B, C, D, E)


def test_an_epoch_without_messages_has_a_state_all_the_same() -> None:
    votes = [vote(m, live=False, holds=(1, 0)) for m in (A, B)]
    assert decided(*votes).state_holders == (A, B)


def test_a_first_view_with_data_on_disk_goes_on_from_it() -> None:
    votes = [vote(A, live=False), vote(B, live=False, holds=(2, 7))]
    proposal = decided(*votes, basis=None, candidates=Candidates(stateful=True))
    assert (proposal.view.epoch, proposal.view.floor) == (3, 7)
    assert proposal.view.members[0] == B
    assert proposal.state_holders == (B,)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9)), min_size=3, max_size=3))
def test_a_recovered_view_can_be_decided_by_those_who_hold_its_state(
    kinds: list[tuple[bool, bool, int]],
) -> None:
    votes = [
        vote(member, live=live, counts=counts, holds=(1, position))
        for member, (live, counts, position) in zip((A, B, C), kinds, strict=True)
    ]
    proposal = decide(BASIS, votes, Candidates(stateful=True), 3, 99)
    if proposal is not None and proposal.recovered:
        assert proposal.view.is_quorum(m.name for m in proposal.state_holders)


# --- records --------------------------------------------------------------------------------------


def test_a_voter_takes_part_in_no_ballot_below_one_that_it_has_promised() -> None:
    record = Record().with_promise(Ballot(2, B))
    assert not record.may_promise(Ballot(2, A))
    assert record.may_promise(Ballot(2, B))
    assert record.may_promise(Ballot(3, A))
    assert Record().may_promise(Ballot(1, A))


def test_accepting_promises_as_well() -> None:
    record = Record(BASIS).with_acceptance(Ballot(2, B), proposal_of(A))
    assert record.promised == record.accepted_ballot == Ballot(2, B)
    assert record.accepted == proposal_of(A)


def test_a_new_view_opens_its_own_succession() -> None:
    record = Record().with_acceptance(Ballot(2, B), proposal_of(A)).with_view(BASIS, True)
    assert record == Record(BASIS, rebuilding=True)
    assert (record.number, Record().number) == (3, 0)


# --- the data plane -------------------------------------------------------------------------------


def test_the_cut_has_the_most_of_every_stream_that_any_live_voter_has() -> None:
    """Of one that leaves, one that is cut off and one whose vote does not count, too."""
    proposal = decided(
        vote(A, streams={A: 4, D: 1}),
        vote(B, streams={A: 6}),
        vote(C, counts=False, streams={A: 6, C: 2}),
        candidates=Candidates(leaving=frozenset({B}), cut_off=frozenset({C})),
    )
    assert proposal.view.members == (A,)
    assert proposal.streams == {A: 6, C: 2, D: 1}
    assert proposal.stream_holders == {A: (B, C), C: (C,), D: (A,)}


def test_a_recovered_view_has_no_streams_where_they_are_in_memory() -> None:
    """Who forms it has a disk, and knows of none."""
    proposal = decided(vote(A, live=False), vote(B, live=False), vote(C, streams={A: 6}))
    assert proposal.recovered
    assert (proposal.streams, proposal.stream_holders) == ({}, {})


def test_with_a_data_plane_all_join_and_the_decision_stays_with_those_who_have_it() -> None:
    """A node that has not got the streams yet decides nothing."""
    stateful = MembershipOptions(data_plane=True).stateful
    many = Candidates(joiners=(B, C, D), stateful=stateful)
    view = decided(vote(A), basis=view_of(A), candidates=many).view
    assert (view.members, view.voters) == ((A, B, C, D), ("a",))
