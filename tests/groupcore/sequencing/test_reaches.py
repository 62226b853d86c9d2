"""What counts as held, from what the members of a view have said."""

from __future__ import annotations

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
