"""A state holder of a view from disk loses its disk before the decision: the same view follows."""

from __future__ import annotations

from dataclasses import fields, replace

from msgpack import packb, unpackb

from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.log_end import NO_LOG, LogEnd
from groupcore.membership.succession import Candidates, decide
from groupcore.view import Address
from groupcore.wire_fields import codec
from tests.groupcore.membership.building import A, B, C, D, E, proposal_of, vote
from tests.groupcore.membership.test_voter import FIRST, SECOND, VIEW

STORED = Candidates(stateful=True, logged=True)
MORE, LESS = LogEnd(1, 9, 3), LogEnd(1, 7, 3)
NEXT_B = Address("b", 2)
BOTH = proposal_of(A, B, C, recovered=True, state_holders=(A, B), position=9, order=MORE)
WITHOUT_B = replace(BOTH, lost=("b",))


def from_disk(voter: Address, end: LogEnd, accepted: tuple[Ballot, Proposal] | None = None) -> Vote:
    has_cut = accepted is None or end >= accepted[1].order
    held = (end.epoch, end.position)
    return vote(voter, None, False, end != NO_LOG, accepted, held, {}, has_cut, end.view)


def decided(*votes: Vote) -> Proposal:
    proposal = decide(VIEW, list(votes), STORED, 3, lineage=99)
    assert proposal is not None
    return proposal


def attempt(proposal: Proposal, *votes: Vote) -> Attempt:
    made = Attempt(VIEW, SECOND, frozenset(), 3, proposal=proposal)
    made.votes = {one.voter: one for one in votes}
    return made


def test_who_voted_as_a_holder_and_has_an_empty_disk_now_is_named_in_the_same_view() -> None:
    proposal = decided(from_disk(A, MORE, (FIRST, BOTH)), from_disk(C, LESS), vote_of_empty())
    assert proposal == WITHOUT_B


def vote_of_empty() -> Vote:
    return from_disk(NEXT_B, NO_LOG)


def test_while_the_holder_is_not_there_it_is_waited_for() -> None:
    assert decided(from_disk(A, MORE, (FIRST, BOTH)), from_disk(C, LESS)) == BOTH


def test_it_is_decided_when_the_others_hold_the_rest_of_the_cut() -> None:
    mine = attempt(WITHOUT_B, from_disk(A, MORE), from_disk(C, LESS), vote_of_empty())
    mine.acceptances = {C: False, NEXT_B: False}
    assert not mine.is_decided()
    mine.acceptances[A] = True
    assert mine.is_decided()


def test_without_the_name_of_the_lost_one_it_is_not() -> None:
    mine = attempt(BOTH, from_disk(A, MORE), from_disk(C, LESS), vote_of_empty())
    mine.acceptances = {A: True, C: False, NEXT_B: False}
    assert not mine.is_decided()


def test_a_promise_from_before_the_loss_does_not_show_that_it_was_not_decided() -> None:
    """b promised a higher ballot before its disk was lost; a and c may have decided since."""
    before = from_disk(B, MORE)
    assert decided(from_disk(A, MORE, (FIRST, WITHOUT_B)), before).view == BOTH.view
    other = decided(from_disk(A, MORE, (FIRST, BOTH)), before)
    assert other.view != BOTH.view  # there b's acceptance is needed, and it gives none below


def test_who_decides_alone_is_not_gone_without() -> None:
    """What it may have confirmed by itself is on no other disk."""
    alone = replace(BOTH, view=replace(BOTH.view, voters=("b", "a")), state_holders=(B,))
    proposal = decided(from_disk(A, LESS, (FIRST, alone)), from_disk(C, LESS), vote_of_empty())
    assert proposal == alone


def test_who_was_lost_stays_named_when_another_one_is_lost() -> None:
    proposal = decided(from_disk(A, MORE, (FIRST, WITHOUT_B)), from_disk(C, LESS))
    assert proposal == WITHOUT_B


ORDERLY = proposal_of(A, B, C, cut={A: 5}, holders={A: (A, B)})
"""b has accepted it with the cut; a, which proposed it, has lost its disk."""
ITS_LOST = Address("a", 2)


def empty(lost: bool = False) -> Vote:
    return replace(from_disk(ITS_LOST, NO_LOG), lost=lost)


def test_an_orderly_view_may_have_been_decided_with_a_disk_that_is_lost() -> None:
    accepted = vote(B, {A: 5}, accepted=(FIRST, ORDERLY))
    proposal = decided(accepted, vote(C, {A: 3}), empty(lost=True))
    assert (proposal.view, proposal.cut) == (ORDERLY.view, ORDERLY.cut)
    assert proposal.lost == ("a",)


def test_a_disk_that_is_there_shows_that_the_orderly_view_was_not_accepted() -> None:
    """One that has been rebuilding since the former view began has held nothing of its cut."""
    accepted = vote(B, {A: 5}, accepted=(FIRST, ORDERLY))
    for other in (empty(), replace(empty(), live=True), vote(A, {A: 5})):
        anew = decided(accepted, vote(C, {A: 3}), other)
        assert anew.state_holders != ORDERLY.state_holders == ()


def test_an_orderly_view_is_decided_when_another_one_holds_the_cut() -> None:
    accepted = vote(B, {A: 5}, accepted=(FIRST, ORDERLY))
    votes = accepted, from_disk(C, LESS), empty(lost=True)
    mine = attempt(replace(ORDERLY, lost=("a",)), *votes)
    mine.acceptances = {C: False, ITS_LOST: False}
    assert not mine.is_decided()
    mine.acceptances[B] = True
    assert mine.is_decided()
    mine.proposal = ORDERLY
    assert not mine.is_decided()


def test_an_old_promise_does_not_show_that_an_orderly_view_with_a_lost_one_was_not_decided() -> (
    None
):
    """a promised a higher ballot, then lost its disk; b held the cut, and c accepted without."""
    told = from_disk(C, LESS, (FIRST, replace(ORDERLY, lost=("a",), order=MORE)))
    assert decided(vote(A, {A: 5}), told).view == ORDERLY.view
    without = from_disk(C, LESS, (FIRST, replace(ORDERLY, order=MORE)))
    assert decided(vote(A, {A: 5}), without).view != ORDERLY.view


def test_those_who_are_lost_are_never_all_who_may_hold_the_cut() -> None:
    other = replace(empty(lost=True), voter=NEXT_B)
    accepted = from_disk(C, LESS, (FIRST, ORDERLY))
    votes = [accepted, vote(D, {A: 3}), vote(E), empty(lost=True), other]
    five = replace(VIEW, members=(A, B, C, D, E), voters=("a", "b", "c", "d", "e"))
    proposal = decide(five, votes, STORED, 5, lineage=99)
    assert proposal is not None
    assert (proposal.view, proposal.lost) == (ORDERLY.view, ())


def test_records_of_former_versions_are_read() -> None:
    """One that knows of no waivers, one that knows of no lost holders, and one of now."""
    encode, decode = codec(Proposal)
    stored = unpackb(packb(encode(BOTH)))
    assert len(stored) == len(fields(Proposal))
    assert [decode(stored[: len(stored) - missing]) for missing in (0, 1, 2)] == [BOTH] * 3
    assert decode(unpackb(packb(encode(WITHOUT_B)))) == WITHOUT_B
    assert Record(VIEW).with_acceptance(FIRST, WITHOUT_B).accepted == WITHOUT_B
