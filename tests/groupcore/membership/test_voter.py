"""The rules of the voter: what it tells is on disk before, and binds it."""

from __future__ import annotations

import pytest

from groupcore.effects import Effect
from groupcore.events import (
    CutAgreed,
    CutDelivered,
    Excluded,
    FlushStarted,
    Left,
    ViewInstalled,
)
from groupcore.membership.ballots import Ballot, Proposal, Record
from groupcore.membership.headers import (
    Accept,
    Install,
    Installed,
    LeaveRequest,
    Prepare,
    Promise,
    Propose,
    Superseded,
)
from groupcore.membership.state import MembershipOptions
from groupcore.membership.voter import Voter
from groupcore.order_state import OrderState
from groupcore.view import Address
from tests.groupcore.layers.building import downs, events, stored, told
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    D,
    World,
    encode,
    install_of,
    proposal_of,
    state_of,
    view_of,
    vote,
)

VIEW = view_of(A, B, C)
FORMER = view_of(Address("a", 0), B, C)
"""The same with A's life before: who votes from its disk on what follows a view is not in it."""
FIRST, SECOND = Ballot(1, B), Ballot(2, B)
FOREIGN = view_of(A, B, C, number=9, lineage=8)


def living(world: World | None = None, options: MembershipOptions | None = None) -> Voter:
    """A, which lives in the view [A B C]."""
    return Voter(state_of(A, VIEW, options=options), (world or World()).questions())


def seeking(record: Record | None = None, options: MembershipOptions | None = None) -> Voter:
    """A, which is in no view and has a record."""
    state = state_of(A, None, record or Record(), options)
    return Voter(state, World().questions())


def on_disk(voter: Voter, effects: list[Effect]) -> list[Effect]:
    """The driver stores everything; what depended on it follows."""
    return [
        effect
        for persist in stored(effects)
        for effect in voter.state.after_persist.pop(persist.token)
    ]


def test_who_leaves_says_so_again_ahead_of_its_vote() -> None:
    voter = living()
    voter.state.asks_out = True
    effects = on_disk(voter, voter.on_prepare(B, Prepare(VIEW, FIRST)))
    assert told(effects) == [LeaveRequest(), promise(FIRST)]
    assert {batch.destination for batch in downs(effects)} == {B}
    again = voter.on_prepare(B, Prepare(VIEW, FIRST))  # it is repeated, and so is that
    assert told(again) == [LeaveRequest(), promise(FIRST)]


def test_who_only_hands_over_yet_does_not_say_that_it_leaves() -> None:
    voter = living()
    voter.state.leaving = True
    assert told(on_disk(voter, voter.on_prepare(B, Prepare(VIEW, FIRST)))) == [promise(FIRST)]


def promise(ballot: Ballot, promised: Ballot | None = None, **parts: object) -> Promise:
    return Promise(3, ballot, promised or ballot, vote(A, holds=(1, 0), **parts))  # type: ignore[arg-type]


# --- promising ------------------------------------------------------------------------------------


def test_a_promise_is_on_disk_before_it_is_told() -> None:
    voter = living()
    effects = voter.on_prepare(B, Prepare(VIEW, FIRST))
    assert downs(effects) == []
    (persist,) = stored(effects)
    assert persist.record == encode(Record(VIEW, promised=FIRST))
    (answer,) = downs(on_disk(voter, effects))
    assert (answer.destination, answer.headers) == (B, (promise(FIRST),))


def test_a_promise_binds_and_does_not_stop_the_view() -> None:
    voter = living()
    assert events(voter.on_prepare(B, Prepare(VIEW, FIRST))) == []
    assert not voter.state.blocked


def test_what_a_live_voter_holds_is_left_to_the_flush_since_it_goes_on() -> None:
    world = World(digest={A: 4, B: 2}, order_state=OrderState(17))
    assert living(world).vote() == vote(A, {}, holds=(1, 0))


def test_a_proposal_stops_whom_the_flush_has_not_stopped() -> None:
    voter = living()
    assert events(voter.on_propose(B, propose())) == [FlushStarted()]
    stopped = living()
    stopped.state.blocked = True
    assert events(stopped.on_propose(B, propose())) == []


def test_a_restarted_voter_tells_what_its_disk_holds() -> None:
    voter = seeking(Record(VIEW, True, SECOND, FIRST, proposal_of(B)))
    voter.state.stored = (2, 9)
    accepted = (FIRST, proposal_of(B))
    assert voter.vote() == vote(A, live=False, counts=False, accepted=accepted, holds=(2, 9))


def test_no_lower_ballot_is_promised_than_one_before() -> None:
    voter = living()
    on_disk(voter, voter.on_prepare(B, Prepare(VIEW, SECOND)))
    effects = voter.on_prepare(C, Prepare(VIEW, FIRST))
    assert stored(effects) == []
    assert told(effects) == [promise(FIRST, promised=SECOND)]


def test_a_question_that_comes_again_is_answered_again() -> None:
    voter = living()
    on_disk(voter, voter.on_prepare(B, Prepare(VIEW, FIRST)))
    effects = voter.on_prepare(B, Prepare(VIEW, FIRST))
    assert told(effects) == [promise(FIRST)]
    assert stored(effects) == []


def test_a_question_that_comes_again_too_early_waits_for_the_disk() -> None:
    voter = living()
    first = voter.on_prepare(B, Prepare(VIEW, FIRST))
    assert voter.on_prepare(B, Prepare(VIEW, FIRST)) == []
    assert told(on_disk(voter, first)) == [promise(FIRST)]


def test_a_voter_for_the_first_view_has_nothing_to_stop() -> None:
    voter = seeking()
    effects = voter.on_prepare(B, Prepare(None, FIRST))
    assert events(effects) == []
    assert told(on_disk(voter, effects)) == [
        Promise(0, FIRST, FIRST, vote(A, live=False, holds=(0, 0)))
    ]


def test_a_proposer_that_is_behind_is_told_the_view() -> None:
    voter = living()
    older = Prepare(view_of(A, B, number=2), FIRST)
    assert told(voter.on_prepare(D, older)) == [Superseded(VIEW)]
    voter.state.last_install = install_of(proposal_of(A, B, C, basis=2))
    assert told(voter.on_prepare(B, older)) == [voter.state.last_install]
    assert told(voter.on_prepare(D, older)) == [Superseded(VIEW)]
    assert not voter.state.blocked


def test_a_live_voter_that_is_behind_and_not_in_the_later_view_is_excluded() -> None:
    effects = living().on_prepare(B, Prepare(view_of(B, C, number=4), FIRST))
    assert events(effects) == [Excluded("the others have gone on without this member")]


def test_a_live_voter_that_is_behind_and_in_the_later_view_asks_for_it() -> None:
    effects = living().on_prepare(B, Prepare(view_of(A, B, C, number=4), FIRST))
    assert told(effects) == [Installed(3)]


def test_a_voter_from_disk_learns_the_later_view_and_votes() -> None:
    voter = seeking(Record(view_of(A, B, number=2)))
    effects = voter.on_prepare(B, Prepare(FORMER, FIRST))
    assert stored(effects)[0].record == encode(Record(FORMER, promised=FIRST))


def test_who_has_lost_its_disk_has_no_vote_until_it_has_the_state() -> None:
    lost = seeking(options=MembershipOptions(durable=True))
    lost.on_prepare(B, Prepare(FORMER, FIRST))
    assert not lost.vote().counts
    unsafe = seeking(options=MembershipOptions(durable=False))
    unsafe.on_prepare(B, Prepare(FORMER, FIRST))
    assert unsafe.vote().counts


def test_who_has_lost_its_disk_has_no_vote_though_it_has_promised_something_since() -> None:
    lost = seeking(options=MembershipOptions(durable=True))
    lost.on_prepare(A, Prepare(None, FIRST))  # alone, it took itself for one of a first view
    assert lost.state.record.promised == FIRST
    lost.on_prepare(B, Prepare(FORMER, FIRST))
    assert not lost.vote().counts


def test_another_chain_is_not_voted_on() -> None:
    assert living().on_prepare(B, Prepare(FOREIGN, FIRST)) == []
    assert living().on_propose(B, Propose(3, FIRST, proposal_of(A, lineage=8))) == []
    assert living().on_install(B, install_of(proposal_of(A, lineage=8))) == []
    voter = seeking(Record(VIEW))
    assert voter.learn_view(FOREIGN, B) == []
    assert voter.state.record.view == VIEW


# --- accepting ------------------------------------------------------------------------------------


def propose(proposal: Proposal | None = None, ballot: Ballot = FIRST) -> Propose:
    return Propose(3, ballot, proposal or proposal_of(A, B, C))


def test_where_components_merge_only_who_is_in_no_view_joins_another_chain() -> None:
    options = MembershipOptions(merge_policy="application")
    foreign = proposal_of(A, B, C, lineage=8)
    assert living(options=options).may_not_install(foreign)
    assert not seeking(Record(VIEW), options).may_not_install(foreign)
    assert seeking(Record(VIEW), options).may_not_install(proposal_of(B, C, lineage=8))
    assert seeking(Record(VIEW)).may_not_install(foreign)


def test_an_acceptance_is_on_disk_before_it_is_told() -> None:
    voter = living()
    effects = voter.on_propose(B, propose())
    assert downs(effects) == []
    assert events(effects) == [FlushStarted()]
    expected = Record(VIEW).with_acceptance(FIRST, proposal_of(A, B, C))
    assert stored(effects)[0].record == encode(expected)
    assert told(on_disk(voter, effects)) == [Accept(3, FIRST)]


def test_a_proposal_that_comes_again_is_answered_when_it_is_on_disk() -> None:
    voter = living()
    effects = voter.on_propose(B, propose())
    assert voter.on_propose(B, propose()) == []
    on_disk(voter, effects)
    assert told(voter.on_propose(B, propose())) == [Accept(3, FIRST)]


def test_a_lower_ballot_than_the_promised_and_another_basis_are_not_accepted() -> None:
    voter = living()
    on_disk(voter, voter.on_prepare(B, Prepare(VIEW, SECOND)))
    assert voter.on_propose(B, propose()) == []
    assert voter.on_propose(B, Propose(2, SECOND, proposal_of(A))) == []


def test_a_higher_promise_meanwhile_forbids_to_accept() -> None:
    voter = living(World())
    voter.on_propose(B, propose(proposal_of(A, B, cut={B: 5})))
    voter.on_prepare(C, Prepare(VIEW, Ballot(3, C)))
    assert voter.on_cut_held() == []


def test_a_recovered_view_and_a_voter_from_disk_need_no_cut() -> None:
    recovered = proposal_of(A, B, cut={B: 5}, recovered=True)
    assert stored(living().on_propose(B, propose(recovered)))
    assert stored(seeking(Record(VIEW)).on_propose(B, propose(proposal_of(A, cut={B: 5}))))


# --- installing -----------------------------------------------------------------------------------


def begun(effects: list[Effect]) -> ViewInstalled:
    (event,) = events(effects)
    assert isinstance(event, ViewInstalled)
    return event


def test_a_successor_is_installed_after_the_cut_has_been_delivered() -> None:
    voter = living(World(digest={B: 5}, order_state=OrderState(8, {A: 2})))
    install = install_of(proposal_of(A, B, cut={B: 5}, state_holders=(A, B)), position=99)
    effects = voter.on_install(B, install)
    assert events(effects) == [FlushStarted(), CutAgreed({B: 5}), CutDelivered()]
    effects = voter.on_cut_delivered()
    assert begun(effects) == ViewInstalled(
        view_of(A, B, number=4), VIEW, False, (A, B), 8, False, OrderState(8, {A: 2})
    )
    assert told(effects) == [Installed(4)]
    assert stored(effects)[0].record == encode(Record(view_of(A, B, number=4)))
    assert not voter.state.blocked


def test_a_joiner_begins_with_the_order_state_that_it_is_told() -> None:
    voter = seeking()
    assert events(voter.on_install(B, install_of(proposal_of(B, A), position=8))) == [
        CutDelivered()
    ]
    event = begun(voter.on_cut_delivered())
    assert (event.fresh, event.position, event.previous) == (True, 8, None)


@pytest.mark.parametrize(
    "options", [MembershipOptions(application_state=True), MembershipOptions(data_plane=True)]
)
def test_a_joiner_without_the_state_has_no_vote_until_it_has_reported_it(
    options: MembershipOptions,
) -> None:
    voter = seeking(options=options)
    voter.on_install(B, install_of(proposal_of(B, A, state_holders=(B,)), position=8))
    effects = voter.on_cut_delivered()
    assert begun(effects).holders == (B,)
    assert not voter.vote().counts
    assert voter.on_synced(1, 7, begun_at=8) == []
    assert voter.on_synced(0, 9, begun_at=8) == []
    assert stored(voter.on_synced(1, 8, begun_at=8))
    assert voter.vote().counts
    assert voter.on_synced(1, 9, begun_at=8) == []
    assert voter.state.stored == (1, 9)


@pytest.mark.parametrize(
    ("stateful", "holders"), [(False, (B,)), (True, ()), (True, (A,)), (True, (A, B))]
)
def test_a_joiner_that_lacks_nothing_votes_at_once(stateful: bool, holders: object) -> None:
    voter = seeking(options=MembershipOptions(application_state=stateful))
    proposal = proposal_of(B, A, state_holders=holders)  # type: ignore[arg-type]
    voter.on_install(B, install_of(proposal))
    voter.on_cut_delivered()
    assert not voter.state.record.rebuilding


def test_a_member_that_is_rebuilding_stays_so_over_a_view() -> None:
    record = Record(VIEW, rebuilding=True)
    voter = Voter(state_of(A, VIEW, record), World().questions())
    voter.on_install(B, install_of(proposal_of(A, B)))
    voter.on_cut_delivered()
    assert voter.state.record.rebuilding


def test_a_recovered_view_begins_at_its_position_with_empty_tables() -> None:
    voter = living(World(order_state=OrderState(50, {A: 4})))
    proposal = proposal_of(A, B, recovered=True, position=40, state_holders=(A,))
    effects = voter.on_install(B, Install(proposal, OrderState(50, {A: 4})))
    assert events(effects) == [CutDelivered()]  # nothing of the former view is delivered any more
    event = begun(voter.on_cut_delivered())
    assert (event.recovered, event.order_state) == (True, OrderState(40))


def test_a_live_member_that_holds_less_is_excluded_from_a_recovered_view() -> None:
    proposal = proposal_of(B, C, recovered=True, state_holders=(B,))
    (event,) = events(living().on_install(B, install_of(proposal)))
    assert event == Excluded("others hold more than this member, and went on from that")


def test_a_view_that_is_here_already_is_confirmed_again() -> None:
    assert told(living().on_install(B, install_of(proposal_of(A, B, basis=2)))) == [Installed(3)]


def test_who_has_missed_a_view_is_excluded() -> None:
    effects = living().on_install(B, install_of(proposal_of(A, B, basis=4)))
    assert events(effects) == [Excluded("this member has missed a view")]


def test_while_one_view_is_being_installed_another_telling_changes_nothing() -> None:
    voter = living()
    voter.on_install(B, install_of(proposal_of(A, B)))
    assert voter.on_install(C, install_of(proposal_of(A, B))) == []


def test_who_is_not_in_the_next_view_is_excluded_or_has_left() -> None:
    voter = living()
    voter.on_install(B, install_of(proposal_of(B, C)))
    effects = voter.on_cut_delivered()
    assert told(effects) == [Installed(4)]
    assert events(effects) == [Excluded("the others did not hear this member in time")]
    leaver = living()
    leaver.state.leaving = True
    leaver.on_install(B, install_of(proposal_of(B, C)))
    assert events(leaver.on_cut_delivered()) == [Left()]
    assert leaver.state.gone


def test_a_node_in_no_view_learns_of_a_view_without_it_and_confirms() -> None:
    voter = seeking(Record(view_of(A, B, number=2)))
    install = install_of(proposal_of(B, C))
    assert told(voter.on_install(B, install)) == [Installed(4)]
    assert voter.state.record.view == view_of(B, C, number=4)
    assert told(seeking().on_install(A, install)) == []


def test_who_decides_a_view_for_itself_tells_nobody_but_itself() -> None:
    voter = seeking()
    voter.install(None, install_of(proposal_of(A)))
    assert told(voter.on_cut_delivered()) == []
    out = seeking()
    out.install(None, install_of(proposal_of(B)))
    assert told(out.on_cut_delivered()) == []


def test_exclusion_is_told_once_and_to_who_leaves_as_leaving() -> None:
    voter = living()
    assert events(voter.exclude("why")) == [Excluded("why")]
    assert voter.exclude("again") == []
    leaver = living()
    leaver.state.leaving = True
    assert events(leaver.exclude("why")) == [Left()]


def test_an_older_view_is_not_learned() -> None:
    voter = seeking(Record(VIEW))
    assert voter.learn_view(view_of(A, number=2), B) == []
    assert voter.state.record.view == VIEW


def test_a_voter_without_a_view_reports_nothing_synced() -> None:
    voter = seeking()
    assert voter.on_synced(1, 5, begun_at=0) == []
    assert voter.state.stored == (1, 5)
