"""Where data planes have logs: the order's part of the cut, and who must have it on its disk."""

from __future__ import annotations

from dataclasses import replace

from groupcore.effects import Notify, Persist
from groupcore.events import CutAgreed
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.headers import Accept, Prepare, Promise
from groupcore.membership.log_end import NO_LOG, LogEnd
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Candidates, decide
from groupcore.membership.voter import Voter
from groupcore.order_state import OrderState
from groupcore.view import Address
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    D,
    World,
    proposal_of,
    state_of,
    vote,
)
from tests.groupcore.membership.test_streams_on_disk import answer, attempt
from tests.groupcore.membership.test_voter import FIRST, VIEW, on_disk, propose

LOGGED = MembershipOptions(data_plane=True, logged=True)
STORED = Candidates(stateful=True, logged=True)
ORDER = LogEnd(1, 12, 3)
TWO_STAY = proposal_of(A, B, order=ORDER)


def decided(*votes: Vote) -> Proposal:
    proposal = decide(VIEW, list(votes), STORED, 3, lineage=99)
    assert proposal is not None
    return proposal


def from_disk(
    voter: Address, end: LogEnd, accepted: tuple[Ballot, Proposal] | None = None, **streams: int
) -> Vote:
    """A vote of who has restarted; it holds the cut of what it has accepted if its log does."""
    ends = {Address(name, 1): frame for name, frame in streams.items()}
    has_cut = accepted is None or end >= accepted[1].order
    held = (end.epoch, end.position)
    return vote(voter, None, False, True, accepted, held, ends, has_cut, end.view)


def restarted(end: LogEnd) -> Voter:
    """A, which has only its disk."""
    state = state_of(A, None, Record(VIEW), LOGGED)
    state.stored = (end.epoch, end.position)
    return Voter(state, World(log_view=end.view).questions())


# --- the cut --------------------------------------------------------------------------------------


def test_what_any_live_voter_has_delivered_is_in_the_cut_of_an_orderly_view() -> None:
    behind = vote(A, holds=(1, 9), log_view=3, delivered={A: 4})
    ahead = vote(B, holds=(1, 12), log_view=3, delivered={A: 7})
    proposal = decided(behind, ahead)
    assert not proposal.recovered
    assert proposal.order == ORDER
    assert proposal.delivered == {A: 7}


def test_without_logs_there_is_nothing_of_the_order_to_hold() -> None:
    votes = [vote(A, holds=(1, 9), delivered={A: 4}), vote(B, holds=(1, 12), delivered={A: 7})]
    proposal = decide(VIEW, votes, Candidates(stateful=True), 3, lineage=99)
    assert proposal is not None
    assert (proposal.order, proposal.delivered) == (NO_LOG, {})


def test_of_two_logs_with_as_much_of_the_order_that_with_the_later_view_goes_on() -> None:
    """A view is no message, and the directory depends on views as well."""
    proposal = decided(from_disk(A, LogEnd(1, 12, 2)), from_disk(B, ORDER))
    assert proposal.recovered
    assert proposal.state_holders == (B,)
    assert proposal.order == ORDER


def test_a_stream_that_a_view_has_ended_is_in_no_later_cut() -> None:
    """Who was not there may have more of it: the others have gone on without that."""
    was_there = from_disk(B, LogEnd(2, 6, 3), b=0, d=4)
    was_not = from_disk(C, LogEnd(1, 6, 2), b=2, d=3, e=13)
    assert decided(was_there, was_not).streams == {B: 2, D: 4}


def test_who_lives_knows_where_streams_end_that_are_not_in_its_view() -> None:
    lives = vote(B, holds=(1, 12), streams={C: 5, D: 11}, log_view=3)
    was_not = from_disk(A, LogEnd(1, 9, 2), c=6, d=13)
    assert decided(lives, was_not).streams == {C: 6}


def test_who_lives_brings_to_a_view_from_disk_what_its_order_knows() -> None:
    """It may have frames of a group that it has yet to hear of, and that nobody else knows."""
    lives = vote(A, holds=(1, 12), streams={B: 9, C: 7}, log_view=3)
    lives = replace(lives, known={C: 5})
    other = from_disk(B, LogEnd(1, 11, 3), c=2)
    proposal = decided(lives, other)
    assert proposal.recovered
    assert proposal.streams == {B: 9, C: 5}
    with_memory = decided(lives, vote(B, holds=(1, 12), log_view=3))
    assert with_memory.streams == {B: 9, C: 7}, "who delivers it in this view has heard of it"


# --- who must hold it -----------------------------------------------------------------------------


def two_stay() -> Attempt:
    mine = attempt(TWO_STAY)
    mine.basis = VIEW
    return mine


def test_the_first_of_two_who_stay_suffices_only_with_the_commands_on_its_disk() -> None:
    mine = two_stay()
    mine.acceptances = {A: False, B: True, C: True}
    assert not mine.is_decided()
    mine.acceptances[A] = True
    assert mine.is_decided()


def test_what_that_one_has_accepted_without_them_binds_nobody() -> None:
    accepted = (Ballot(3, B), TWO_STAY)
    short, b = from_disk(A, LogEnd(1, 11, 3), accepted), from_disk(B, ORDER, accepted)
    proposal = decided(short, b)
    assert proposal.recovered
    assert proposal.state_holders == (B,)
    assert decided(from_disk(A, ORDER, accepted), b).view == TWO_STAY.view


def test_a_source_that_restarts_without_its_last_commands_decides_nothing() -> None:
    """Its vote was of its memory: nobody else need have stored what that held."""
    lives = vote(B, holds=(1, 12), log_view=3)
    proposal = decided(from_disk(A, LogEnd(1, 9, 3)), lives)
    assert (proposal.state_holders, proposal.order) == ((B,), ORDER)
    mine = attempt(proposal)
    mine.basis = VIEW
    mine.acceptances = {A: True, B: False}
    assert not mine.is_decided()
    mine.acceptances[B] = True
    assert mine.is_decided()


# --- the voter ------------------------------------------------------------------------------------


def test_a_restarted_voter_tells_the_last_view_in_its_log() -> None:
    voter = restarted(LogEnd(1, 12, 2))
    (promise,) = answer(voter, voter.on_prepare(B, Prepare(VIEW, FIRST)))
    assert isinstance(promise, Promise)
    assert promise.vote.log_end == LogEnd(1, 12, 2)


def test_who_has_only_its_disk_holds_the_cut_if_its_log_has_commands_and_views() -> None:
    for end in (LogEnd(1, 11, 3), LogEnd(1, 12, 2), LogEnd(0, 99, 3)):
        voter = restarted(end)
        assert answer(voter, voter.on_propose(B, propose(TWO_STAY))) == [
            Accept(3, FIRST, holds=False, lacks=True)
        ]
        assert not voter.vote().holds
        assert voter.on_cut_held() == []
    voter = restarted(ORDER)
    assert answer(voter, voter.on_propose(B, propose(TWO_STAY))) == [Accept(3, FIRST, True)]
    assert voter.vote().holds


def test_a_member_delivers_what_anybody_has_before_its_acceptance_is_stored() -> None:
    """Its log is stored before its acceptance, and its next life has to find the commands."""
    world = World(order_state=OrderState(9))
    voter = Voter(state_of(A, VIEW, options=LOGGED), world.questions())
    reaches = proposal_of(A, B, order=ORDER, delivered={A: 7})
    effects = voter.on_propose(B, propose(reaches))
    first = effects.index(Notify(CutAgreed({A: 7})))
    assert [type(effect) for effect in effects[first + 1 :]] == [Persist]
    assert [*map(type, answer(voter, effects))] == [Accept]
    assert voter.state.record.accepted == reaches


def test_a_member_that_has_to_get_the_cut_delivers_and_accepts_then() -> None:
    world = World()
    voter = Voter(state_of(A, VIEW, options=LOGGED), world.questions())
    reaches = proposal_of(A, B, cut={A: 8}, order=ORDER, delivered={A: 7})
    assert Notify(CutAgreed({A: 7})) not in voter.on_propose(B, propose(reaches))
    world.digest = {A: 8}
    effects = voter.on_cut_held()
    assert effects[0] == Notify(CutAgreed({A: 7}))
    assert on_disk(voter, effects[1:])
