"""Which cells a view needs: all that it meets, what it has just left, what lies in front."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.shared.places.interest import HELD_MAX, View, interest, scaled
from groupcore.shared.places.limits import END, SIDE, START
from groupcore.shared.places.squares import (
    ROOT,
    Box,
    contains,
    leaf_at,
    leaves_in,
    path_at,
    quarters,
    square_of,
)

UNIT = SIDE // 16


def divided(depth: int) -> dict[str, str]:
    """All cells quartered so often."""
    tree = {ROOT: "leaf"}
    for _ in range(depth):
        for path in [one for one, role in tree.items() if role == "leaf"]:
            tree[path] = "inner"
            tree.update(dict.fromkeys(quarters(path), "leaf"))
    return tree


TREE = divided(4)
coordinates = st.integers(START, END - 1)


def around(x: int, y: int, half: int) -> Box:
    return Box(x - half, y - half, x + half, y + half)


@given(coordinates, coordinates, st.integers(0, 14))
def test_each_point_lies_in_one_square_of_each_depth(x: int, y: int, depth: int) -> None:
    path = path_at(x, y, depth)
    assert contains(path, x, y)
    assert [contains(one, x, y) for one in quarters(path)].count(True) == 1
    assert leaf_at(TREE, x, y) in leaves_in(TREE, around(x, y, 1))


def test_the_origin_is_far_from_every_border() -> None:
    for depth in range(1, 15):
        left, top, right, bottom = square_of(path_at(0, 0, depth))
        assert min(-left, -top, right, bottom) >= (right - left) // 4


@given(coordinates, coordinates, st.integers(1, UNIT), st.sets(st.sampled_from(sorted(TREE))))
@settings(deadline=None)
def test_a_view_needs_all_that_it_meets_and_keeps_what_is_near(
    x: int, y: int, half: int, held: set[str]
) -> None:  # I1, I2
    box = around(x, y, half)
    found = interest(View(box), TREE, held)
    met = leaves_in(TREE, box) or [leaf_at(TREE, x, y)]
    assert set(met) <= set(found.needed) | {leaf_at(TREE, x, y)}
    near = {one for one in leaves_in(TREE, scaled(box, 13, 10)) if one in held}
    assert set(found.needed) <= set(leaves_in(TREE, box)) | near | set(met)
    assert near <= set(found.needed)


def test_who_walks_to_and_fro_along_a_border_joins_and_leaves_nothing() -> None:
    border = square_of(path_at(0, 0, 4)).right
    half, held = UNIT // 4, set[str]()
    changes = 0
    for step in range(40):
        at = border - half - UNIT // 40 * (step % 2)
        needed = set(interest(View(around(at, 0, half)), TREE, held).needed)
        changes += needed != held
        held = needed
    assert changes <= 2


def test_who_moves_has_the_cells_in_front_before_seeing_them() -> None:
    left, top, right, bottom = square_of(path_at(0, 0, 4))
    box = around((left + right) // 2, (top + bottom) // 2, UNIT // 2 - 8)
    still, walking = interest(View(box), TREE, ()), interest(View(box, dx=5), TREE, ())
    assert len(still.needed) == 1
    assert set(walking.needed) - set(still.needed) == {path_at(right, (top + bottom) // 2, 4)}


def test_a_view_as_large_as_the_place_gets_the_nearest_cells_and_the_others_from_afar() -> None:
    found = interest(View(Box(START, START, END, END)), TREE, ())
    assert len(found.needed) == HELD_MAX
    assert len(found.needed) + len(found.far) == 256
    huge = interest(View(Box(-(1 << 60), -(1 << 60), 1 << 60, 1 << 60)), TREE, ())
    assert huge == found


def test_what_is_no_rectangle_is_a_point() -> None:
    assert len(interest(View(Box(50, 50, -50, -50)), TREE, ()).needed) == 1
    assert len(interest(View(Box(1 << 60, 0, 1 << 61, 1)), TREE, ()).needed) == 1
