"""The rules of a voter that cannot follow a decided view: it waits, then begins anew."""

from __future__ import annotations

from groupcore.events import Excluded
from groupcore.membership.ballots import Ballot, Record
from groupcore.membership.headers import Installed, Prepare, Propose
from groupcore.membership.state import MembershipOptions
from groupcore.membership.voter import Voter
from tests.groupcore.layers.building import events, stored, timers, told
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    D,
    World,
    install_of,
    proposal_of,
    state_of,
    view_of,
)

FIRST = Ballot(1, B)


def living(world: World | None = None) -> Voter:
    """A, which lives in the view [A B C]."""
    return Voter(state_of(A, view_of(A, B, C)), (world or World()).questions())


def test_a_member_that_nobody_can_tell_its_view_gives_its_life_up() -> None:
    voter = living()
    effects = voter.on_prepare(B, Prepare(view_of(A, B, D, number=4), FIRST))
    assert told(effects) == [Installed(3)]
    assert timers(effects) == {"behind": MembershipOptions().behind_s}
    assert timers(voter.on_prepare(B, Prepare(view_of(A, B, D, number=4), FIRST))) == {}
    assert [type(event) for event in events(voter.on_behind())] == [Excluded]


def test_a_member_that_cannot_get_its_cut_gives_its_life_up() -> None:
    voter = living(World(digest={B: 1}))
    effects = voter.on_install(B, install_of(proposal_of(A, B, cut={B: 2}, holders={B: (B,)})))
    assert timers(effects) == {"behind": MembershipOptions().behind_s}
    assert [type(event) for event in events(voter.on_behind())] == [Excluded]


def test_a_member_that_follows_in_time_lives_on() -> None:
    voter = living()
    voter.on_prepare(B, Prepare(view_of(A, B, number=4), FIRST))
    voter.on_install(B, install_of(proposal_of(A, B)))
    assert voter.on_behind() == []


def test_a_voter_that_cannot_get_the_cut_of_a_binding_proposal_gives_its_life_up() -> None:
    voter = living(World(digest={B: 1}))
    proposal = proposal_of(B, C, cut={B: 2}, holders={B: (B,)})
    effects = voter.on_propose(B, Propose(3, FIRST, proposal))
    assert timers(effects) == {"behind": MembershipOptions().behind_s}
    again = voter.on_propose(C, Propose(3, Ballot(2, C), proposal))
    assert timers(again) == {}  # another that proposes the same does not begin the time anew
    assert [type(event) for event in events(voter.on_behind())] == [Excluded]


def test_a_voter_that_gets_the_cut_in_time_accepts_and_lives_on() -> None:
    world = World(digest={B: 1})
    voter = living(world)
    voter.on_propose(B, Propose(3, FIRST, proposal_of(A, B, cut={B: 2}, holders={B: (B,)})))
    world.digest = {B: 2}
    voter.on_cut_held()
    assert voter.state.record.accepted_ballot == FIRST
    assert voter.on_behind() == []


# --- members that come from no view ---------------------------------------------------------------


def new(world: World | None = None) -> Voter:
    """A, whose disk knows the view [B C]; of the next it is a member, and it has not begun it."""
    state = state_of(A, None, Record(view_of(B, C)))
    return Voter(state, (world or World()).questions())


JOINED = view_of(B, C, A, number=4)


def test_a_new_member_does_not_vote_from_its_disk_on_what_follows_its_first_view() -> None:
    voter = new()
    effects = voter.on_prepare(B, Prepare(JOINED, FIRST))
    assert told(effects) == [Installed(3)]  # it asks for the view
    assert stored(effects) == []
    assert voter.state.record == Record(view_of(B, C))
    assert voter.on_propose(B, Propose(4, FIRST, proposal_of(B, A, basis=4))) == []


def test_it_votes_as_one_that_lives_in_it_when_it_has_begun_it() -> None:
    voter = new()
    voter.on_prepare(B, Prepare(JOINED, FIRST))
    voter.on_install(B, install_of(proposal_of(B, C, A, state_holders=(B, C))))
    voter.on_cut_delivered()
    assert voter.on_behind() == []
    voter.on_prepare(B, Prepare(JOINED, FIRST))
    assert voter.state.record.promised == FIRST
    assert voter.vote().live


def test_a_new_member_that_nobody_can_tell_its_view_gives_its_life_up() -> None:
    voter = new()
    effects = voter.on_prepare(B, Prepare(JOINED, FIRST))
    assert timers(effects) == {"behind": MembershipOptions().behind_s}
    assert [type(event) for event in events(voter.on_behind())] == [Excluded]


def test_it_seeks_on_when_it_learns_that_the_others_have_a_view_without_it() -> None:
    voter = new()
    voter.on_prepare(B, Prepare(JOINED, FIRST))
    voter.on_prepare(B, Prepare(view_of(B, C, number=5), FIRST))
    assert voter.state.record.promised == FIRST
    assert voter.on_behind() == []


# --- who helps ------------------------------------------------------------------------------------


def told_view(voter: Voter) -> Voter:
    """A, which has begun the view [A B C]."""
    voter.state.last_install = install_of(proposal_of(A, B, C, basis=2))
    return voter


def test_the_oldest_that_is_heard_tells_the_view_to_a_member_that_lags() -> None:
    voter = told_view(living())
    assert told(voter.help_lagging(C)) == [voter.state.last_install]


def test_a_younger_member_leaves_that_to_the_oldest_unless_it_does_not_hear_it() -> None:
    world = World()
    voter = told_view(Voter(state_of(B, view_of(A, B, C)), world.questions()))
    assert voter.help_lagging(C) == []
    assert told(voter.help_lagging(A)) == [voter.state.last_install]
    world.unheard = {B: frozenset({A})}
    assert told(voter.help_lagging(C)) == [voter.state.last_install]


def test_a_member_that_has_stopped_for_the_next_view_helps_nobody_into_this_one() -> None:
    voter = told_view(living())
    voter.state.blocked = True
    assert voter.help_lagging(C) == []


def test_who_has_still_to_get_its_state_lacks_it_in_every_later_view_too() -> None:
    for rebuilding in (True, False):
        record = Record(view_of(A, B, C), rebuilding=rebuilding)
        voter = Voter(state_of(A, None, record), World().questions())
        voter.learn_view(view_of(B, C, number=4), B)
        assert voter.state.record.number == 4
        assert voter.state.record.rebuilding is rebuilding
