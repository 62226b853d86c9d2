"""The squares of a place: paths of a quadtree, and which square a point lies in.

The whole place is `r`; the four quarters of a square have its path and a digit: 0 has the smaller
x and y, 1 the larger x, 2 the larger y, 3 both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from groupcore.shared.places.limits import DEPTH_MAX, END, SIDE, START

ROOT = "r"


class Box(NamedTuple):
    """A rectangle: from `left` and `top` up to, and without, `right` and `bottom`."""

    left: int
    top: int
    right: int
    bottom: int

    def meets(self, other: Box) -> bool:
        """Whether the two have a point in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


WHOLE = Box(START, START, END, END)


def is_path(path: str) -> bool:
    """Whether there can be a cell of this path."""
    is_short = 1 <= len(path) <= 1 + DEPTH_MAX
    return is_short and path[0] == ROOT and all(digit in "0123" for digit in path[1:])


def square_of(path: str) -> Box:
    """The square of a path."""
    left, top, side = START, START, SIDE
    for digit in path[1:]:
        side //= 2
        left += side * (digit in "13")
        top += side * (digit in "23")
    return Box(left, top, left + side, top + side)


def contains(path: str, x: int, y: int) -> bool:
    """Whether the point lies in the square."""
    left, top, right, bottom = square_of(path)
    return left <= x < right and top <= y < bottom


def path_at(x: int, y: int, depth: int) -> str:
    """The path of the square that the point lies in, quartered `depth` times."""
    left, top, side, path = START, START, SIDE, ROOT
    for _ in range(depth):
        side //= 2
        right, low = x >= left + side, y >= top + side
        path += str(right + 2 * low)
        left += side * right
        top += side * low
    return path


def quarters(path: str) -> tuple[str, str, str, str]:
    """The four quarters of a square."""
    return (path + "0", path + "1", path + "2", path + "3")


def parent_of(path: str) -> str:
    """The square that this is a quarter of; the whole place is its own."""
    return path[:-1] if len(path) > 1 else path


def is_divided(tree: Mapping[str, str], path: str) -> bool:
    """Whether a cell is quartered, and its quarters are known: pages know not all of a tree."""
    return tree.get(path) == "inner" and path + "0" in tree


def leaf_at(tree: Mapping[str, str], x: int, y: int) -> str:
    """The cell furthest down in which the point lies, as far as the tree is known.

    That is a leaf, or an inner cell.
    """
    path = path_at(x, y, DEPTH_MAX)
    size = 1
    while size < len(path) and is_divided(tree, path[:size]):
        size += 1
    return path[:size]


def inner_below(tree: Mapping[str, str], path: str, most: int) -> list[str]:
    """The inner cells below this one, upper ones first, at most so many."""
    found: list[str] = []
    level = [path]
    while level and len(found) < most:
        level = [one for above in level for one in quarters(above) if tree.get(one) == "inner"]
        found += level
    return found[:most]


def leaves_in(tree: Mapping[str, str], box: Box) -> list[str]:
    """The leaves that a rectangle meets, and inner cells below which nothing is known, larger ones
    first.
    """
    found: list[str] = []
    level = [ROOT]
    while level:
        met = [path for path in level if box.meets(square_of(path))]
        found += [path for path in met if not is_divided(tree, path)]
        level = [one for path in met if is_divided(tree, path) for one in quarters(path)]
    return found


def box_around(points: Iterable[tuple[int, int]]) -> Box:
    """The smallest rectangle that has all of these points; an empty one at the origin for none."""
    some = list(points)
    if not some:
        return Box(0, 0, 0, 0)
    across, down = [x for x, _ in some], [y for _, y in some]
    return Box(min(across), min(down), max(across) + 1, max(down) + 1)
