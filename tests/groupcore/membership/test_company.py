"""With whom a member can go on, where components go on alone."""

from __future__ import annotations

from dataclasses import replace

from groupcore.events import ViewInstalled
from groupcore.membership.admission import Admission
from groupcore.membership.ballots import Ballot, Record
from groupcore.membership.company import SETTLED_S, Company
from groupcore.membership.leaver import Leaver
from groupcore.membership.state import MembershipOptions
from groupcore.view import View
from tests.groupcore.membership.building import A, B, C, D, World, state_of, view_of

MINE = view_of(A, B, C, number=50)
PARTITIONABLE = MembershipOptions(merge_policy="application")


def company(world: World, options: MembershipOptions = PARTITIONABLE) -> Company:
    state = state_of(A, MINE, options=options)
    return Company(state, Admission(), Leaver(state), world.questions())


def hearing(*views: View) -> World:
    return World(present={view.coordinator: (view, True) for view in views})


def test_members_that_a_view_of_another_lineage_has_taken_are_not_counted_on() -> None:
    mine = company(hearing(view_of(C, D, number=70, lineage=8)))
    mine.note_elsewhere(9.0)
    assert mine.keep(MINE) == (A, B)
    assert mine.silent() == {C}
    assert mine.candidates(9.0).cut_off == {C}


def test_under_the_policy_primary_another_lineage_takes_nobody() -> None:
    mine = company(hearing(view_of(C, D, number=70, lineage=8)), MembershipOptions())
    mine.note_elsewhere(9.0)
    assert mine.keep(MINE) == (A, B, C)


def test_views_that_were_left_for_mine_and_the_own_lineage_take_nobody() -> None:
    for view in (
        view_of(C, D, number=40, lineage=8),
        view_of(C, D, number=MINE.number, lineage=8),
        view_of(C, A, number=70, lineage=8),
        view_of(C, D, number=70),
    ):
        mine = company(hearing(view))
        mine.note_elsewhere(9.0)
        assert mine.keep(MINE) == (A, B, C)


def test_who_has_lived_through_a_lineage_tells_its_old_views_from_its_new_ones() -> None:
    former = view_of(A, B, C, D, number=3, lineage=9)
    old, new = view_of(B, C, D, number=3, lineage=9), view_of(B, D, number=4, lineage=9)
    for view, stays in ((old, (A, B, C)), (new, (A, C))):
        mine = company(hearing(view))
        mine.on_view(ViewInstalled(MINE, former), 1.0)
        mine.note_elsewhere(1.0 + SETTLED_S)
        assert mine.keep(MINE) == stays


def test_shortly_after_a_view_what_is_heard_may_be_older_than_it() -> None:
    mine = company(hearing(view_of(C, D, number=70, lineage=8)))
    mine.on_view(ViewInstalled(MINE), 1.0)
    mine.note_elsewhere(1.0)
    assert mine.keep(MINE) == (A, B, C)


def test_a_proposer_that_is_not_heard_any_more_is_lost() -> None:
    world = World(unheard={A: frozenset({B})})
    mine = company(world)
    assert not mine.has_lost_its_proposer()
    mine.state.record = Record(MINE, promised=Ballot(1, B))
    assert mine.has_lost_its_proposer()
    mine.state.record = Record(MINE, promised=Ballot(1, C))
    assert not mine.has_lost_its_proposer()


def test_a_voter_that_was_away_counts_by_what_its_disk_knows_however_little() -> None:
    mine = replace(view_of(B, C, number=2), voters=("b", "c", "a"))
    former = view_of(A, B, C, number=1)
    for known in (mine, former, None):
        for empty in (frozenset[str](), frozenset({"a"})):
            world = World(seeking={A: known, D: former}, empty=empty)
            state = state_of(C, mine)
            found = Company(state, Admission(), Leaver(state), world.questions())
            found.note_restarted(9.0)
            counts = not empty
            assert found.restarted == ({"a"} if counts else set())
            found.pass_over(mine, frozenset({B}))
            assert found.passed_over == ({B} if counts else set())
