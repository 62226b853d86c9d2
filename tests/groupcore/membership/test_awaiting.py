"""What a node without a primary view says that it waits for."""

from __future__ import annotations

from dataclasses import replace

from groupcore.membership.awaiting import Awaiting, awaiting_of_member, awaiting_of_seeker
from groupcore.membership.ballots import Record
from groupcore.membership.state import MembershipOptions
from groupcore.view import View
from tests.groupcore.membership.building import A, B, C, D, World, proposal_of, state_of, view_of

LAST = view_of(B, C)
OPTIONS = MembershipOptions(cluster_size=3, durable=True)


def waits(world: World, record: Record | None = None) -> Awaiting:
    state = state_of(A, None, record or Record(), OPTIONS)
    return awaiting_of_seeker(state, world.questions(), 3, 1.0)


def test_a_first_view_waits_for_a_majority_of_the_cluster() -> None:
    found = waits(World())
    assert (found.reason, found.view, found.here, found.needed) == ("first", None, ("a",), 2)
    assert waits(World(seeking={B: None})).reason == "forming"


def test_the_members_of_the_last_view_are_told_apart() -> None:
    last = view_of(B, C, D)
    found = waits(World(seeking={B: None, C: last}, empty=frozenset({"b"})))
    assert (found.reason, found.view) == ("quorum", last)
    assert (found.here, found.empty, found.missing, found.others) == (
        ("c",),
        ("b",),
        ("d",),
        ("a",),
    )
    assert (found.needed, found.first) == (2, "")


def test_of_an_even_number_half_with_the_first_suffices_and_it_is_named() -> None:
    found = waits(World(seeking={C: LAST}))
    assert (found.reason, found.first, found.missing) == ("quorum", "b", ("b",))
    assert waits(World(seeking={B: LAST})).reason == "forming"


def test_a_view_that_is_there_takes_this_node_in_or_is_of_another_cluster() -> None:
    world = World(present={B: (LAST, True)})
    assert waits(world).reason == "joining"
    other: View = view_of(A, D, lineage=99)
    assert waits(world, Record(other)).reason == "foreign"
    assert waits(World(present={B: (LAST, False)}), Record(LAST)).reason == "forming"


def test_a_member_says_whom_it_does_not_reach() -> None:
    found = awaiting_of_member(view_of(A, B, C), (A,))
    assert (found.reason, found.here, found.missing) == ("quorum", ("a",), ("b", "c"))


def test_a_next_view_that_may_have_been_decided_names_who_it_needs() -> None:
    """a may have decided [a b], and gone on alone; b and c are a majority of [a b c]."""
    last, next_view = view_of(A, B, C), proposal_of(A, B)
    found = awaiting_of_member(last, (B, C), next_view)
    assert (found.reason, found.view, found.missing) == ("bound", last, ("a",))
    assert (found.here, found.others) == (("b",), ("c",))
    assert awaiting_of_member(last, (A, B), next_view).reason == "quorum"
    assert awaiting_of_member(last, (B,), next_view).missing == ("a", "c")
    state = state_of(B, None, replace(Record(last), accepted=next_view), OPTIONS)
    world = World(seeking={C: last})
    seeking = awaiting_of_seeker(state, world.questions(), 3, 1.0)
    assert (seeking.reason, seeking.missing) == ("bound", ("a",))
    knows_more = World(seeking={C: view_of(B, C, number=4)})
    assert awaiting_of_seeker(state, knows_more.questions(), 3, 1.0).reason == "forming"
