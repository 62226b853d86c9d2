"""Which cells somebody needs who sees a part of a place: pure functions of view, tree and motion.

Idea. A cell that a view meets is needed. One that is held is kept until the view has gone away from
it by more than a margin, so who walks to and fro along a border does not join and leave. Who moves
is given the cells in front before the view meets them. A view that meets more than it may hold
gets the nearest cells, and the others as digests.

Invariants.
  I1  Every leaf that the view meets is needed, up to `HELD_MAX` of them, the nearest first. An
      inner cell below which nothing is known is far.
  I2  What is held stays needed while the view, grown by `OUT`, meets it; nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from groupcore.shared.places.limits import END, START
from groupcore.shared.places.squares import Box, leaves_in, square_of

OUT = (13, 10)
"""A cell is kept until the view, grown by this about its centre, does not meet it any more."""
AHEAD = (1, 2)
"""So much of the view's size in front of somebody who moves is needed, too."""
HELD_MAX = 64
"""Most cells that one session holds."""


@dataclass(frozen=True, slots=True)
class View:
    """What somebody sees, and how it moves: `dx`, `dy` since the last look."""

    box: Box
    dx: int = 0
    dy: int = 0


@dataclass(frozen=True, slots=True)
class Interest:
    """`needed`: cells to hold, nearest first; `far`: cells to show from their digests."""

    needed: tuple[str, ...]
    far: tuple[str, ...] = ()


def interest(view: View, tree: Mapping[str, str], held: Collection[str]) -> Interest:
    """What somebody needs who sees this, and holds these cells (I1, I2)."""
    box = clipped(view.box)
    met = sorted(leaves_in(tree, box), key=lambda path: (_distance(box, path), path))
    ahead = leaves_in(tree, moved_ahead(view))
    grown = clipped(scaled(view.box, *OUT))
    kept = [path for path in leaves_in(tree, grown) if path in held]
    wanted = dict.fromkeys((*met, *sorted(kept), *sorted(ahead)))
    needed = tuple([path for path in wanted if tree.get(path) != "inner"][:HELD_MAX])
    return Interest(needed, tuple(path for path in met if path not in needed))


def clipped(box: Box) -> Box:
    """The part of a rectangle that is in the place; what is not a rectangle is one point."""
    left = min(max(box.left, START), END - 1)
    top = min(max(box.top, START), END - 1)
    return Box(left, top, max(min(box.right, END), left + 1), max(min(box.bottom, END), top + 1))


def scaled(box: Box, times: int, parts: int) -> Box:
    """The rectangle grown about its centre, to `times` / `parts` of its size, rounded outwards."""
    across = -(-(box.right - box.left) * (times - parts) // (2 * parts))
    down = -(-(box.bottom - box.top) * (times - parts) // (2 * parts))
    return Box(box.left - across, box.top - down, box.right + across, box.bottom + down)


def moved_ahead(view: View) -> Box:
    """The rectangle half a view in front of somebody who moves; the view of who stands still."""
    left, top, right, bottom = view.box
    across = (right - left) * AHEAD[0] // AHEAD[1] * _sign(view.dx)
    down = (bottom - top) * AHEAD[0] // AHEAD[1] * _sign(view.dy)
    return clipped(Box(left + across, top + down, right + across, bottom + down))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _distance(box: Box, path: str) -> int:
    """How far the middle of a view is from that of a cell, in both directions together, doubled."""
    square = square_of(path)
    across = box.left + box.right - square.left - square.right
    down = box.top + box.bottom - square.top - square.bottom
    return abs(across) + abs(down)
