"""Each way to name the wrong voters is found; the right ones are let by."""

from __future__ import annotations

import pytest

from groupcore.sim.checkers.voters import VotersDecide, VotersKnow
from groupcore.sim.trace import Accepted, Lived, Trace, Viewed
from groupcore.view import Address

A, B, C, D = (Address(name, 1) for name in "abcd")
SECOND = 1_000_000_000


def view(
    number: int,
    members: str,
    voters: str = "",
    holders: str = "",
    recovered: bool = False,
    at_s: int = 0,
) -> Viewed:
    named = tuple(Address(name, 1) for name in members)
    held = tuple(Address(name, 1) for name in holders)
    return Viewed(
        at_s * SECOND,
        *named[0],
        number,
        1,
        7,
        named,
        None,
        number - 1,
        False,
        0,
        0,
        recovered,
        held,
        tuple(voters),
    )


def breaches(
    *records: Viewed | Accepted | Lived, checker: type[VotersKnow] = VotersKnow
) -> list[str]:
    trace = Trace(sorted(records, key=lambda record: record.t))
    return [violation.text.split(": ", 1)[1] for violation in checker().check(trace)]


@pytest.mark.parametrize(
    ("members", "voters", "holders"),
    [
        ("abc", "", "abc"),
        ("ab", "abc", "ab"),
        ("abcd", "abc", "abc"),
        ("abd", "abc", "ab"),
        ("a", "ab", "a"),
    ],
)
def test_whoever_has_the_state_or_had_a_vote_may_vote(
    members: str, voters: str, holders: str
) -> None:
    assert breaches(view(1, "abc", "", "abc"), view(2, members, voters, holders)) == []


def test_a_learner_that_votes_is_found() -> None:
    (found,) = breaches(view(1, "abc", "", "abc"), view(2, "abcd", "", "abc"))
    assert found == "d had no vote before, and has no state"


def test_too_few_with_the_state_are_found() -> None:
    found = breaches(view(1, "abc", "", "abc"), view(2, "ab", "abc", "a", recovered=True))
    assert found == ["only a has the state"]


def test_a_voter_that_is_away_and_was_not_kept_is_found() -> None:
    (found,) = breaches(view(1, "abc", "", "abc"), view(2, "ab", "", "ab"))
    assert found == "3 of a b c should vote"
    from_disk = view(2, "ab", "", "ab", recovered=True)
    assert breaches(view(1, "abc", "", "abc"), from_disk) == []
    left = Lived(0, "c", 1, "leave", "")
    assert breaches(view(1, "abc", "", "abc"), left, view(2, "ab", "", "ab")) == []


def test_a_leaver_that_stays_a_voter_is_found() -> None:
    follows = view(2, "ab", "abc", "ab", at_s=3)
    voted = Accepted(2 * SECOND, "a", 1, 2, 7, (A, B), (A, B, C), ("a", "b", "c"))
    left = Lived(3 * SECOND, "c", 1, "left", str(SECOND))
    assert breaches(view(1, "abc", "", "abc"), voted, follows, left) == ["c has left"]
    in_haste = Lived(3 * SECOND, "c", 1, "left", str(SECOND // 10))
    assert breaches(view(1, "abc", "", "abc"), voted, follows, in_haste) == []
    unheard = Accepted(2 * SECOND, "c", 1, 2, 7, (A, B), (A, B), ("a", "b", "c"))
    assert breaches(view(1, "abc", "", "abc"), unheard, follows, left) == []
    given_up = Accepted(2 * SECOND, "c", 1, 2, 7, (A, B), (A, B, C), ("a", "b"))
    assert breaches(view(1, "abc", "", "abc"), given_up, follows, left) == []


def from_disk(*voted: Address) -> tuple[Accepted, Viewed]:
    """A view of a and c from disk that follows one of a and b, of voters a, b and c."""
    accepted = Accepted(0, "a", 1, 2, 7, (A, C), voted, ("a", "c"))
    return accepted, view(2, "ac", "ac", "a", recovered=True)


def test_a_view_from_disk_is_found_where_a_quorum_lives_or_was_away() -> None:
    away = view(1, "ab", "abc", "ab")
    again = Address("c", 2)
    for votes in ((A, C), (A, again), (A, B)):
        (found,) = breaches(away, *from_disk(*votes))
        assert found.endswith("know all of the former one: it is none from disk")


def test_a_view_from_disk_is_let_by_where_the_memory_of_a_quorum_is_lost() -> None:
    away = view(1, "ab", "abc", "ab")
    assert breaches(away, *from_disk(Address("a", 2), C)) == []
    assert breaches(away, *from_disk(Address("b", 2), C)) == []
    assert breaches(view(1, "abc", "abc", "abc"), *from_disk(A, Address("c", 2))) == []
    with_learner = view(1, "abcd", "abc", "abc")
    assert breaches(with_learner, *from_disk(A, D, Address("b", 2))) == []


def test_without_state_joiners_vote_at_once_but_a_quorum_that_needs_them_is_found() -> None:
    alone = view(1, "a", "", "a")
    joined = breaches(alone, view(2, "ab", "ab", "a"), checker=VotersDecide)
    assert joined == []
    assert breaches(alone, view(2, "ab", "ab", "a")) == ["b had no vote before, and has no state"]
    (found,) = breaches(alone, view(2, "abc", "abc", "a"), checker=VotersDecide)
    assert found == "only a has the state"
    two = view(1, "ab", "", "a")
    assert breaches(two, view(2, "ab", "abc", "a", recovered=True), checker=VotersDecide) == []
