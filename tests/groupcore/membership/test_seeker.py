"""The rules of the seeker: join the view that is there; where there is none, form one."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from groupcore.effects import Effect
from groupcore.events import Excluded, Refused
from groupcore.membership.ballots import Ballot, Record
from groupcore.membership.headers import JoinRequest, Prepare
from groupcore.membership.proposer import Proposer
from groupcore.membership.seeker import Seeker
from groupcore.membership.state import MembershipOptions
from groupcore.membership.voter import Voter
from groupcore.view import Address, View
from tests.groupcore.layers.building import downs, events, told
from tests.groupcore.membership.building import LINEAGE, A, B, C, D, World, state_of, view_of

VIEW = view_of(B, C)
OPTIONS = MembershipOptions(cluster_size=3, seek_s=0.35, patience_s=1.5)


def seeker(world: World, known: View | None = None, options: MembershipOptions = OPTIONS) -> Seeker:
    state = state_of(A, None, Record(known), options)
    voter = Voter(state, world.questions())
    mine = Seeker(state, voter, Proposer(state, voter, Random(1)), world.questions())
    mine.begin(1, 7, 10.0)
    return mine


def asked(effects: list[Effect]) -> Prepare:
    (question,) = told(effects)
    assert isinstance(question, Prepare)
    return question


def test_it_begins_with_what_the_application_has_on_disk() -> None:
    mine = seeker(World())
    assert mine.state.connected
    assert mine.state.stored == (1, 7)
    assert not mine.has_turn, "nobody is known yet: it is nobody's turn"


# --- joining --------------------------------------------------------------------------------------


def test_the_coordinator_of_the_newest_view_is_asked() -> None:
    newer = view_of(C, B, number=4)
    mine = seeker(World(present={B: (VIEW, True), C: (newer, True)}, heard=(B, C)))
    (batch,) = downs(mine.seek(10.0))
    assert (batch.destination, batch.headers) == (C, (JoinRequest((B, C), 0),))


def test_a_node_with_a_chain_names_it_and_prefers_its_own() -> None:
    foreign = view_of(D, number=99, lineage=8)
    mine = seeker(World(present={B: (VIEW, True), D: (foreign, True)}), known=view_of(A, number=2))
    (batch,) = downs(mine.seek(10.0))
    assert (batch.destination, batch.headers) == (B, (JoinRequest((), LINEAGE),))


def test_another_chain_is_asked_only_when_ones_own_does_not_show_up() -> None:
    foreign = view_of(D, number=99, lineage=8)
    mine = seeker(World(present={D: (foreign, True)}), known=view_of(A, B, number=2))
    assert told(mine.seek(10.1)) == []
    assert told(mine.seek(11.6)) == [JoinRequest((), LINEAGE)]


def test_when_the_coordinator_does_not_answer_everybody_is_asked() -> None:
    mine = seeker(World(present={B: (VIEW, True)}))
    assert downs(mine.seek(11.5))[0].destination == B
    assert downs(mine.seek(11.6))[0].destination is None


def test_a_view_that_cannot_decide_is_not_asked() -> None:
    mine = seeker(World(present={B: (VIEW, False)}))
    assert told(mine.seek(10.1)) == []


@pytest.mark.parametrize("code", ["id_in_use", "foreign_cluster", "mixed_logs", "something_new"])
def test_who_is_refused_tells_why_and_is_gone(code: str) -> None:
    mine = seeker(World())
    (event,) = events(mine.on_join_refused(code))
    assert isinstance(event, Refused)
    assert event.code == code
    assert event.detail
    assert mine.state.gone


def test_a_life_that_was_left_behind_comes_back_as_another() -> None:
    assert events(seeker(World()).on_join_refused("left_behind")) == [
        Excluded("this life was in a view that has passed")
    ]


def test_a_refusal_that_comes_late_says_nothing_to_a_member() -> None:
    mine = seeker(World())
    mine.state.view = view_of(A, B)
    assert mine.on_join_refused("id_in_use") == []


# --- forming --------------------------------------------------------------------------------------


def test_the_first_view_waits_until_others_have_had_the_time_to_be_found() -> None:
    mine = seeker(World(seeking={B: None, C: None}))
    assert mine.seek(10.34) == []
    question = asked(mine.seek(10.36))
    assert question == Prepare(None, Ballot(1, A))


def test_the_first_by_address_proposes() -> None:
    world = World(seeking={B: None, C: None})
    mine = seeker(world)
    mine.state.me = D
    assert mine.seek(12.0) == []


def test_without_a_majority_of_the_cluster_no_first_view_is_formed() -> None:
    assert seeker(World()).seek(20.0) == []
    alone = seeker(World(), options=MembershipOptions(cluster_size=1))
    assert asked(alone.seek(10.4)).basis is None


def test_without_the_whole_cluster_patience_is_needed() -> None:
    mine = seeker(World(seeking={B: None}))
    assert mine.seek(11.4) == []
    assert asked(mine.seek(11.6)).basis is None


def test_the_newest_view_that_anybody_knows_is_the_one_to_follow() -> None:
    former = Address("a", 0)
    old, new = view_of(former, B, number=2), view_of(former, B, C, number=5)
    mine = seeker(World(seeking={B: new, C: old}), known=old)
    assert asked(mine.seek(10.4)).basis == new
    assert mine.state.record.view == new


def test_the_last_view_is_followed_by_a_quorum_of_it_only() -> None:
    last = view_of(A, B, C)
    assert seeker(World(), known=last).seek(20.0) == []
    assert seeker(World(seeking={D: None}), known=last).seek(20.0) == []
    mine = seeker(World(seeking={B: last}), known=last)
    assert mine.seek(11.0) == []  # C may still come
    assert asked(mine.seek(11.6)).basis == last


def test_where_somebody_lives_in_the_last_view_it_proposes() -> None:
    last = view_of(A, B, C)
    mine = seeker(World(seeking={C: last}, present={B: (last, False)}), known=last)
    assert mine.seek(20.0) == []


def test_one_attempt_at_a_time() -> None:
    mine = seeker(World(seeking={B: None, C: None}))
    assert mine.seek(10.4)
    assert mine.seek(10.5) == []


# --- turns ----------------------------------------------------------------------------------------

TURN_S = OPTIONS.turn_s


def seeks(mine: Seeker, *times_s: float) -> list[Effect]:
    """What it does at the last of these times."""
    effects: list[Effect] = []
    for now in times_s:
        effects = mine.seek(now)
    return effects


def among(me: Address, world: World, known: View | None = None) -> Seeker:
    mine = seeker(world, known)
    mine.state.me = me
    return mine


def test_the_first_by_address_that_proposes_nothing_is_passed_over() -> None:
    """It is heard, and may hear nobody."""
    mine = among(B, World(seeking={A: None, C: None}))
    assert seeks(mine, 11.0, 10.9 + TURN_S, 11.0 + TURN_S) == []
    question = asked(mine.seek(11.1 + TURN_S))
    assert question.ballot.proposer == B
    assert mine.passed_over == {A}
    attempt = mine.proposer.attempt
    assert attempt is not None
    assert attempt.expected == {B, C}


def test_who_decides_nothing_in_its_own_turn_hears_again_whom_it_has_passed_over() -> None:
    """It may need the one's vote: a restarted node in its place may have a disk that counts not."""
    mine = among(B, World(seeking={A: None, C: None}))
    seeks(mine, 11.0, 11.0 + TURN_S, 11.1 + TURN_S, 10.9 + 2 * TURN_S)
    assert mine.passed_over == {A}
    assert mine.proposer.attempt is not None
    seeks(mine, 11.0 + 2 * TURN_S)
    assert mine.passed_over == frozenset()


def test_who_was_outbid_leaves_the_word_for_a_while() -> None:
    """Who passes over different ones is a rival: of two that outbid each other none decides."""
    mine = among(B, World(seeking={A: None, C: None}))
    seeks(mine, 11.0, 11.0 + TURN_S, 11.1 + TURN_S)
    mine.proposer.abandon(11.2 + TURN_S)
    again_at = mine.proposer.quiet_until
    assert mine.seek(again_at - 0.01) == []
    assert asked(mine.seek(again_at + 0.01)).ballot.proposer == B


def test_one_that_lives_in_the_last_view_and_proposes_nothing_is_passed_over() -> None:
    last = view_of(A, B, C)
    world = World(seeking={C: last}, present={B: (last, False)})
    mine = among(A, world, last)
    assert seeks(mine, 12.0, 12.0 + TURN_S) == []
    assert asked(mine.seek(12.1 + TURN_S)).basis == last


def test_when_those_that_are_left_are_no_quorum_the_first_has_its_turn_again() -> None:
    world = World(seeking={A: None, C: None})
    mine = among(B, world)
    seeks(mine, 11.0, 11.0 + TURN_S)
    assert mine.passed_over == {A}
    world.seeking = {A: None}
    assert mine.seek(11.1 + TURN_S) == []
    assert mine.passed_over == frozenset()


# --- later views ----------------------------------------------------------------------------------


def test_a_later_view_of_the_chain_is_learned_of_members_that_are_too_few() -> None:
    former = view_of(B, C, D, number=2)
    later = view_of(B, C, number=3)
    mine = seeker(World(present={B: (later, False)}), known=former)
    mine.seek(12.0)
    assert mine.state.record.view == later


def test_no_view_of_another_chain_is_learned_so_nor_one_that_this_life_is_in() -> None:
    former = view_of(B, C, D, number=2)
    foreign = replace(view_of(B, C, number=3), lineage=former.lineage + 1)
    for view in (foreign, view_of(A, B, number=3), view_of(B, C, number=1)):
        mine = seeker(World(present={B: (view, False)}), known=former)
        mine.seek(10.1)
        assert mine.state.record.view == former


def test_who_knows_no_view_learns_none_of_members_that_are_too_few() -> None:
    mine = seeker(World(present={B: (view_of(B, C, number=3), False)}))
    mine.seek(10.1)
    assert mine.state.record.view is None
