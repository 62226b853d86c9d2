"""The rules of folders: when a generation is counted and told, and which folder is older."""

from __future__ import annotations

from dataclasses import replace

from groupcore.effects import Effect, Persist
from groupcore.membership.attempt import Attempt
from groupcore.membership.awaiting import awaiting_of_seeker
from groupcore.membership.folders import TOLD_TIMES, Folders
from groupcore.membership.generation import Generation, newest
from groupcore.membership.headers import Stored
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Ballot, Record, Vote, binding
from groupcore.stacks import encode_record, read_record
from groupcore.view import Address
from tests.groupcore.layers.building import told
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    World,
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
    assert mine.older == {"c"}


def test_a_folder_that_goes_as_far_as_its_node_has_told_has_one() -> None:
    for number in (4, 5):
        mine = attempt(of(A, 9, OF_C), of(C, number))
        assert mine.may_decide()
        assert mine.older == set()


def test_who_has_heard_of_it_may_answer_later_or_have_had_its_turn() -> None:
    assert not attempt(of(C, 3), of(A, 9, OF_C)).may_decide()
    mine = attempt(of(C, 3), of(A, 9))
    mine.reserve[B] = of(B, 2, OF_C)
    assert mine.may_decide()
    mine.take_reserve()
    assert mine.older == {"c"}


def test_a_folder_of_a_former_life_is_older() -> None:
    later = OF_C._replace(life=OF_C.life + 1, number=1)
    assert attempt(of(A, 9, later), of(C, 40)).older == {"c"}


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


def test_a_person_is_told_whose_folder_does_not_count() -> None:
    state = state_of(A, None, Record(VIEW), OPTIONS)
    world = World(seeking={C: VIEW})
    assert awaiting_of_seeker(state, world.questions(), 3, 1.0).reason == "forming"
    state.older = frozenset({"c"})
    waits = awaiting_of_seeker(state, world.questions(), 3, 1.0)
    assert (waits.reason, waits.empty, waits.missing) == ("quorum", ("c",), ("b",))
