"""An operator's waiver: without whose votes a view is formed, and what binds then."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from msgpack import packb, unpackb

from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.succession import Candidates, binding
from groupcore.membership.waiver import Waiver, decide_without, may_decide_without
from groupcore.stacks import encode_record, read_record
from tests.groupcore.membership.building import A, B, C, D, proposal_of, view_of, vote

LAST = view_of(B, C)
GONE = frozenset({"b"})
DISKS = Candidates(stateful=True, logged=True)


def on_disk(voter: object, position: int = 5, **given: object) -> Vote:
    return vote(voter, live=False, holds=(1, position), **given)  # type: ignore[arg-type]


def decided(*votes: Vote) -> Proposal:
    return decide_without(LAST, list(votes), DISKS, GONE, Random(1))


def test_all_members_that_are_not_waived_have_to_be_there_with_their_disks() -> None:
    assert may_decide_without(LAST, [on_disk(C), on_disk(A)], GONE)
    assert not may_decide_without(LAST, [on_disk(A)], GONE)
    assert not may_decide_without(LAST, [on_disk(C, counts=False), on_disk(A)], GONE)
    assert not may_decide_without(LAST, [vote(C), on_disk(A)], GONE)  # C's memory is to be given up
    assert not may_decide_without(LAST, [], frozenset({"b", "c"}))


def test_a_waived_node_whose_disk_counts_is_not_gone_on_without() -> None:
    assert not may_decide_without(LAST, [on_disk(B), on_disk(C)], GONE)
    assert may_decide_without(LAST, [on_disk(B, counts=False), on_disk(C)], GONE)


def test_where_all_of_the_last_view_is_waived_whoever_is_there_decides() -> None:
    assert may_decide_without(LAST, [on_disk(A)], frozenset({"b", "c"}))


def test_the_view_begins_another_primary_lineage_and_leaps() -> None:
    proposal = decided(on_disk(A, 3), on_disk(C, 5))
    view = proposal.view
    assert (proposal.left, proposal.waived, proposal.basis) == (LAST.lineage, ("b",), LAST.number)
    assert view.primary
    assert view.lineage != LAST.lineage
    assert view.number > LAST.number + 1
    assert (view.floor, view.names) == (5, ("c", "a"))
    assert proposal.electorate == {"a", "c"}
    assert not proposal.forked


def attempt_of(proposal: Proposal, *votes: Vote) -> Attempt:
    attempt = Attempt(LAST, Ballot(1, C), frozenset({A, C}), 3, waived=GONE, proposal=proposal)
    attempt.votes = {one.voter: one for one in votes}
    return attempt


def test_it_is_decided_when_all_of_the_electorate_have_accepted() -> None:
    votes = (on_disk(A, 3), on_disk(C, 5))
    attempt = attempt_of(decided(*votes), *votes)
    attempt.acceptances = {C: True}
    assert not attempt.is_decided()
    attempt.acceptances[A] = False
    assert attempt.is_decided()


def test_it_binds_unless_one_of_the_electorate_has_voted_without_it() -> None:
    ballot, proposal = Ballot(3, C), decided(on_disk(A, 3), on_disk(C, 5))
    accepted = on_disk(C, accepted=(ballot, proposal))
    for others in ([], [on_disk(B)], [on_disk(A, accepted=(ballot, proposal))]):
        assert binding(LAST, [accepted, *others]) == proposal
        again = decide_without(LAST, [accepted, *others], DISKS, GONE, Random(9))
        assert again.view == proposal.view
    assert binding(LAST, [accepted, on_disk(A)]) is None
    lost = on_disk(A, counts=False)  # it may have accepted before it lost its disk
    assert binding(LAST, [accepted, lost]) == proposal


def test_what_was_accepted_of_the_former_chain_does_not_bind_under_a_waiver() -> None:
    former = proposal_of(B, C, A)
    accepted = on_disk(C, accepted=(Ballot(2, B), former))
    assert binding(LAST, [accepted]) == former
    assert decided(accepted).view.lineage != LAST.lineage


def test_a_waiver_is_of_one_view_and_of_some_seconds() -> None:
    waiver = Waiver(LAST.lineage, LAST.number, GONE, until=10.0)
    assert waiver.holds(LAST, 9.9)
    assert not waiver.holds(LAST, 10.0)
    assert not waiver.holds(replace(LAST, number=LAST.number + 1), 9.0)
    assert not waiver.holds(replace(LAST, lineage=LAST.lineage + 2), 9.0)
    assert not waiver.holds(None, 9.0)


def test_a_record_keeps_the_lineages_that_have_ended() -> None:
    record = Record(left=(9,)).with_view(view_of(A, D), rebuilding=False)
    assert record.left == (9,)
    assert read_record(encode_record(record)) == record


def test_a_record_of_before_is_read() -> None:
    """Without the lineages that have ended, and with a proposal that knows no waiver."""
    record = Record(LAST, False, Ballot(1, B), Ballot(1, B), proposal_of(B, C))
    *former, left, lost, generation, heard, lacks, missing = unpackb(encode_record(record))
    assert (left, lost, generation, heard) == ([], False, ["", 0, 0], [])
    assert (lacks, missing) == (False, None)
    *former[4], waived = former[4]
    assert waived == []
    assert read_record(packb(former)) == record
