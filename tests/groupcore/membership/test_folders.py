"""The rules of folders: when a generation is counted and told, and which folder is older."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from groupcore.effects import Effect, Persist
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Record, Vote
from groupcore.membership.folders import TOLD_TIMES, Folders
from groupcore.membership.generation import Generation, newest
from groupcore.membership.headers import Prepare, Promise, Stored
from groupcore.membership.proposer import Proposer
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Candidates, binding
from groupcore.membership.voter import Voter
from groupcore.stacks import encode_record, read_record
from groupcore.view import Address, View
from tests.groupcore.layers.building import told
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    World,
    encode,
    proposal_of,
    state_of,
    view_of,
    vote,
)

VIEW = view_of(A, B, C)
OPTIONS = MembershipOptions(durable=True, generation_s=0.5)
OF_C = Generation("c", C.incarnation, 4)


def folders(options: MembershipOptions = OPTIONS) -> tuple[Folders, World]:
    world = World()
    return Folders(state_of(A, VIEW, options=options), world.questions()), world


def on_disk(mine: Folders, effects: list[Effect]) -> list[Effect]:
    """What follows when the record that these effects store is on disk."""
    (persist,) = (effect for effect in effects if isinstance(effect, Persist))
    return mine.state.after_persist.pop(persist.token)


def of(voter: Address, number: int = 0, *heard: Generation, live: bool = False) -> Vote:
    generation = Generation(voter.name, voter.incarnation, number)
    return replace(vote(voter, live=live), generation=generation, heard=heard)


def attempt(*votes: Vote) -> Attempt:
    mine = Attempt(VIEW, Ballot(1, A), frozenset((A, B, C)), 3)
    for one in votes:
        mine.take(one.voter, one)
    return mine


# --- counting -----------------------------------------------------------------------------------


def test_a_generation_is_told_when_it_is_on_disk() -> None:
    mine, world = folders()
    world.disk_mark = 1
    effects = mine.tick(1.0)
    assert told(effects) == []
    assert told(on_disk(mine, effects)) == [Stored(1)]
    assert mine.state.record.generation == Generation("a", A.incarnation, 1)


def test_no_other_is_counted_while_one_is_on_its_way() -> None:
    mine, world = folders()
    world.disk_mark = 1
    mine.tick(1.0)
    world.disk_mark = 2
    assert mine.tick(9.0) == []


def test_one_is_counted_each_time_and_only_where_something_was_stored() -> None:
    mine, world = folders()
    world.disk_mark = 1
    on_disk(mine, mine.tick(1.0))
    world.disk_mark = 2
    assert mine.tick(1.4) == []
    assert told(on_disk(mine, mine.tick(1.5))) == [Stored(2)]
    mine.state.stored = (1, 7)  # an application's own disk counts as well
    assert told(on_disk(mine, mine.tick(2.0))) == [Stored(3)]


def test_the_last_one_is_told_again_and_nothing_is_written_for_that() -> None:
    mine, world = folders()
    world.disk_mark = 1
    on_disk(mine, mine.tick(1.0))
    for at in range(1, TOLD_TIMES):
        assert [type(one).__name__ for one in mine.tick(1.0 + at)] == ["Down"]
    assert mine.tick(9.0) == []


def test_nothing_is_counted_alone_or_in_memory_or_where_it_is_switched_off() -> None:
    for options in (replace(OPTIONS, durable=False), replace(OPTIONS, generation_s=0)):
        mine, world = folders(options)
        world.disk_mark = 1
        assert mine.tick(1.0) == []
    mine, world = folders()
    world.disk_mark, mine.state.view = 1, view_of(A)
    assert mine.tick(1.0) == []


def test_a_new_life_begins_at_one_above_all_of_the_former_life() -> None:
    former = Generation("a", A.incarnation - 1, 40)
    mine, world = folders()
    mine.state.record = replace(mine.state.record, generation=former)
    world.disk_mark = 1
    mine.tick(1.0)
    assert mine.state.record.generation.number == 1
    assert former.is_before(mine.state.record.generation)


# --- what others have told ----------------------------------------------------------------------


def test_what_others_have_told_is_stored_and_told_to_nobody() -> None:
    mine, _ = folders()
    mine.note(C, 4)
    mine.note(C, 3)  # late
    assert on_disk(mine, mine.tick(1.0)) == []
    assert mine.state.record.heard == (OF_C,)
    assert mine.tick(9.0) == []


def test_a_stranger_and_this_node_itself_tell_nothing() -> None:
    mine, _ = folders()
    mine.note(Address("z", 1), 4)
    mine.note(A, 4)
    assert mine.state.heard == {}


def test_of_a_new_life_nothing_is_known_until_it_tells() -> None:
    mine, _ = folders()
    mine.note(B, 4)
    mine.note(C, 4)
    mine.on_view(view_of(A, B, C._replace(incarnation=C.incarnation + 1)))
    assert set(mine.state.heard) == {"b"}


def test_a_record_keeps_what_was_heard_over_views_and_lives() -> None:
    record = replace(Record(VIEW), heard=(OF_C,), generation=Generation("a", 7, 2))
    later = record.with_view(view_of(A, B, number=4), False)
    assert (later.heard, later.generation) == (record.heard, record.generation)
    assert read_record(encode_record(record)) == record
    assert state_of(A, None, record).heard == {"c": OF_C}


def test_of_what_is_heard_the_highest_counts() -> None:
    lower, later = OF_C._replace(number=3), OF_C._replace(life=OF_C.life + 1, number=1)
    assert newest([lower, OF_C, lower]) == {"c": OF_C}
    assert newest([later, OF_C]) == {"c": later}


# --- whose folder is older ----------------------------------------------------------------------


def test_a_folder_older_than_its_node_has_told_has_no_vote() -> None:
    mine = attempt(of(A, 9, OF_C), of(C, 3))
    assert not mine.may_decide()
    assert (mine.votes[C].counts, mine.votes[C].lost) == (False, True)


def test_a_folder_that_goes_as_far_as_its_node_has_told_has_one() -> None:
    for number in (4, 5):
        mine = attempt(of(A, 9, OF_C), of(C, number))
        assert mine.may_decide()
        assert mine.votes[C].counts


def test_who_has_heard_of_it_may_answer_later_or_have_had_its_turn() -> None:
    assert not attempt(of(C, 3), of(A, 9, OF_C)).may_decide()
    mine = attempt(of(C, 3), of(A, 9))
    mine.reserve[B] = of(B, 2, OF_C)
    assert mine.may_decide()
    mine.take_reserve()
    assert not mine.votes[C].counts


def test_a_folder_of_a_former_life_is_older() -> None:
    later = OF_C._replace(life=OF_C.life + 1, number=1)
    assert not attempt(of(A, 9, later), of(C, 40)).votes[C].counts


def test_who_lives_in_the_view_has_its_memory() -> None:
    assert attempt(of(A, 9, OF_C, live=True), of(C, 3, live=True)).may_decide()


def test_what_an_older_folder_does_not_say_proves_nothing() -> None:
    """It may have accepted what another has: that binds, as with a disk that was lost."""
    first = Ballot(1, B)
    accepted = replace(of(B, 2, OF_C), accepted_ballot=first, accepted=proposal_of(C, B))
    mine = attempt(of(A, 9), accepted, of(C, 3))
    assert binding(VIEW, list(mine.votes.values())) == proposal_of(C, B)
    trusting = [vote if vote.voter != C else of(C, 3) for vote in mine.votes.values()]
    assert binding(VIEW, trusting) is None


def voter_of(number: int, view: View | None = None) -> Voter:
    record = replace(Record(VIEW), generation=Generation("c", C.incarnation, number))
    return Voter(state_of(C, view, record, OPTIONS), World().questions())


def test_who_hears_that_its_folder_is_older_is_as_one_that_has_lost_it() -> None:
    voter = voter_of(3)
    effects = voter.on_prepare(A, Prepare(VIEW, Ballot(1, A), (OF_C,)))
    (persist, _) = (effect for effect in effects if isinstance(effect, Persist))
    record = voter.state.record
    assert (record.rebuilding, record.lost) == (True, True)
    assert persist.record == encode(replace(record, promised=None))
    assert (voter.vote().counts, voter.vote().lost) == (False, True)
    assert voter.judge_folder({"c": OF_C}) == []  # it knows


def test_a_proposer_hears_it_from_who_votes_and_tells_all() -> None:
    state = state_of(C, None, replace(Record(VIEW), generation=OF_C._replace(number=3)), OPTIONS)
    state.heard["b"] = Generation("b", B.incarnation, 2)
    proposer = Proposer(state, Voter(state, World().questions()), Random(1))
    asked = told(proposer.start(VIEW, frozenset((A, B, C)), 0.0))
    assert Prepare(VIEW, Ballot(1, C), (state.heard["b"],)) in asked
    promise = Promise(VIEW.number, Ballot(1, C), Ballot(1, C), of(A, 9, OF_C))
    proposer.on_promise(A, promise, frozenset(), Candidates(), 0.1)
    assert (state.record.rebuilding, state.record.lost) == (True, True)
    again = told(proposer.on_repeat(frozenset(), Candidates(), 0.1))
    assert Prepare(VIEW, Ballot(1, C), (state.heard["b"], OF_C)) in again


def test_who_lives_in_a_view_or_has_not_heard_later_ones_keeps_its_vote() -> None:
    for voter in (voter_of(3, VIEW), voter_of(4)):
        assert voter.judge_folder({"c": OF_C}) == []
        assert not voter.state.record.rebuilding
    assert voter_of(3).judge_folder({"b": OF_C}) == []


def test_a_life_that_begins_a_view_is_above_all_former_ones_at_once() -> None:
    record = Record(VIEW, generation=OF_C)
    later = C._replace(incarnation=C.incarnation + 1)
    assert OF_C.is_before(record.of_life(later).generation)
    assert record.of_life(C) == record
