"""The rules of a merge between coordinators (pbcast design, MERGE2), step by step."""

from __future__ import annotations

from random import Random

from groupcore.effects import Effect
from groupcore.events import Flushed, FlushRequested
from groupcore.membership.admission import Admission
from groupcore.membership.company import Company
from groupcore.membership.headers import MergeInstall, MergeRequest, MergeResponse, Prepare, Propose
from groupcore.membership.leaver import Leaver
from groupcore.membership.merger import ASK_EVERY_S, Merger
from groupcore.membership.proposer import Proposer
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Candidates
from groupcore.membership.voter import Voter
from groupcore.view import Address, View
from tests.groupcore.layers.building import downs, timers, told
from tests.groupcore.membership.building import A, B, C, D, E, World, state_of, view_of, vote

OPTIONS = MembershipOptions(merge_policy="application", merge_s=0.4, merge_lapse_s=0.8)
MINE, THEIRS, THIRD = view_of(A, B), view_of(C, D, lineage=8), view_of(E, lineage=10)


def merger(
    me: Address = A,
    view: View | None = MINE,
    options: MembershipOptions = OPTIONS,
    world: World | None = None,
) -> Merger:
    state = state_of(me, view, options=options)
    world = world or World()
    proposer = Proposer(state, Voter(state, world.questions()), Random(1))
    company = Company(state, Admission(), Leaver(state), world.questions())
    return Merger(state, proposer, company, Random(2))


def leading(*views: View) -> Merger:
    """A has found the others and leads."""
    mine = merger()
    mine.on_found(views or (THEIRS,), 1.0)
    return mine


def stop_side(mine: Merger, *members: Address, position: int = 5) -> list[Effect]:
    """The own side promises and stops; what follows from the last answer."""
    attempt = mine.proposer.attempt
    assert attempt is not None
    nobody: frozenset[Address] = frozenset()
    effects: list[Effect] = []
    for member in members:
        attempt.votes[member] = vote(member)
    mine.proposer.go_on(nobody, Candidates(), 1.1)
    for member in members:
        answer = Flushed(member, attempt.ballot, {}, position)
        effects = mine.proposer.on_flushed(answer, nobody, Candidates(), 1.1)
    return effects


def merge_id(mine: Merger) -> int:
    assert mine.merge is not None
    return mine.merge.id


def yes(mine: Merger, view: View = THEIRS, position: int = 9) -> list[Effect]:
    answer = MergeResponse(merge_id(mine), False, view, view.members, position)
    return mine.on_response(view.coordinator, answer)


def no(mine: Merger, view: View = THEIRS) -> list[Effect]:
    return mine.on_response(view.coordinator, MergeResponse(merge_id(mine), True, view, (), 0))


def kinds(effects: list[Effect]) -> list[type]:
    return [type(header) for header in told(effects)]


# --- the leader -----------------------------------------------------------------------------------


def test_the_first_coordinator_by_address_leads_and_asks_the_others() -> None:
    mine = merger()
    effects = mine.on_found((THEIRS, THIRD), 1.0)
    asked = [b.destination for b in downs(effects) if isinstance(b.headers[-1], MergeRequest)]
    assert asked == [C, E]
    assert Prepare in kinds(effects)  # and stops its own side
    assert timers(effects)["merge"] == ASK_EVERY_S


def test_another_coordinator_waits_to_be_asked() -> None:
    assert merger(C, THEIRS).on_found((MINE,), 1.0) == []


def test_only_coordinators_react_and_only_under_that_policy() -> None:
    assert merger(B, MINE).on_found((THEIRS,), 1.0) == []
    assert merger(options=MembershipOptions()).on_found((THEIRS,), 1.0) == []
    assert merger(view=None).on_found((THEIRS,), 1.0) == []


def test_no_merge_begins_while_one_or_a_view_change_goes_on() -> None:
    assert leading().on_found((THEIRS,), 1.0) == []
    mine = merger()
    mine.state.blocked = True
    assert mine.on_found((THEIRS,), 1.0) == []
    proposing = merger()
    proposing.proposer.start(MINE, frozenset({A, B}), 0.9)
    assert proposing.on_found((THEIRS,), 1.0) == []
    (answer,) = told(proposing.on_request(C, MergeRequest(7), 1.0))
    assert answer == MergeResponse(7, True, MINE, (), 0)


def test_a_side_that_can_decide_nothing_goes_on_alone_before_it_merges() -> None:
    mine = merger(view=view_of(A, B, C), world=World(unheard={A: frozenset({B, C})}))
    assert mine.on_found((view_of(D, lineage=8),), 1.0) == []
    (answer,) = told(mine.on_request(D, MergeRequest(7), 1.0))
    assert isinstance(answer, MergeResponse)
    assert answer.rejected


def test_a_view_of_the_own_lineage_is_no_other_side() -> None:
    assert merger().on_found((view_of(C, number=9),), 1.0) == []


def test_when_all_have_answered_the_merged_view_is_told_and_proposed() -> None:
    mine = leading(THEIRS, THIRD)
    stop_side(mine, A, B)
    assert yes(mine, THEIRS) == []
    effects = yes(mine, THIRD, position=3)
    install = told(effects)[0]
    assert isinstance(install, MergeInstall)
    assert install.view.members == (A, B, C, D, E)
    assert (install.view.floor, install.views) == (9, (MINE, THEIRS, THIRD))
    assert [b.destination for b in downs(effects)][:2] == [C, E]
    (question,) = [header for header in told(effects) if isinstance(header, Propose)]
    assert question.proposal.merged == (MINE, THEIRS, THIRD)


def test_the_own_side_counts_too_and_is_waited_for() -> None:
    mine = leading()
    assert yes(mine) == []
    assert MergeInstall in kinds(stop_side(mine, A, B))


def test_who_says_no_is_left_out() -> None:
    mine = leading(THEIRS, THIRD)
    stop_side(mine, A, B)
    no(mine, THEIRS)
    install = told(yes(mine, THIRD))[0]
    assert isinstance(install, MergeInstall)
    assert install.views == (MINE, THIRD)


def test_who_does_not_answer_in_time_is_left_out() -> None:
    mine = leading(THEIRS, THIRD)
    stop_side(mine, A, B)
    yes(mine, THIRD)
    effects = mine.on_timer(1.3)
    assert [b.destination for b in downs(effects)] == [C]  # asked again
    install = told(mine.on_timer(1.41))[0]
    assert isinstance(install, MergeInstall)
    assert install.views == (MINE, THIRD)


def test_when_only_the_leader_is_left_the_merge_is_given_up() -> None:
    mine = leading()
    stop_side(mine, A, B)
    assert told(no(mine)) == []
    assert mine.merge is None
    assert mine.numbers["merges_cancelled"] == 1
    assert mine.proposer.attempt is not None
    assert mine.proposer.attempt.merge_id == 0  # the side that has stopped goes on by itself


def test_a_leader_whose_own_side_does_not_stop_gives_up() -> None:
    mine = leading()
    yes(mine)
    mine.on_timer(1.41)
    assert mine.merge is None


def test_an_answer_of_another_merge_or_twice_changes_nothing() -> None:
    mine = leading(THEIRS, THIRD)
    assert mine.on_response(C, MergeResponse(1, False, THEIRS, (C,), 0)) == []
    yes(mine)
    assert yes(mine, position=99) == []
    assert mine.merge is not None
    assert mine.merge.sides[C][2] == 9
    strangers = MergeResponse(merge_id(mine), False, THEIRS, (C,), 0)
    assert mine.on_response(D, strangers) == []


def test_what_was_decided_is_told_again_for_a_while() -> None:
    mine = leading()
    stop_side(mine, A, B)
    yes(mine)
    assert kinds(mine.on_timer(1.5)) == [MergeInstall]
    mine.on_view(merged=True)
    assert kinds(mine.on_timer(1.6)) == [MergeInstall]  # the other may have lost it
    assert mine.on_timer(9.0) == []
    assert mine.merge is None


# --- the other coordinators -----------------------------------------------------------------------


def asked(id_: int = 7) -> Merger:
    """C, which A has asked."""
    mine = merger(C, THEIRS)
    mine.on_request(A, MergeRequest(id_), 1.0)
    return mine


def test_a_coordinator_that_is_asked_stops_its_side_and_says_where_it_ends() -> None:
    mine = merger(C, THEIRS)
    assert Prepare in kinds(mine.on_request(A, MergeRequest(7), 1.0))
    effects = stop_side(mine, C, D, position=12)
    assert told(effects) == [MergeResponse(7, False, THEIRS, (C, D), 12)]
    assert downs(effects)[0].destination == A
    assert told(mine.on_request(A, MergeRequest(7), 1.2)) == told(effects)  # asked again


def test_a_coordinator_that_merges_already_under_another_id_rejects() -> None:
    mine = asked()
    (answer,) = told(mine.on_request(B, MergeRequest(8), 1.0))
    assert isinstance(answer, MergeResponse)
    assert (answer.id, answer.rejected) == (8, True)
    assert mine.numbers["merges_rejected"] == 1


def test_who_is_no_coordinator_or_has_another_policy_rejects() -> None:
    for mine in (merger(D, THEIRS), merger(C, None), merger(C, THEIRS, MembershipOptions())):
        (answer,) = told(mine.on_request(A, MergeRequest(7), 1.0))
        assert isinstance(answer, MergeResponse)
        assert answer.rejected


def test_a_coordinator_takes_its_own_side_into_the_merged_view() -> None:
    mine = asked()
    stop_side(mine, C, D)
    merged = view_of(A, B, C, D, number=99, epoch=2, lineage=12)
    effects = mine.on_install(A, MergeInstall(7, merged, (MINE, THEIRS)))
    (question,) = [header for header in told(effects) if isinstance(header, Propose)]
    assert question.proposal.view == merged
    assert question.proposal.basis_lineage == THEIRS.lineage
    assert mine.on_install(A, MergeInstall(7, merged, (MINE, THEIRS))) == []


def test_a_merged_view_of_another_id_leader_or_view_is_not_taken() -> None:
    merged = view_of(A, B, C, D, number=99, lineage=12)
    mine = asked()
    assert mine.on_install(A, MergeInstall(7, merged, (MINE, THEIRS))) == []  # not stopped yet
    stop_side(mine, C, D)
    assert mine.on_install(A, MergeInstall(8, merged, (MINE, THEIRS))) == []
    assert mine.on_install(B, MergeInstall(7, merged, (MINE, THEIRS))) == []
    assert mine.on_install(A, MergeInstall(7, merged, (MINE, THIRD))) == []


def test_when_the_leader_dies_the_merge_is_cancelled_and_the_side_goes_on() -> None:
    mine = asked()
    effects = stop_side(mine, C, D)
    assert kinds(mine.on_timer(1.5)) == kinds(effects)  # the answer may be lost
    mine.on_timer(1.81)
    assert mine.merge is None
    effects = mine.proposer.on_repeat(frozenset(), Candidates(), 1.85)
    (question,) = [header for header in told(effects) if isinstance(header, Propose)]
    assert question.proposal.view.members == (C, D)
    assert question.proposal.view.lineage == THEIRS.lineage
    assert mine.on_timer(2.0) == []


def test_a_view_that_comes_otherwise_ends_the_merge() -> None:
    mine = asked()
    mine.on_view(merged=False)
    assert mine.merge is None
    assert mine.on_found((), 1.0) == []


def test_the_side_is_stopped_by_a_flush_like_any_other() -> None:
    mine = leading()
    attempt = mine.proposer.attempt
    assert attempt is not None
    for member in (A, B):
        attempt.votes[member] = vote(member)
    (effect,) = mine.proposer.go_on(frozenset(), Candidates(), 1.1)
    assert getattr(effect, "event") == FlushRequested(3, attempt.ballot, (A, B))  # noqa: B009
