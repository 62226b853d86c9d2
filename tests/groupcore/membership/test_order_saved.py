"""Where applications' disks decide what is saved: a view begins with that on enough disks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.effects import Notify
from groupcore.events import CutAgreed, Flushed, FlushStarted
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.headers import Accept, Prepare, Promise
from groupcore.membership.log_end import NO_LOG, LogEnd
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Candidates, decide, same_quorums
from groupcore.membership.voter import Voter
from groupcore.view import View
from tests.groupcore.layers.building import downs, events
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    D,
    E,
    World,
    proposal_of,
    state_of,
    view_of,
    vote,
)
from tests.groupcore.membership.test_streams_on_disk import answer
from tests.groupcore.membership.test_voter import FIRST, VIEW, propose

COUNTED = MembershipOptions(application_state=True, durable=True, counts_disks=True)
DISKS = Candidates(stateful=True, counts_disks=True)
FIVE = view_of(A, B, C, D, E)
REACHES = proposal_of(A, B, C, order=LogEnd(1, 12), delivered={A: 7})


def lives(number: int, synced: int, counts: bool = True, position: int = 20) -> Vote:
    """A vote of the member of this number in FIVE, behind its flush."""
    told = vote(FIVE.members[number], holds=(1, position), counts=counts, delivered={A: number})
    return replace(told, synced=synced)


def decided(*votes: Vote, basis: View = FIVE) -> Proposal:
    proposal = decide(basis, list(votes), DISKS, 5, lineage=99)
    assert proposal is not None
    return proposal


# --- what may be saved ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("synced", "saved"),
    [
        ((5, 7, 9), 9),  # with the two of whom nothing is known c would be three
        ((5, 7, 9, 11), 9),  # d and the fifth are two, with c three
        ((0, 0, 0), 0),
    ],
)
def test_saved_may_be_what_a_quorum_can_have_synced(synced: tuple[int, ...], saved: int) -> None:
    proposal = decided(*(lives(number, place) for number, place in enumerate(synced)))
    assert not proposal.recovered
    assert proposal.order == (LogEnd(1, saved) if saved else NO_LOG)
    assert proposal.delivered == {A: len(synced) - 1}


def test_the_same_voters_need_not_store_anything_before_they_go_on() -> None:
    """What a quorum of them has, a quorum of them has."""
    assert decided(*(lives(number, 5 + number) for number in range(5))).order == NO_LOG
    assert same_quorums(("a", "b", "c"), ("c", "b", "a"))
    assert same_quorums(("a", "b", "c", "d"), ("a", "d", "c", "b"))
    assert not same_quorums(("a", "b", "c", "d"), ("d", "a", "b", "c"))  # c and d, with d first
    assert not same_quorums(("a", "b", "c"), ("a", "b"))


def test_of_a_member_that_is_being_rebuilt_nothing_is_known() -> None:
    """Its disk was counted before it was lost."""
    votes = [lives(0, 9), lives(1, 5), lives(2, 5), lives(3, 0, counts=False)]
    assert decided(*votes).order == LogEnd(1, 9)  # a, d and e


def test_applications_that_never_say_how_far_they_are_are_waited_for_by_nobody() -> None:
    assert decided(lives(0, 0), lives(1, 0), lives(2, 0)).order == NO_LOG


def test_the_source_of_a_view_from_disk_stores_what_any_disk_has_that_votes() -> None:
    """It has more in memory; what it alone has in memory is on no disk, so nobody was told."""
    disk = vote(B, None, False, holds=(1, 15))
    proposal = decided(replace(vote(A, holds=(1, 20)), synced=11), disk, basis=VIEW)
    assert proposal.recovered
    assert (proposal.position, proposal.state_holders) == (20, (A,))
    assert proposal.order == LogEnd(1, 15)
    mine = Attempt(VIEW, Ballot(1, A), frozenset({A, B}), 3)
    mine.votes = {A: vote(A), B: disk}
    mine.proposal = proposal
    mine.acceptances = {A: False, B: True}
    assert not mine.is_decided()
    mine.acceptances[A] = True
    assert mine.is_decided()


def test_what_the_flush_has_said_of_the_disk_is_in_the_vote() -> None:
    mine = Attempt(VIEW, Ballot(1, A), frozenset({A}), 3)
    mine.votes = {A: vote(A, holds=(1, 0))}
    mine.stopped = {A: Flushed(A, mine.ballot, {}, 20, {}, {}, 11)}
    (complete,) = mine.complete_votes()
    assert (complete.synced, complete.disk_end) == (11, LogEnd(1, 11))


# --- the voter ------------------------------------------------------------------------------------


def living(synced: int) -> Voter:
    voter = Voter(state_of(A, VIEW, options=COUNTED), World().questions())
    voter.on_synced(1, synced, 0)
    return voter


def test_a_member_accepts_when_its_application_has_stored_what_may_be_saved() -> None:
    voter = living(10)
    effects = voter.on_propose(B, propose(REACHES))
    assert events(effects) == [FlushStarted(), CutAgreed({A: 7})]
    assert downs(effects) == []
    assert voter.state.record.accepted is None
    assert voter.on_synced(1, 11, 0) == []
    effects = voter.on_synced(1, 12, 0)
    assert effects[0] == Notify(CutAgreed({A: 7}))
    assert answer(voter, effects) == [Accept(3, FIRST, True)]
    assert voter.vote().holds


def test_a_member_that_has_stored_it_already_accepts_at_once() -> None:
    voter = living(12)
    assert answer(voter, voter.on_propose(B, propose(REACHES))) == [Accept(3, FIRST, True)]


def test_who_has_only_its_disk_holds_what_that_has() -> None:
    for held, holds in (((1, 11), False), ((0, 99), False), ((1, 12), True), ((2, 0), True)):
        state = state_of(A, None, Record(VIEW), COUNTED)
        state.stored = held
        voter = Voter(state, World().questions())
        assert answer(voter, voter.on_propose(B, propose(REACHES))) == [Accept(3, FIRST, holds)]
        assert voter.vote().holds is holds


def test_a_source_says_again_that_it_has_accepted_when_it_has_stored_it() -> None:
    voter = living(10)
    source = proposal_of(A, B, recovered=True, state_holders=(A,), order=LogEnd(1, 12))
    assert answer(voter, voter.on_propose(B, propose(source))) == [Accept(3, FIRST, False)]
    assert answer(voter, voter.on_synced(1, 12, 0)) == [Accept(3, FIRST, True)]


def test_a_vote_before_the_flush_says_nothing_of_the_disk() -> None:
    voter = living(10)
    (promise,) = answer(voter, voter.on_prepare(B, Prepare(VIEW, FIRST)))
    assert isinstance(promise, Promise)
    assert promise.vote.synced == 0
    assert voter.state.synced == 10


def test_what_is_on_disk_of_a_former_epoch_is_nothing_of_this_one() -> None:
    state = state_of(A, VIEW, options=COUNTED)
    state.stored = (0, 99)
    assert state.synced == 0
