"""What counts as held, from what the members of a view have said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.sequencing.reaches import Reaches
from groupcore.view import Address, View

NODES = tuple(Address(name, 1) for name in "abcdef")


def reaches_of(count: int, k: int, received: list[int]) -> Reaches:
    """A view of so many members, each of which has said how far it has the first one's stream."""
    reaches = Reaches(k)
    reaches.install(View(1, 1, 0, 1, NODES[:count]))
    for member, number in zip(NODES, received, strict=False):
        reaches.note(member, NODES[0], number, 0)
    return reaches


@given(
    count=st.integers(1, 6),
    k=st.integers(0, 3),
    received=st.lists(st.integers(0, 4), min_size=6, max_size=6),
)
def test_i1_held_is_what_a_quorum_and_k_more_have(count: int, k: int, received: list[int]) -> None:
    """By the definition: those who have a frame are a quorum of the view, and more than k."""
    view = View(1, 1, 0, 1, NODES[:count])

    def is_held(frame: int) -> bool:
        having = [m for m, number in zip(view.members, received, strict=False) if number >= frame]
        return view.is_quorum(m.name for m in having) and len(having) >= min(k + 1, count)

    expected = max((frame for frame in range(1, 5) if is_held(frame)), default=0)
    assert reaches_of(count, k, received).held(NODES[0]) == expected


def test_i1_half_of_the_members_hold_a_frame_only_with_the_lowest_rank() -> None:
    assert reaches_of(4, 1, [0, 7, 7, 0]).held(NODES[0]) == 0
    assert reaches_of(4, 1, [7, 0, 7, 0]).held(NODES[0]) == 7


def test_what_lets_somebody_forget_something_is_news_and_what_was_known_is_none() -> None:
    reaches = reaches_of(3, 1, [])
    stream, before = NODES[0], reaches.news
    assert reaches.note(NODES[1], stream, 5, 0)
    delivers_none = reaches.news
    assert reaches.note(NODES[1], stream, 6, 2)
    delivered = reaches.news
    assert before < delivers_none < delivered  # the first word of a member says so much, too
    assert reaches.note(NODES[1], stream, 7, 2)
    assert not reaches.note(NODES[1], stream, 7, 2)
    assert reaches.news == delivered
    reaches.note(NODES[1], stream, 7, 2, saved=4)
    saved = reaches.news
    reaches.note(NODES[1], stream, 7, 2, saved=4)
    assert reaches.news == saved == delivered + 1


@pytest.mark.parametrize(
    ("count", "k", "suffice"),
    [
        (1, 1, [True]),
        (2, 1, [True, True]),
        (3, 0, [True, True, True]),
        (3, 1, [True, True, True]),
        (3, 2, [False, False, False]),
        (4, 1, [True, False, False, False]),
        (5, 1, [False] * 5),
    ],
)
def test_a_sequencer_needs_one_word_only_where_it_and_any_other_are_a_quorum(
    count: int, k: int, suffice: list[bool]
) -> None:
    reaches = reaches_of(count, k, [])
    assert [reaches.suffices_itself(node) for node in NODES[:count]] == suffice
