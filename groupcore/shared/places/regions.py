"""The tree of a place in regions: what somebody needs of it who sees a part, however large it is.

Idea. A region is `LEVELS` levels of the tree below an inner cell, its root: at most 20 cells. Who
sees a part of a place follows the regions that the sight meets, from the whole place down to the
leaves, and knows nothing of the others but what their roots look like from afar. So what is told of
the tree follows sight; with the place grows only how many levels there are.

Invariants.
  R1  Each cell but the whole place is in one region; that one's root is in the region above it.
  R2  Who follows a region follows the one above it: what is known of the tree hangs together.
  R3  At most REGIONS_MAX regions are followed; those nearest to the middle of the sight come first,
      those above before those below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groupcore.shared.places.interest import clipped, scaled
from groupcore.shared.places.squares import ROOT, Box, quarters, square_of

LEVELS = 2
"""So many levels of the tree has a region."""
SEEN_MAX = 48
"""Most regions that are followed for what is in sight."""
REGIONS_MAX = 64
"""Most regions that are followed, with those around the sight."""
AROUND = (2, 1)
"""What lies around a sight is followed, too: it is grown by this about its middle."""


def region_of(path: str) -> str:
    """The root of the region that a cell is in (R1); of the whole place itself: the whole."""
    depth = max(len(path) - 2, 0)
    return path[: 1 + depth - depth % LEVELS]


def is_root(path: str) -> bool:
    """Whether a region begins below this cell, once that is quartered; not the whole place."""
    return path != ROOT and (len(path) - 1) % LEVELS == 0


def roots_above(path: str) -> Iterator[str]:
    """The cells at and above this one below which regions begin, lowest first; not the whole."""
    for size in range(len(path), 0, -1):
        if is_root(path[:size]):
            yield path[:size]


def cells_of(tree: Mapping[str, str], region: str) -> list[str]:
    """The cells of a region, as far as they are of the tree."""
    level, found = [region], []
    for _ in range(LEVELS):
        level = [one for path in level if tree.get(path) == "inner" for one in quarters(path)]
        found += level
    return found


def regions_in(tree: Mapping[str, str], sight: Box) -> frozenset[str]:
    """The regions that somebody follows who sees this (R2, R3), by their roots."""
    seen = _grown(tree, clipped(sight), {ROOT: None}, SEEN_MAX)
    return frozenset(_grown(tree, clipped(scaled(sight, *AROUND)), seen, REGIONS_MAX))


def _grown(
    tree: Mapping[str, str], box: Box, followed: dict[str, None], most: int
) -> dict[str, None]:
    """These regions, and those below them that a rectangle meets, up to so many."""
    found, level = dict(followed), list(followed)
    while level and len(found) < most:
        below = {
            path
            for region in level
            for path in cells_of(tree, region)
            if is_root(path) and tree.get(path) == "inner" and box.meets(square_of(path))
        }
        new = sorted(below - found.keys(), key=lambda path: (_distance(box, path), path))
        level = new[: most - len(found)]
        found.update(dict.fromkeys(level))
    return found


def _distance(box: Box, path: str) -> int:
    """How far a square is from the middle of a rectangle, doubled; 0 where it is in it."""
    square = square_of(path)
    x, y = box.left + box.right, box.top + box.bottom
    across = max(2 * square.left - x, x - 2 * square.right, 0)
    down = max(2 * square.top - y, y - 2 * square.bottom, 0)
    return across + down
