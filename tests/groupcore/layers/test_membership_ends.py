"""The rules of GMS when somebody falls silent or leaves."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.effects import StartTimer
from groupcore.events import (
    Connect,
    CutDelivered,
    Drained,
    FlushRequested,
    FlushStarted,
    Leave,
    Left,
    PrimaryLost,
    ReachabilityChanged,
    Saved,
    Synced,
)
from groupcore.layers.sequencer import Forward
from groupcore.membership.ballots import Ballot
from groupcore.membership.headers import (
    Dissolved,
    LeaveRequest,
    Prepare,
    Propose,
)
from groupcore.membership.state import MembershipOptions
from tests.groupcore.layers.building import bare, downs, events, stored, timers, told
from tests.groupcore.layers.memberships import (
    VIEW,
    asks_for,
    decide,
    hear,
    idle,
    member,
    promise,
    request,
    stop,
    store,
)
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    D,
    World,
    install_of,
    proposal_of,
)

# --- proposers that fall silent -------------------------------------------------------------------


def test_who_was_stopped_proposes_itself_when_nothing_comes_of_it() -> None:  # I7
    layer = member(B)
    hear(layer, A, Prepare(VIEW, Ballot(1, A)))
    store(layer)
    effects = layer.on_event(FlushStarted(), 1.0)
    assert 0.8 <= timers(effects)["stuck"] <= 0.9  # by rank: the older first
    effects = layer.on_timer("stuck", 2.0)
    assert told(effects) == [Prepare(VIEW, Ballot(2, B))]


def test_every_word_of_the_proposer_is_a_sign_of_life() -> None:  # I7
    layer = member(B)
    hear(layer, A, Prepare(VIEW, Ballot(1, A)))
    store(layer)
    assert "stuck" in timers(hear(layer, A, Propose(3, Ballot(1, A), proposal_of(A, B, C))))


def test_who_is_stuck_without_a_quorum_tries_again_later() -> None:  # I7
    world = World()
    layer = member(B, world)
    hear(layer, A, Prepare(VIEW, Ballot(1, A)))
    layer.on_event(FlushStarted(), 1.0)
    world.unheard = {B: frozenset({A, C})}
    effects = layer.on_timer("stuck", 2.0)
    assert told(effects) == []
    assert 0 < timers(effects)["stuck"] < 1


def test_who_is_not_blocked_or_proposes_already_is_not_stuck() -> None:  # I7
    assert member().on_timer("stuck", 2.0) == []
    proposing = member(world=World(unheard={A: frozenset({C})}))
    proposing.on_event(ReachabilityChanged(), 1.0)
    assert proposing.on_timer("stuck", 2.0) == []


def test_when_a_voter_is_lost_before_the_flush_the_proposer_goes_on_without_it() -> None:  # I7
    world = World()
    layer = member(world=world)
    hear(layer, D, request())
    layer.on_timer("gather", 1.0)
    store(layer)
    assert events(hear(layer, B, promise(B))) == []
    world.unheard = {A: frozenset({C})}
    effects = layer.on_event(ReachabilityChanged(), 1.1)
    assert events(effects) == [FlushRequested(3, Ballot(1, A), (A, B))]


def test_when_a_member_dies_in_the_flush_the_proposer_goes_on_without_it() -> None:  # I7
    world = World()
    layer = member(world=world)
    hear(layer, D, request())
    layer.on_timer("gather", 1.0)
    store(layer)
    for voter in (B, C):
        hear(layer, voter, promise(voter))
    hear(layer, D, promise(D, live=False))
    assert told(stop(layer, A, B)) == []
    world.unheard = {A: frozenset({C})}
    (question,) = told(layer.on_event(ReachabilityChanged(), 1.1))
    assert isinstance(question, Propose)


def test_when_the_initiator_dies_in_the_flush_the_oldest_left_starts_another() -> None:  # I7
    world = World()
    layer = member(B, world)
    hear(layer, A, Prepare(VIEW, Ballot(1, A)))
    store(layer)
    layer.on_event(FlushStarted(), 1.0)
    assert told(layer.on_event(ReachabilityChanged(), 1.1)) == []
    world.unheard = {B: frozenset({A}), C: frozenset({A})}
    assert told(layer.on_event(ReachabilityChanged(), 1.2)) == [Prepare(VIEW, Ballot(2, B))]


def test_who_has_promised_leaves_the_word_to_the_proposer_for_a_while() -> None:  # I7
    world = World()
    layer = member(B, world)
    hear(layer, D, Prepare(VIEW, Ballot(1, D)))
    store(layer)
    world.unheard = {B: frozenset({A}), C: frozenset({A})}
    assert told(layer.on_event(ReachabilityChanged(), 1.6)) == []
    assert asks_for(3, layer.on_event(ReachabilityChanged(), 1.8))


def test_an_unanswered_question_is_repeated() -> None:  # I7
    layer = member(world=World(unheard={A: frozenset({C})}))
    layer.on_event(ReachabilityChanged(), 1.0)
    assert told(layer.on_timer("repeat", 1.05)) == [Prepare(VIEW, Ballot(1, A))]


def test_the_coordinator_is_followed_by_the_oldest_that_is_left() -> None:  # I7
    world = World(unheard={B: frozenset({A}), C: frozenset({A})})
    assert asks_for(3, member(B, world).on_event(ReachabilityChanged(), 1.0))
    assert told(member(C, world).on_event(ReachabilityChanged(), 1.0)) == []


def test_a_quorum_that_is_lost_for_long_is_told() -> None:
    layer = member(C, World(unheard={C: frozenset({A, B})}))
    assert events(layer.on_timer("tick", 0.5)) == []
    assert events(layer.on_timer("tick", 1.5)) == [PrimaryLost()]


# --- leaving --------------------------------------------------------------------------------------


def test_a_member_leaves_when_nothing_of_it_is_in_flight() -> None:
    layer = member(C)
    assert layer.on_event(Leave(), 1.0) == []
    assert layer.on_event(Drained(), 1.0) == [StartTimer("leave", 0)]
    effects = layer.on_timer("leave", 1.0)
    assert downs(effects) == [bare(C, LeaveRequest())]
    assert timers(effects) == {"gather": 0.03, "leave": 0.1}


def test_without_an_ordering_layer_nothing_is_in_flight() -> None:
    layer = member(C, options=MembershipOptions(cluster_size=3, drains=False))
    assert layer.on_event(Leave(), 1.0) == [StartTimer("leave", 0)]


def test_who_leaves_has_left_with_the_view_that_it_is_not_in() -> None:
    layer = member(C)
    layer.on_event(Leave(), 1.0)
    hear(layer, A, install_of(proposal_of(A, B)))
    assert events(layer.on_event(CutDelivered(), 1.0)) == [Left()]


def test_a_leaving_coordinator_serves_its_own_leave_and_tells_the_others_the_view() -> None:
    layer = member()
    layer.on_event(Leave(), 1.0)
    layer.on_timer("leave", 1.0)
    assert asks_for(3, layer.on_timer("gather", 1.03))
    decide(layer, B, C)
    assert events(layer.on_event(CutDelivered(), 1.1)) == [Left()]
    told_to = {batch.destination for batch in downs(layer.on_timer("confirm", 1.1))}
    assert told_to == {B, C}  # though it has left already


def test_what_the_disk_owes_a_member_that_is_gone_still_follows() -> None:
    layer = member()
    effect = StartTimer("anything", 1.0)
    layer.state.persist([effect])
    layer.state.gone = True
    assert store(layer) == [effect]


def test_the_last_member_just_goes() -> None:
    layer = member(A, members=(A,))
    layer.on_event(Leave(), 1.0)
    assert events(layer.on_timer("leave", 1.0)) == [Left()]


def test_who_is_in_no_view_just_goes() -> None:
    layer = idle(A, World())
    layer.on_event(Connect(), 0.0)
    assert events(layer.on_event(Leave(), 1.0)) == [Left()]


def test_when_everybody_leaves_the_view_stays_the_last_one_on_disk() -> None:
    layer = member(members=(A, B))
    layer.on_event(Leave(), 1.0)
    layer.on_timer("leave", 1.0)
    hear(layer, B, LeaveRequest())
    effects = layer.on_timer("gather", 1.03)
    assert told(effects) == [Dissolved()] * 3
    assert events(effects) == [Left()]
    assert stored(effects) == []


def test_a_member_goes_with_the_others_if_it_wants_to_leave() -> None:
    layer = member(B)
    assert hear(layer, A, Dissolved()) == []
    layer.on_event(Leave(), 1.0)
    assert events(hear(layer, A, Dissolved())) == [Left()]


def test_the_leave_of_a_stranger_changes_nothing() -> None:
    layer = member()
    hear(layer, D, LeaveRequest())
    assert told(layer.on_timer("gather", 1.0)) == []


# --- the rest -------------------------------------------------------------------------------------


def test_what_the_application_has_synced_makes_a_joiner_vote() -> None:
    options = MembershipOptions(cluster_size=3, application_state=True)
    layer = idle(D, World(), options)
    layer.on_event(Connect(), 0.0)
    hear(layer, A, install_of(proposal_of(A, D, basis=2, state_holders=(A,)), position=6))
    for effect in layer.on_event(CutDelivered(), 0.0):
        layer.on_event(getattr(effect, "event", Saved(0, 0)), 0.0)
    assert not layer.voter.vote().counts
    assert layer.on_event(Synced(1, 5), 1.0) == []
    assert stored(layer.on_event(Synced(1, 6), 1.0))
    assert layer.voter.vote().counts


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Saved(1, 1), 1.0) == []


def test_a_header_of_another_layer_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="not a header of GMS"):
        member().on_up(Batch(B, A, (Forward(1, 1),)), 1.0)
