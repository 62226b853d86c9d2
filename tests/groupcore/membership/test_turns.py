"""Who has the turn to propose, how long, and who is passed over."""

from __future__ import annotations

from groupcore.membership.admission import Admission
from groupcore.membership.ballots import Ballot
from groupcore.membership.company import Company
from groupcore.membership.leaver import Leaver
from groupcore.membership.state import MembershipOptions
from groupcore.membership.turns import Turns
from groupcore.view import Address
from tests.groupcore.membership.building import A, B, C, D, E, World, state_of, view_of

VIEW = view_of(A, B, C, D, E)
TURN_S = MembershipOptions().turn_s
NOBODY: frozenset[Address] = frozenset()


def lost(*gone: Address) -> World:
    """Nobody hears these."""
    unheard = frozenset(gone)
    return World(unheard={m: unheard for m in VIEW.members if m not in unheard})


def turns_of(me: Address, world: World) -> Turns:
    state = state_of(me, VIEW)
    return Turns(state, Company(state, Admission(), Leaver(state), world.questions()))


def look(turns: Turns, *times_s: float) -> frozenset[Address]:
    """Who has been passed over after these looks."""
    for now in times_s:
        turns.look(VIEW, now)
    return turns.company.passed_over


def test_where_all_hear_all_nobody_is_waited_for() -> None:
    assert look(turns_of(B, World()), 1.0, 1.0 + 10 * TURN_S) == NOBODY


def test_who_brings_no_view_about_in_its_turn_is_passed_over_and_the_next_has_the_turn() -> None:
    turns = turns_of(C, lost(E))
    assert look(turns, 1.0, 0.9 + TURN_S) == NOBODY
    assert look(turns, 1.1 + TURN_S) == {A}
    assert turns.company.leader(VIEW) == B
    assert turns.company.keep(VIEW) == (B, C, D)
    assert look(turns, 1.0 + 2 * TURN_S) == {A}


def test_of_g_members_that_do_nothing_each_costs_one_turn() -> None:
    turns = turns_of(C, World())
    turns.state.blocked = True
    assert look(turns, 0.0, TURN_S) == {A}
    assert look(turns, 2 * TURN_S) == {A, B}
    assert turns.company.leader(VIEW) == C
    assert turns.numbers == {"passed_over": 2}


def test_who_brings_nothing_about_in_its_own_turn_hears_again_whom_it_has_passed_over() -> None:
    """They may have passed it over as well: of those who ignore each other none ends it."""
    turns = turns_of(C, World())
    turns.state.blocked = True
    assert look(turns, 0.0, TURN_S, 2 * TURN_S) == {A, B}
    assert look(turns, 2.9 * TURN_S) == {A, B}
    assert look(turns, 3 * TURN_S) == NOBODY
    assert look(turns, 4 * TURN_S) == {A}


def test_who_has_the_promise_has_the_turn_while_it_is_heard() -> None:
    turns = turns_of(B, World())
    turns.state.blocked = True
    turns.state.record = turns.state.record.with_promise(Ballot(1, D))
    assert look(turns, 0.0, TURN_S) == {D}
    gone = turns_of(B, lost(D))
    gone.state.record = turns.state.record
    assert look(gone, 0.0, TURN_S) == {A}


def test_nobody_is_passed_over_who_is_needed_for_a_quorum() -> None:
    turns = turns_of(C, lost(D, E))
    assert look(turns, 0.0, TURN_S, 2 * TURN_S) == NOBODY


def test_when_no_quorum_would_be_left_all_have_their_turn_again() -> None:
    turns = turns_of(D, lost(E))
    assert look(turns, 0.0, TURN_S) == {A}
    assert look(turns, 2 * TURN_S) == NOBODY
    assert look(turns, 3 * TURN_S) == {A}


def test_when_those_that_were_left_fall_silent_all_have_their_turn_again_at_once() -> None:
    world = lost(E)
    turns = turns_of(C, world)
    assert look(turns, 0.0, TURN_S) == {A}
    world.unheard = lost(D, E).unheard
    assert look(turns, TURN_S + 0.1) == NOBODY


def test_restarted_nodes_make_up_the_quorum_without_the_one_passed_over() -> None:
    world = lost(D, E)
    world.seeking = {Address("d", 2): VIEW, Address("e", 2): VIEW}
    turns = turns_of(C, world)
    turns.company.note_restarted(0.0)
    assert look(turns, 0.0, TURN_S) == {A}
    assert turns.company.keep(VIEW) == (B, C)


def test_a_restarted_node_whose_disk_does_not_know_the_view_takes_nobody_s_place() -> None:
    world = lost(D, E)
    older = view_of(A, B, C, number=VIEW.number - 1)
    world.seeking = {Address("d", 2): None, Address("e", 2): older}
    turns = turns_of(C, world)
    turns.company.note_restarted(0.0)
    assert look(turns, 0.0, TURN_S) == NOBODY


def test_when_the_reason_has_gone_or_a_view_has_come_nobody_is_passed_over() -> None:
    world = lost(E)
    turns = turns_of(C, world)
    assert look(turns, 0.0, TURN_S) == {A}
    world.unheard = {}
    assert look(turns, TURN_S + 0.1) == NOBODY
    world.unheard = lost(E).unheard
    assert look(turns, TURN_S + 0.2, 2 * TURN_S) == NOBODY  # the time begins anew
    turns.on_view()
    assert look(turns, 3 * TURN_S + 1, 4 * TURN_S) == NOBODY
