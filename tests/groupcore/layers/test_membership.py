"""The rules of GMS: one chain of views, and who comes into it.

Silent proposers (I7) and leaving are tested in `test_membership_ends`, turns (I9) in
`test_membership_turns`; the roles in a ballot in `tests/groupcore/membership`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.effects import StartTimer
from groupcore.events import (
    Connect,
    CutDelivered,
    CutHeld,
    Excluded,
    Found,
    Persisted,
    ReachabilityChanged,
    Refused,
    ViewInstalled,
    WaiverGiven,
)
from groupcore.layers.membership import Membership
from groupcore.membership.ballots import Ballot, Record
from groupcore.membership.headers import (
    Accept,
    GoneOn,
    Install,
    Installed,
    JoinRefused,
    JoinRequest,
    Learned,
    LeaveRequest,
    Prepare,
    Promise,
    Propose,
    Superseded,
    Waive,
)
from groupcore.order_state import OrderState
from groupcore.view import Address, View
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
    E,
    World,
    install_of,
    proposal_of,
    view_of,
    vote,
)

# --- before there is a view -----------------------------------------------------------------------


def test_before_the_application_connects_nothing_is_heard() -> None:
    layer = idle(A, World())
    assert hear(layer, B, Prepare(None, Ballot(1, B))) == []
    assert layer.on_event(Connect(4, 9), 0.0) == [StartTimer("tick", 0.1)]
    assert layer.state.stored == (4, 9)
    assert stored(hear(layer, B, Prepare(None, Ballot(1, B))))


def test_a_node_without_a_view_looks_for_one_at_every_tick() -> None:
    layer = idle(D, World(present={B: (VIEW, True)}))
    layer.on_event(Connect(), 0.0)
    effects = layer.on_timer("tick", 0.1)
    assert downs(effects) == [bare(D, JoinRequest((), 0), to=A)]
    assert timers(effects) == {"tick": 0.1}


def test_nodes_that_look_for_a_view_decide_the_first_one() -> None:  # I1
    layer = idle(A, World(seeking={B: None, C: None}))
    layer.on_event(Connect(), 0.0)
    assert told(layer.on_timer("tick", 0.4)) == [Prepare(None, Ballot(1, A))]
    store(layer)
    for voter in (B, C):
        answer = Promise(0, Ballot(1, A), Ballot(1, A), vote(voter, live=False))
        hear(layer, voter, answer, now=0.5)
    store(layer)
    for voter in (B, C):
        effects = hear(layer, voter, Accept(0, Ballot(1, A)), now=0.5)
    assert events(effects) == [CutDelivered()]
    (event,) = events(layer.on_event(CutDelivered(), 1.0))
    assert isinstance(event, ViewInstalled)
    assert event.view.members == (A, B, C)


def test_a_node_without_a_view_takes_no_part_in_the_life_of_one() -> None:
    layer = idle(D, World())
    layer.on_event(Connect(), 0.0)
    assert hear(layer, E, JoinRequest((), 0)) == []
    assert layer.on_event(Found(), 0.0) == []
    assert layer.on_event(ReachabilityChanged(), 0.0) == []
    assert layer.on_timer("stuck", 0.0) == []
    hear(layer, E, LeaveRequest())
    assert layer.leaver.leaving == {}


def test_a_refusal_ends_this_life() -> None:
    layer = idle(D, World())
    layer.on_event(Connect(), 0.0)
    assert events(hear(layer, A, JoinRefused("id_in_use")))
    assert layer.on_event(Connect(), 0.0) == []
    assert layer.on_timer("tick", 0.1) == []
    assert hear(layer, A, install_of(proposal_of(A, D, basis=0))) == []


# --- one chain ------------------------------------------------------------------------------------


def test_a_view_follows_its_predecessor_only_by_a_quorum_of_it() -> None:  # I1
    world = World(unheard={A: frozenset({B, C})})
    layer = member(world=world)
    assert told(layer.on_event(ReachabilityChanged(), 1.0)) == []
    assert told(layer.on_timer("tick", 1.1)) == []
    world.unheard = {A: frozenset({C})}
    assert asks_for(3, layer.on_event(ReachabilityChanged(), 1.2))
    assert events(decide(layer, B))[-1] == CutDelivered()


def test_those_who_look_for_a_view_can_make_up_the_quorum() -> None:  # I1
    world = World(unheard={A: frozenset({B, C})}, seeking={Address("b", 2): VIEW})
    assert asks_for(3, member(world=world).on_event(ReachabilityChanged(), 1.0))


def test_all_who_go_on_deliver_the_same_multicasts_of_the_former_view() -> None:  # I2
    world = World(unheard={A: frozenset({C})}, digest={A: 1, C: 4})
    layer = member(world=world)
    layer.on_event(ReachabilityChanged(), 1.0)
    store(layer)
    assert told(hear(layer, B, promise(B))) == []  # a promise does not say what B will hold
    stop(layer, A, digest=world.digest)
    (question,) = told(stop(layer, B, digest={A: 1, C: 5}))
    assert isinstance(question, Propose)
    assert question.proposal.cut == {A: 1, C: 5}
    hear(layer, B, Accept(3, Ballot(1, A)))
    assert not layer.state.is_storing  # A lacks C's fifth: it does not accept
    world.digest = {A: 1, C: 5}
    assert stored(layer.on_event(CutHeld(), 1.0))


def test_votes_and_acceptances_are_on_disk_before_they_are_told() -> None:  # I3
    layer = member(B)
    ballot = Ballot(1, A)
    effects = hear(layer, A, Prepare(VIEW, ballot))
    assert told(effects) == []
    assert [type(header) for header in told(store(layer))] == [Promise]
    effects = hear(layer, A, Propose(3, ballot, proposal_of(A, B, C)))
    assert told(effects) == []
    assert told(store(layer)) == [Accept(3, ballot)]


def test_what_the_proposer_tells_itself_waits_for_its_disk_as_well() -> None:  # I3
    world = World(unheard={A: frozenset({C})})
    layer = member(world=world)
    layer.on_event(ReachabilityChanged(), 1.0)
    assert layer.proposer.attempt is not None
    assert layer.proposer.attempt.votes == {}
    store(layer)
    assert list(layer.proposer.attempt.votes) == [A]


def test_an_unknown_token_of_the_disk_is_ignored() -> None:
    assert member().on_event(Persisted(99), 1.0) == []


# --- joining --------------------------------------------------------------------------------------


def test_joins_and_leaves_that_come_together_are_served_by_one_view() -> None:  # I6
    # pbcast design, "Membership Updating": one provisional list, for LEAVE as well
    layer = member()
    assert timers(hear(layer, D, request())) == {"gather": 0.03}
    assert hear(layer, E, request()) == []
    assert hear(layer, C, LeaveRequest()) == []
    assert asks_for(3, layer.on_timer("gather", 1.03))
    store(layer)
    hear(layer, B, promise(B))
    hear(layer, D, promise(D, live=False))
    hear(layer, C, promise(C))
    (question,) = told(stop(layer, A, B, C))
    assert isinstance(question, Propose)
    assert question.proposal.view.members == (A, B, D, E)


def test_a_join_that_comes_during_a_view_change_is_not_forgotten() -> None:  # I6
    layer = member()
    hear(layer, D, request())
    layer.on_timer("gather", 1.0)
    hear(layer, E, request())
    assert list(layer.company.candidates(1.0).joiners) == [D, E]
    assert layer.on_timer("gather", 1.1) == []  # the attempt under way goes on


def test_a_join_that_comes_during_a_view_change_is_served_by_the_next() -> None:  # I6
    # pbcast design: requests that come before the view do not operate on the old membership
    layer = member()
    hear(layer, D, request())
    layer.on_timer("gather", 1.0)
    store(layer)
    for voter in (B, C):
        hear(layer, voter, promise(voter))
    hear(layer, D, promise(D, live=False))
    (question,) = told(stop(layer, A, B, C))
    assert isinstance(question, Propose)
    hear(layer, E, request(A, B, C, D))
    store(layer)
    for voter in (B, C, D):
        hear(layer, voter, Accept(3, Ballot(1, A)))
    (event,) = events(layer.on_event(CutDelivered(), 1.0))
    assert isinstance(event, ViewInstalled)
    assert event.view.members == (A, B, C, D)
    layer.on_event(event, 1.0)
    store(layer)
    assert list(layer.company.candidates(1.0).joiners) == [E]
    assert asks_for(4, layer.on_timer("gather", 1.1))


def test_only_the_oldest_member_that_is_left_serves_joins() -> None:
    layer = member(B)
    hear(layer, D, request())
    assert layer.on_timer("gather", 1.0) == []


def test_a_joiner_is_given_the_orders_state_at_the_place_where_its_view_begins() -> None:  # I4
    world = World(order_state=OrderState(5, {B: 2}))
    layer = member(world=world)
    hear(layer, D, request())
    layer.on_timer("gather", 1.0)
    decide(layer, B, C, D)
    world.order_state = OrderState(8, {B: 4})  # what the cut still contained
    layer.on_event(CutDelivered(), 1.0)
    for batch in downs(layer.on_timer("confirm", 1.0)):
        (install,) = batch.headers
        assert isinstance(install, Install)
        assert install.order_state == OrderState(8, {B: 4})


def test_a_member_that_has_not_installed_is_told_until_it_has() -> None:  # I2
    layer = member()
    hear(layer, D, request())
    layer.on_timer("gather", 1.0)
    decide(layer, B, C, D)
    layer.on_event(CutDelivered(), 1.0)
    assert {b.destination for b in downs(layer.on_timer("confirm", 1.0))} == {B, C, D}
    for number, who in enumerate((B, C), start=1):
        hear(layer, who, Installed(4))
        assert len(downs(layer.on_timer("confirm", 1.1))) == 3 - number


def test_two_living_nodes_with_one_id_are_never_both_members() -> None:  # I8
    twin = Address("b", 2)
    layer = member(world=World(heard=(A, B, C, twin)))
    hear(layer, twin, request(), now=1.0)
    assert layer.company.candidates(1.0).joiners == ()
    hear(layer, twin, request(), now=1.5)
    assert told(hear(layer, twin, request(), now=1.6)) == [JoinRefused("id_in_use")]


def test_who_is_in_a_view_is_no_applicant_any_more() -> None:
    layer = member()
    hear(layer, D, request())
    assert layer.counters()["applicants"] == 1
    layer.on_event(ViewInstalled(view_of(A, B, C, D, number=4), VIEW), 1.0)
    assert layer.counters()["applicants"] == 0
    assert layer.counters()["views"] == 2


def test_a_view_that_changed_nothing_is_not_tried_again_at_once() -> None:
    layer = member()
    hear(layer, D, request(), now=1.0)
    layer.on_event(ViewInstalled(view_of(A, B, C, number=4), VIEW), 1.0)
    assert layer.convener.not_before == pytest.approx(1.2)
    hear(layer, D, request(), now=1.1)
    assert told(layer.on_timer("tick", 1.1)) == []
    assert asks_for(3, layer.on_timer("tick", 1.3))


# --- left behind ----------------------------------------------------------------------------------


def test_a_member_that_the_chain_has_left_behind_learns_it() -> None:  # I5
    later = view_of(B, C, number=4)
    for told_by in (
        Superseded(later),
        Prepare(later, Ballot(1, B)),
        install_of(proposal_of(C, basis=4)),
    ):
        layer = member()
        assert [type(e) for e in events(hear(layer, B, told_by))] == [Excluded]
        assert layer.on_timer("tick", 1.0) == []
    world = World(present={B: (later, True)})
    assert [type(e) for e in events(member(world=world).on_event(Found(), 1.0))] == [Excluded]


def test_news_that_are_none_exclude_nobody() -> None:  # I5
    layer = member()
    for view in (VIEW, view_of(B, number=2), view_of(B, number=9, lineage=8)):
        assert hear(layer, B, Superseded(view)) == []
    seeker = idle(D, World())
    seeker.on_event(Connect(), 0.0)
    assert hear(seeker, B, Superseded(VIEW)) == []
    assert seeker.state.record.view == VIEW


def test_a_life_that_was_left_behind_comes_back_only_as_a_new_one() -> None:  # I5
    layer = member()
    layer.state.view = view_of(A, B, number=4)
    layer.on_event(ViewInstalled(layer.state.view, VIEW), 1.0)
    assert told(hear(layer, C, request(A, B))) == [JoinRefused("left_behind")]
    assert timers(hear(layer, Address("c", 2), request(A, B))) == {"gather": 0.03}


# --- an operator's waiver -------------------------------------------------------------------------


def waits(world: World, known: View = VIEW) -> Membership:
    layer = idle(A, world)
    layer.state.record = Record(known)
    layer.on_event(Connect(), 0.0)
    return layer


def learning() -> Membership:
    """A, who lives in a view of which C is a learner."""
    layer = member()
    assert layer.state.view is not None
    layer.state.view = replace(layer.state.view, voters=("a", "b"))
    return layer


def test_a_learner_that_has_the_state_is_a_reason_for_a_view() -> None:  # I11
    layer = learning()
    assert timers(hear(layer, C, Learned(3))) == {"gather": layer.options.bulk_s}
    assert hear(layer, C, Learned(3)) == []
    assert asks_for(3, layer.on_timer("gather", 2.0))


def test_who_votes_already_or_learned_another_view_is_none() -> None:  # I11
    layer = learning()
    assert hear(layer, B, Learned(3)) == hear(layer, C, Learned(2)) == []
    assert not layer.learners.ready


def test_a_learner_asks_for_a_vote_when_the_state_is_on_its_disk() -> None:  # I11
    layer = member(me=C)
    assert layer.learners.tell() == []  # it votes
    assert layer.state.view is not None
    layer.state.view = replace(layer.state.view, voters=("a", "b"))
    layer.state.record = replace(layer.state.record, rebuilding=True)
    assert layer.learners.tell() == []
    layer.state.record = replace(layer.state.record, rebuilding=False)
    assert told(layer.on_timer("tick", 2.0)) == [Learned(3)]


def test_without_a_quorum_a_view_follows_only_under_a_waiver() -> None:  # I10
    alone = waits(World())
    assert told(alone.on_timer("tick", 5.0)) == []
    given = WaiverGiven(VIEW.lineage, VIEW.number, ("b", "c"))
    assert told(alone.on_event(given, 5.1)) == [Waive(VIEW.lineage, VIEW.number, ("b", "c"))]
    assert asks_for(3, alone.on_timer("tick", 5.2))


def test_a_waiver_of_another_view_or_of_who_is_there_is_none() -> None:  # I10
    layer = waits(World())
    layer.on_event(WaiverGiven(VIEW.lineage, VIEW.number + 1, ("b", "c")), 5.0)
    assert told(layer.on_timer("tick", 5.1)) == []
    here = waits(World(seeking={D: VIEW}), view_of(A, B, C, D))
    here.on_event(WaiverGiven(VIEW.lineage, VIEW.number, ("b", "c", "d")), 5.0)
    assert told(here.on_timer("tick", 5.1)) == []


def test_a_member_that_has_lost_its_quorum_gives_its_life_up_for_a_waiver() -> None:  # I10
    layer = member()
    told_so = Waive(VIEW.lineage, VIEW.number, ("b", "c"))
    assert events(hear(layer, B, told_so)) == []  # it is in the primary view
    layer.primary.is_primary = False
    assert [type(one) for one in events(hear(layer, B, told_so))] == [Excluded]


def test_who_was_gone_on_without_is_told_so_and_ends() -> None:  # I10
    old = view_of(D, number=9, lineage=5)
    world = World(seeking={D: old})
    layer = member(world=world)
    layer.state.record = replace(layer.state.record, left=(5,))
    mine = layer.state.view
    assert mine is not None
    assert told(layer.on_timer("tick", 1.0))[-1] == GoneOn(5, mine)
    assert told(hear(layer, D, JoinRequest((), 5))) == [GoneOn(5, mine)]
    gone = waits(World(), old)
    assert hear(gone, A, GoneOn(6, mine)) == []
    (refused,) = events(hear(gone, A, GoneOn(5, mine)))
    assert isinstance(refused, Refused)
    assert refused.code == "gone_on_without"


def test_who_has_nothing_to_lose_joins_those_who_have_gone_on() -> None:  # I10
    layer = waits(World(), view_of(C, number=9, lineage=5))
    layer.state.record = replace(layer.state.record, rebuilding=True)
    assert events(hear(layer, B, GoneOn(5, VIEW))) == []
    assert layer.state.record == Record(VIEW, rebuilding=True, left=(5,))
