"""The rules of the proposer: ask, propose what the votes demand, tell what is decided."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from groupcore.digest import Digest
from groupcore.effects import Effect, Notify
from groupcore.events import CutAgreed, CutDelivered, Flushed, FlushRequested
from groupcore.membership.ballots import Ballot, Record, Vote
from groupcore.membership.headers import Accept, JoinRefused, Prepare, Promise, Propose
from groupcore.membership.proposer import REPEAT_S, STOPPED_REPEAT_S, Proposer
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Candidates
from groupcore.membership.voter import Voter
from groupcore.view import Address
from tests.groupcore.layers.building import downs, events, stopped, stored, timers, told
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
    vote,
)

VIEW = view_of(A, B, C)
MINE = Ballot(1, A)
NOBODY: frozenset[Address] = frozenset()
OPTIONS = MembershipOptions(vote_s=0.4, grace_s=0.15, attempt_s=1.0)


def idle(record: Record | None = None) -> Proposer:
    state = state_of(A, VIEW, record, OPTIONS)
    return Proposer(state, Voter(state, World().questions()), Random(1))


def started(record: Record | None = None) -> Proposer:
    proposer = idle(record)
    proposer.start(VIEW, frozenset({A, B, C}), 0.0)
    return proposer


def promise(
    proposer: Proposer,
    mine: Vote,
    now: float = 0.1,
    silent: frozenset[Address] = NOBODY,
    promised: Ballot = MINE,
) -> list[Effect]:
    answer = Promise(3, MINE, promised, mine)
    return proposer.on_promise(mine.voter, answer, silent, Candidates(), now)


def flushing() -> Proposer:
    """A, B and C have promised; A asks them to stop."""
    proposer = started()
    for member in (A, B, C):
        promise(proposer, vote(member))
    return proposer


def stop(
    proposer: Proposer,
    member: Address,
    digest: Digest | None = None,
    now: float = 0.1,
    silent: frozenset[Address] = NOBODY,
    candidates: Candidates | None = None,
) -> list[Effect]:
    answer = Flushed(member, MINE, digest or {}, 0)
    return proposer.on_flushed(answer, silent, candidates or Candidates(), now)


def proposed() -> Proposer:
    proposer = flushing()
    for member in (A, B, C):
        stop(proposer, member)
    return proposer


def accept(proposer: Proposer, voter: Address, now: float = 0.2) -> list[Effect]:
    return proposer.on_accept(voter, Accept(3, MINE), NOBODY, now)


# --- asking ---------------------------------------------------------------------------------------


def test_an_attempt_asks_everybody_and_the_proposer_itself() -> None:
    proposer = idle()
    effects = proposer.start(VIEW, frozenset({B}), 0.0)
    assert told(effects) == [Prepare(VIEW, MINE)]
    assert events(effects) == []  # nobody is stopped yet
    assert stored(effects)  # its own promise
    assert timers(effects) == {"repeat": REPEAT_S}
    assert proposer.attempt is not None
    assert proposer.attempt.expected == {A, B}
    assert proposer.numbers["attempts"] == 1


def test_every_attempt_has_a_higher_ballot_than_all_that_were_seen() -> None:
    proposer = idle(Record(VIEW, promised=Ballot(4, C)))
    assert Prepare(VIEW, Ballot(5, A)) in told(proposer.start(VIEW, NOBODY, 0.0))
    other = Promise(3, Ballot(5, A), Ballot(9, B), vote(B))
    proposer.on_promise(B, other, NOBODY, Candidates(), 0.0)
    assert Prepare(VIEW, Ballot(10, A)) in told(proposer.start(VIEW, NOBODY, 0.0))


def test_an_unanswered_question_is_repeated() -> None:
    proposer = started()
    effects = proposer.on_repeat(NOBODY, Candidates(), 0.05)
    assert told(effects) == [Prepare(VIEW, MINE)]
    assert timers(effects) == {"repeat": REPEAT_S}


def test_an_attempt_that_lasts_too_long_is_given_up() -> None:
    proposer = started()
    effects = proposer.on_repeat(NOBODY, Candidates(), 1.01)
    assert stopped(effects) == {"repeat"}
    assert "stuck" in timers(effects)
    assert proposer.attempt is None
    assert proposer.on_repeat(NOBODY, Candidates(), 1.1) == []


def test_an_attempt_is_given_up_for_a_higher_ballot() -> None:
    proposer = started()
    effects = promise(proposer, vote(B), promised=Ballot(2, C))
    assert stopped(effects) == {"repeat"}
    assert proposer.attempt is None


def test_the_next_try_waits_longer_after_each_failure() -> None:
    proposer = idle()
    for longest_s in (0.1, 0.2, 0.4, 0.8, 0.8):
        assert 0.5 * longest_s <= proposer.back_off_s() <= 1.5 * longest_s
        proposer.abandon(0.0)


# --- votes ----------------------------------------------------------------------------------------


def test_when_everybody_has_promised_those_who_live_in_the_view_are_stopped() -> None:
    proposer = started()
    assert promise(proposer, vote(A)) == []
    assert promise(proposer, vote(B, live=False)) == []
    effects = promise(proposer, vote(C))
    assert effects == [Notify(FlushRequested(3, MINE, (A, C)))]


def test_when_everybody_has_stopped_the_successor_is_proposed() -> None:
    proposer = flushing()
    assert stop(proposer, A, {A: 2, B: 1}) == []
    assert stop(proposer, B, {A: 1, B: 3}) == []
    effects = stop(proposer, C, {B: 2})
    (question,) = told(effects)
    assert isinstance(question, Propose)
    assert question.proposal.view == view_of(A, B, C, number=4)
    assert question.proposal.cut == {A: 2, B: 3}
    assert FlushRequested(3, MINE, ()) in events(effects)  # nobody else has to be stopped


def test_a_quorum_of_promises_waits_for_the_others_for_a_while() -> None:
    proposer = started()
    promise(proposer, vote(A))
    assert promise(proposer, vote(B), now=0.39) == []
    effects = proposer.on_repeat(NOBODY, Candidates(), 0.4)
    assert events(effects) == [FlushRequested(3, MINE, (A, B))]


def test_a_quorum_that_has_stopped_waits_for_the_others_for_a_while() -> None:
    proposer = flushing()
    stop(proposer, A)
    assert stop(proposer, B, now=0.49) == []
    effects = proposer.on_repeat(NOBODY, Candidates(), 0.51)
    (question,) = {type(header) for header in told(effects)}
    assert question is Propose


def test_a_voter_that_promises_late_is_stopped_too() -> None:
    proposer = started()
    promise(proposer, vote(A))
    promise(proposer, vote(B), silent=frozenset({C}))
    effects = promise(proposer, vote(C), silent=frozenset({C}))
    assert effects == [Notify(FlushRequested(3, MINE, (A, B, C)))]
    assert promise(proposer, vote(C)) == []  # asked once


def test_the_silent_are_not_waited_for() -> None:
    proposer = started()
    promise(proposer, vote(A))
    silent = frozenset({C})
    assert events(promise(proposer, vote(B), silent=silent))
    stop(proposer, A, silent=silent)
    assert told(stop(proposer, B, silent=silent))


def test_a_live_vote_without_an_answer_to_the_flush_does_not_count() -> None:
    proposer = flushing()
    stop(proposer, C)
    assert proposer.maybe_propose(NOBODY, Candidates(), 99.0) == []


def test_who_has_only_a_disk_needs_no_flush() -> None:
    proposer = started()
    for member in (A, B):
        assert promise(proposer, vote(member, live=False)) == []
    effects = promise(proposer, vote(C, live=False))
    assert events(effects) == []
    (question,) = told(effects)
    assert isinstance(question, Propose)
    assert question.proposal.recovered


def test_memory_that_can_still_be_had_is_waited_for_before_a_view_is_formed_from_disk() -> None:
    proposer = started()
    promise(proposer, vote(A, live=False))
    promise(proposer, vote(B))
    promise(proposer, vote(C))
    stop(proposer, B)
    assert proposer.maybe_propose(NOBODY, Candidates(), 0.9) == []  # A and B are a quorum
    (question,) = told(proposer.maybe_propose(frozenset({C}), Candidates(), 0.9))
    assert isinstance(question, Propose)
    assert question.proposal.recovered


def test_an_answer_to_the_flush_of_another_ballot_does_not_count() -> None:
    proposer = flushing()
    assert proposer.on_flushed(Flushed(B, Ballot(7, B), {}, 0), NOBODY, Candidates(), 0.1) == []
    assert proposer.attempt is not None
    assert proposer.attempt.stopped == {}
    assert stop(idle(), B) == []


def test_an_attempt_that_is_given_up_stops_nobody_any_more() -> None:
    proposer = flushing()
    assert proposer.on_repeat(NOBODY, Candidates(), 1.05) != []  # the flush has its own time
    effects = proposer.on_repeat(NOBODY, Candidates(), 1.11)
    assert events(effects) == [FlushRequested(3, MINE, ())]
    assert proposer.attempt is None
    assert proposer.quiet_until > 1.11


def test_an_attempt_that_has_stopped_nobody_yet_has_nobody_to_let_go_on() -> None:
    proposer = started()
    promise(proposer, vote(A))
    assert proposer.end_flush() == []
    assert events(flushing().end_flush()) == [FlushRequested(3, MINE, ())]
    assert idle().end_flush() == []


def test_a_vote_for_another_ballot_or_in_anothers_name_does_not_count() -> None:
    proposer = started()
    other = Promise(3, Ballot(7, A), Ballot(7, A), vote(B))
    assert proposer.on_promise(B, other, NOBODY, Candidates(), 0.1) == []
    forged = Promise(3, MINE, MINE, vote(C))
    assert proposer.on_promise(B, forged, NOBODY, Candidates(), 0.1) == []
    assert proposer.attempt is not None
    assert proposer.attempt.votes == {}
    assert promise(idle(), vote(B)) == []


def test_votes_of_nodes_with_logs_and_without_do_not_count_together() -> None:
    proposer = started()
    for logged, gives_way in ((False, A), (True, B)):  # who has no log has nothing to lose
        proposer.state.options = MembershipOptions(data_plane=True, logged=logged)
        effects = promise(proposer, replace(vote(B), logged=not logged))
        assert told(effects) == [JoinRefused("mixed_logs")]
        assert [batch.destination for batch in downs(effects)] == [gives_way]
    assert proposer.attempt is not None
    assert B not in proposer.attempt.votes


def test_who_votes_late_is_asked_to_accept() -> None:
    proposer = proposed()
    (question,) = told(promise(proposer, vote(B)))
    assert isinstance(question, Propose)


def test_what_leaves_nobody_in_the_view_is_not_proposed() -> None:
    proposer = started()
    nobody = Candidates(cut_off=frozenset({A, B, C}))
    for member in (A, B, C):
        promise(proposer, vote(member))
        effects = stop(proposer, member, candidates=nobody)
    assert told(effects) == []
    assert proposer.attempt is None


# --- acceptances ----------------------------------------------------------------------------------


def test_a_decided_view_is_installed_here_first() -> None:
    proposer = proposed()
    assert accept(proposer, A) == []
    assert accept(proposer, B) == []  # decided; C gets a moment
    effects = accept(proposer, C)
    assert events(effects) == [CutAgreed({}), CutDelivered()]
    assert stopped(effects) == {"repeat"}
    assert timers(effects) == {"confirm": 0}
    assert proposer.attempt is None
    assert proposer.numbers["views_proposed"] == 1


def test_who_does_not_accept_in_time_is_not_waited_for() -> None:
    proposer = proposed()
    accept(proposer, A)
    assert accept(proposer, B, now=0.2) == []
    assert proposer.on_repeat(NOBODY, Candidates(), 0.34) != []
    assert proposer.numbers["views_proposed"] == 0
    effects = proposer.on_repeat(NOBODY, Candidates(), 0.36)
    assert proposer.numbers["views_proposed"] == 1
    assert events(effects)
    assert timers(effects) == {"confirm": 0}


def test_who_has_accepted_without_the_cut_holds_nothing_until_it_says_so() -> None:
    proposer = proposed()
    for voter in (A, B, C):
        proposer.on_accept(voter, Accept(3, MINE, holds=False), NOBODY, 0.2)
    assert proposer.attempt is not None
    assert proposer.attempt.acceptances == {A: False, B: False, C: False}
    accept(proposer, B)
    proposer.on_accept(B, Accept(3, MINE, holds=False), NOBODY, 0.3)  # late: sent before
    assert proposer.attempt.acceptances == {A: False, B: True, C: False}


def test_a_proposal_is_repeated_to_who_has_not_accepted_it() -> None:
    proposer = proposed()
    accept(proposer, B)
    effects = proposer.on_repeat(NOBODY, Candidates(), 0.15)
    assert [batch.destination for batch in downs(effects)] == [C]
    (question,) = told(effects)
    assert isinstance(question, Propose)
    assert timers(effects) == {"repeat": STOPPED_REPEAT_S}


def test_an_acceptance_of_another_ballot_does_not_count() -> None:
    proposer = proposed()
    assert proposer.on_accept(B, Accept(3, Ballot(9, A)), NOBODY, 0.2) == []
    assert proposer.attempt is not None
    assert proposer.attempt.acceptances == {}
    assert accept(idle(), B) == []
    assert accept(started(), B) == []


def test_nothing_is_decided_without_a_quorum_however_long_it_takes() -> None:
    proposer = proposed()
    accept(proposer, A)
    assert proposer.maybe_decided(NOBODY, 99.0) == []


# --- telling --------------------------------------------------------------------------------------


def decided() -> Proposer:
    """[A B C] is followed by itself, and A has installed it."""
    proposer = proposed()
    for member in (A, B, C):
        accept(proposer, member)
    proposer.voter.on_cut_delivered()
    return proposer


def test_a_decided_view_is_told_until_everybody_has_confirmed_it() -> None:
    proposer = decided()
    for _ in range(2):
        effects = proposer.confirm(NOBODY)
        assert told(effects) == [proposer.state.last_install] * 2
        assert timers(effects) == {"confirm": STOPPED_REPEAT_S}
    proposer.on_installed(B, 4)
    proposer.on_installed(B, 4)
    assert len(told(proposer.confirm(NOBODY))) == 1
    proposer.on_installed(C, 5)
    assert proposer.confirm(NOBODY) == []


def test_who_is_unreachable_is_told_no_more() -> None:
    proposer = decided()
    assert len(told(proposer.confirm(frozenset({B})))) == 1
    assert len(told(proposer.confirm(NOBODY))) == 1


def test_who_lacks_the_view_and_says_so_is_told_it_by_any_member() -> None:
    proposer = idle()
    assert proposer.on_installed(B, 2) == []  # nothing to tell
    proposer.state.last_install = install_of(proposal_of(A, B, C, basis=2))
    assert told(proposer.on_installed(B, 2)) == [proposer.state.last_install]
    assert proposer.on_installed(B, 3) == []


def test_a_view_that_the_proposer_is_not_in_is_told_as_it_was_decided() -> None:
    proposer = idle()
    older = install_of(proposal_of(B, C))
    proposer.confirming = {B: older}
    assert told(proposer.confirm(NOBODY)) == [older]
    proposer.state.last_install = install_of(proposal_of(A, D))
    assert told(proposer.confirm(NOBODY)) == [older]
