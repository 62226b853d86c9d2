"""A voter whose log lacks commands of a cut: it counts, and remembers that it lacks them (0195)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

import pytest
from msgpack import packb, unpackb

from groupcore.membership import succession
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Proposal, Record, Vote
from groupcore.membership.headers import Accept
from groupcore.membership.log_end import LogEnd
from groupcore.membership.succession import binding, decide
from groupcore.membership.voter import Voter
from groupcore.view import Address, View
from groupcore.wire_fields import codec
from tests.groupcore.layers.building import told
from tests.groupcore.membership.building import A, B, C, World, proposal_of, state_of, view_of, vote
from tests.groupcore.membership.exploring_losses import STORED, Exploration
from tests.groupcore.membership.test_order_on_disk import LOGGED, from_disk, restarted
from tests.groupcore.membership.test_streams_on_disk import answer
from tests.groupcore.membership.test_voter import FIRST, SECOND, VIEW, propose

MORE, LESS = LogEnd(1, 12, 3), LogEnd(1, 11, 3)
STREAM = {A: 4}
NEXT = replace(
    proposal_of(A, B, order=MORE, streams=STREAM, stream_holders={A: (A,)}),
    view=replace(view_of(A, B, number=4), voters=("a", "b", "c")),
)
"""Of a, b and c; a and b, its members, have accepted it, and stopped before they began it."""


def attempt(proposal: Proposal = NEXT) -> Attempt:
    made = Attempt(VIEW, SECOND, frozenset(), 3, proposal=proposal)
    made.votes = {A: from_disk(A, MORE, (FIRST, NEXT)), C: from_disk(C, LESS)}
    return made


# --- what decides ---------------------------------------------------------------------------------


def test_who_lacks_commands_and_remembers_it_counts_beside_one_that_has_them() -> None:
    mine = attempt()
    mine.acceptances = {A: True, C: False}
    assert not mine.is_decided()
    mine.lacking = {C}
    assert mine.is_decided()
    mine.acceptances[A] = False
    assert not mine.is_decided()


def test_of_a_view_from_disk_only_who_is_no_member_may_lack_commands() -> None:
    """Who is named as one that has the state is the source for others."""
    from_disks = replace(NEXT, recovered=True, state_holders=(A, B))
    assert from_disks.lasts(VIEW, ["a"], ["c"])
    assert not from_disks.lasts(VIEW, ["a"], ["b"])
    assert not from_disks.lasts(VIEW, [], ["a", "b", "c"])


def test_a_view_that_may_have_been_decided_by_one_that_lacks_commands_binds() -> None:
    lacks = replace(from_disk(C, LESS, (FIRST, NEXT)), lacks=True)
    assert binding(VIEW, [lacks, from_disk(B, LESS)]) == NEXT
    assert binding(VIEW, [replace(lacks, lacks=False), from_disk(B, LESS)]) is None
    assert binding(VIEW, [lacks, from_disk(B, LESS), from_disk(A, LESS)]) is None  # a has not


# --- what follows ---------------------------------------------------------------------------------


def behind(voter: Address, end: LogEnd, missing: Proposal | None = None) -> Vote:
    """A vote on what follows that view, of a disk that has the frames."""
    return replace(from_disk(voter, end), streams=STREAM, missing=missing)


def following(*votes: Vote) -> Proposal | None:
    return decide(NEXT.view, list(votes), STORED, 3, lineage=99)


def test_what_follows_waits_for_one_that_has_the_commands() -> None:
    assert following(behind(C, LESS, NEXT), behind(B, LESS)) is None
    one = following(behind(C, LESS, NEXT), behind(B, MORE))
    assert one is not None
    assert one.order == MORE
    assert following(behind(C, LESS), behind(B, LESS)) is not None  # c was not asked for it


def test_one_that_has_the_commands_and_not_the_frames_is_not_enough() -> None:
    assert following(behind(C, LESS, NEXT), replace(behind(B, MORE), streams={})) is None


def test_who_has_begun_the_view_has_all_that_it_began_with() -> None:
    """Streams that end with a view are told by nobody any more."""
    began = replace(behind(B, LogEnd(1, 12, 4)), streams={})
    assert following(behind(C, LESS, NEXT), began) is not None


def test_a_live_member_decides_with_one_that_lacks_commands() -> None:
    lives = vote(A, holds=(1, 14), log_view=4)
    one = following(lives, behind(C, LESS, NEXT))
    assert one is not None
    assert not one.recovered


# --- the voter ------------------------------------------------------------------------------------


def lagging(streams: bool) -> Voter:
    state = state_of(C, None, Record(VIEW), LOGGED)
    state.stored = (LESS.epoch, LESS.position)
    world = World(log_view=LESS.view, streams=dict(STREAM) if streams else {})
    return Voter(state, world.questions())


def test_it_says_so_once_it_has_the_frames_and_has_stored_that() -> None:
    voter = lagging(streams=True)
    assert answer(voter, voter.on_propose(B, propose(NEXT))) == [Accept(3, FIRST, False, True)]
    assert voter.state.record.lacks
    assert voter.vote().lacks
    assert voter.on_cut_held() == []
    assert told(voter.on_propose(B, propose(NEXT))) == [Accept(3, FIRST, False, True)]  # repeated


def test_without_the_frames_it_only_accepts_until_it_has_them() -> None:
    voter = lagging(streams=False)
    assert answer(voter, voter.on_propose(B, propose(NEXT))) == [Accept(3, FIRST, False)]
    assert not voter.vote().lacks
    voter.holding._ask = World(log_view=LESS.view, streams=STREAM).questions()
    assert answer(voter, voter.on_cut_held()) == [Accept(3, FIRST, False, True)]


def test_who_has_the_commands_lacks_nothing() -> None:
    voter = restarted(MORE)
    proposal = replace(NEXT, streams={})
    assert answer(voter, voter.on_propose(B, propose(proposal))) == [Accept(3, FIRST, True)]
    assert not voter.vote().lacks


def test_what_is_missing_is_remembered_when_that_view_is_the_one_that_was_decided() -> None:
    record = Record(VIEW).with_acceptance(FIRST, NEXT, lacks=True)
    assert record.with_view(NEXT.view, rebuilding=False).missing == NEXT
    other = replace(NEXT.view, members=(A,))
    assert record.with_view(other, rebuilding=False).missing is None
    assert not record.with_view(NEXT.view, rebuilding=False).lacks
    accepted = record.with_view(NEXT.view, rebuilding=False).with_acceptance(SECOND, NEXT)
    assert accepted.missing == NEXT
    later = replace(NEXT.view, number=5)
    assert accepted.with_view(later, rebuilding=False).missing is None


def test_records_of_former_versions_are_read() -> None:
    encode, decode = codec(Record)
    record = Record(VIEW).with_acceptance(FIRST, NEXT)
    stored = unpackb(packb(encode(record)))
    assert len(stored) == len(fields(Record))
    assert decode(stored[:-2]) == record
    lacks = Record(VIEW, missing=NEXT, lacks=True)
    assert decode(unpackb(packb(encode(lacks)))) == lacks


# --- all orders of steps --------------------------------------------------------------------------


def explored() -> Exploration:
    """All live, c is cut off at first; all may stop, with or without the last commands stored."""
    return Exploration((A, A, C), loses=None, live=True, crashes=(A, B, C)).run()


@pytest.mark.slow
def test_whatever_is_decided_with_one_that_lacks_commands_is_one_view_and_loses_none() -> None:
    found = explored()
    assert found.states > 200_000
    assert found.lacked
    assert found.most_views == 1
    assert not found.forgotten


def test_a_voter_that_does_not_remember_what_it_lacks_loses_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forget(votes: Iterable[Vote]) -> bool:
        return False

    monkeypatch.setattr(succession, "lacks_what_it_began_with", forget)
    assert explored().forgotten


def test_an_acceptance_without_commands_that_binds_nobody_makes_two_views(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def deaf(basis: View | None, votes: list[Vote]) -> Proposal | None:
        return binding(basis, [replace(vote, lacks=False) for vote in votes])

    monkeypatch.setattr(succession, "binding", deaf)
    found = explored()
    assert found.most_views == 2 or found.forgotten
