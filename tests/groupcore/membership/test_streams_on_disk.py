"""Where streams have logs: the cut of a view that is formed from disk, and who must hold it."""

from __future__ import annotations

from groupcore.effects import Effect
from groupcore.events import CutDelivered, Excluded, FetchCut
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.headers import Accept, Prepare, Promise
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Candidates, decide
from groupcore.membership.voter import Voter
from groupcore.view import Address
from tests.groupcore.layers.building import events, timers, told
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    D,
    E,
    World,
    install_of,
    proposal_of,
    state_of,
    view_of,
    vote,
)
from tests.groupcore.membership.test_voter import FIRST, SECOND, VIEW, on_disk, propose

LOGGED = MembershipOptions(data_plane=True, logged=True)
FIVE = view_of(A, B, C, D, E)
STORED = Candidates(stateful=True, logged=True)


def decided(*votes: Vote) -> Proposal:
    proposal = decide(FIVE, list(votes), STORED, 5, lineage=99)
    assert proposal is not None
    return proposal


def from_disk(
    voter: Address,
    position: int,
    accepted: tuple[Ballot, Proposal] | None = None,
    has_cut: bool = True,
    **streams: int,
) -> Vote:
    """A vote of who has restarted; `streams` by the name of their node."""
    ends = {Address(name, 1): frame for name, frame in streams.items()}
    held = (1, position)
    return vote(voter, None, False, True, accepted, held, ends, has_cut)


# --- the cut --------------------------------------------------------------------------------------


def test_what_any_voter_has_stored_is_in_the_cut_though_it_votes_no_more() -> None:
    proposal = decided(from_disk(A, 9, a=0, e=15), from_disk(B, 7), from_disk(E, 7, a=2, e=16))
    assert proposal.recovered
    assert (proposal.view.members, proposal.view.voters) == ((A, B, E), ("a", "b"))
    assert proposal.streams == {A: 2, E: 16}
    assert proposal.stream_holders == {A: (E,), E: (E,)}


def test_what_a_voter_has_that_does_not_count_is_in_no_cut() -> None:
    wiped = vote(D, live=False, counts=False, streams={E: 99})
    votes = (from_disk(A, 9, e=15), from_disk(B, 9), from_disk(C, 9), wiped)
    assert decided(*votes).streams == {E: 15}


def test_who_has_lived_is_the_source_before_who_has_as_much_of_the_order_on_disk() -> None:
    lived = vote(C, holds=(1, 9), streams={E: 20})
    proposal = decided(from_disk(A, 9, e=15), from_disk(B, 9, e=14), lived)
    assert proposal.state_holders == (C,)
    assert proposal.streams == {E: 20}


# --- who must hold it -----------------------------------------------------------------------------

OF_THREE = proposal_of(A, B, C, recovered=True, state_holders=(A, B), streams={E: 16})


def attempt(proposal: Proposal) -> Attempt:
    mine = Attempt(FIVE, Ballot(1, A), frozenset({A, B, C}), 5, proposal=proposal)
    mine.votes = {one: from_disk(one, 9) for one in (A, B, C, D)}
    return mine


def test_a_view_from_disk_is_decided_when_a_quorum_of_it_has_state_and_cut() -> None:
    mine = attempt(OF_THREE)
    mine.acceptances = {A: True, B: False, C: True}
    assert not mine.is_decided()  # c has the cut and no state
    mine.acceptances[B] = True
    assert mine.is_decided()


def test_who_goes_on_and_lacks_the_cut_is_asked_again() -> None:
    mine = attempt(OF_THREE)
    mine.acceptances = {A: True, B: False, C: True, D: False}
    assert mine.late() == {B}


def test_a_stayer_that_has_restarted_without_the_cut_makes_nothing_orderly() -> None:
    mine = attempt(proposal_of(A, B, streams={E: 16}))
    mine.acceptances = {A: False, B: True, C: True}
    assert not mine.is_decided()
    mine.acceptances[A] = True
    assert mine.is_decided()


def test_a_cut_that_too_few_can_hold_binds_nobody() -> None:
    """Its frames may be out of reach for ever."""
    accepted = (Ballot(3, B), OF_THREE)
    votes = from_disk(A, 9), from_disk(B, 9, accepted, False), from_disk(C, 7, accepted)
    assert decided(*votes).streams == {}


def test_a_cut_that_those_may_hold_who_have_not_voted_binds() -> None:
    accepted = (Ballot(3, B), OF_THREE)
    votes = from_disk(B, 9, accepted), from_disk(C, 7, accepted), from_disk(D, 9)
    assert decided(*votes).view == OF_THREE.view


def test_who_has_lost_its_disk_may_have_held_the_cut() -> None:
    accepted = (Ballot(3, B), OF_THREE)
    wiped = vote(A, live=False, counts=False)
    votes = wiped, from_disk(B, 9, accepted), from_disk(C, 7, accepted), from_disk(D, 9)
    assert decided(*votes).view == OF_THREE.view


def test_what_binds_names_those_as_holders_that_vote_now() -> None:
    """The lives that had the frames when it was first proposed may be over."""
    again = Address("b", 2)
    accepted = (Ballot(3, A), OF_THREE)
    votes = from_disk(again, 9, accepted), from_disk(C, 7, e=16), from_disk(D, 7, e=11)
    assert decided(*votes).stream_holders == {E: (C, again)}


# --- the voter ------------------------------------------------------------------------------------

FRAMES = proposal_of(A, B, recovered=True, state_holders=(A,), streams={C: 9})
LOCATED = FetchCut({}, {}, {C: 9}, {})


def restarted(world: World) -> Voter:
    return Voter(state_of(A, None, Record(VIEW), LOGGED), world.questions())


def living(world: World) -> Voter:
    return Voter(state_of(A, VIEW, options=LOGGED), world.questions())


def answer(voter: Voter, effects: list[Effect]) -> list[object]:
    return list(told(on_disk(voter, effects)))


def test_a_restarted_voter_tells_what_its_log_has_of_the_streams() -> None:
    voter = restarted(World(streams={C: 5}))
    (promise,) = answer(voter, voter.on_prepare(B, Prepare(VIEW, FIRST)))
    assert isinstance(promise, Promise)
    assert promise.vote.streams == {C: 5}


def test_it_tells_whether_it_has_the_cut_of_what_it_has_accepted() -> None:
    world = World()
    voter = restarted(world)
    on_disk(voter, voter.on_propose(B, propose(FRAMES)))
    assert not voter.vote().holds
    world.streams = {C: 9}
    assert voter.vote().holds


def test_who_has_only_its_disk_accepts_at_once_and_says_when_it_has_the_cut() -> None:
    world = World()
    voter = restarted(world)
    effects = voter.on_propose(B, propose(FRAMES))
    assert events(effects) == [LOCATED]
    assert answer(voter, effects) == [Accept(3, FIRST, False)]
    assert voter.on_cut_held() == []
    world.streams = {C: 9}
    assert answer(voter, voter.on_cut_held()) == [Accept(3, FIRST, True)]


def test_asked_again_it_says_whether_it_has_the_cut_by_now() -> None:
    world = World()
    voter = restarted(world)
    on_disk(voter, voter.on_propose(B, propose(FRAMES)))
    assert told(voter.on_propose(B, propose(FRAMES))) == [Accept(3, FIRST, False)]
    world.streams = {C: 9}
    assert told(voter.on_propose(B, propose(FRAMES))) == [Accept(3, FIRST, True)]


def test_who_does_not_go_on_gets_nothing() -> None:
    voter = restarted(World())
    assert (
        events(voter.on_propose(B, propose(proposal_of(B, recovered=True, streams={C: 9})))) == []
    )


def test_a_source_begins_the_view_only_with_its_cut() -> None:
    world = World()
    voter = restarted(world)
    assert LOCATED in events(voter.on_install(B, install_of(FRAMES)))
    world.streams = {C: 9}
    assert events(voter.on_cut_held()) == [CutDelivered()]


def test_who_takes_the_state_of_others_needs_no_cut() -> None:
    other = proposal_of(B, A, recovered=True, state_holders=(B,), streams={C: 9})
    assert events(restarted(World()).on_install(B, install_of(other))) == [CutDelivered()]


def test_a_member_that_is_left_out_gives_up_its_life_for_what_is_in_its_log() -> None:
    voter = living(World())
    left_out = proposal_of(B, recovered=True, streams={C: 9})
    effects = voter.on_propose(B, propose(left_out))
    assert timers(effects) == {"behind": LOGGED.behind_s}
    again = voter.on_propose(B, propose(left_out, SECOND))
    assert timers(again) == {}  # the time runs on, however often it is proposed
    assert isinstance(events(voter.on_behind())[0], Excluded)


def test_a_member_that_cannot_get_the_cut_gives_up_its_life_for_what_is_in_its_log() -> None:
    voter = living(World())
    assert timers(voter.on_propose(B, propose(FRAMES))) == {"behind": LOGGED.behind_s}
