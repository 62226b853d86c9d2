"""What is known of a cell from afar: how many things, where, and in which colours.

A page that shows much of a large place at once draws far cells from this, and needs none of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from groupcore.shared.places.cell import Cell, bounds
from groupcore.shared.places.thing import Thing

COLOURS_MAX = 4
"""Most colours that are named, the most frequent first."""
COLOUR_LETTERS_MAX = 32


@dataclass(frozen=True, slots=True)
class CellDigest:
    """`count` things in the rectangle from `left` and `top` to `right` and `bottom`."""

    count: int
    left: int
    top: int
    right: int
    bottom: int
    colours: tuple[str, ...] = ()


def digest_of(cell: Cell) -> CellDigest:
    """What a cell looks like from afar now."""
    found = Counter(filter(None, map(_colour, cell.things.values())))
    often = sorted(found, key=lambda one: (-found[one], one))
    return CellDigest(len(cell.things), *bounds(cell), tuple(often[:COLOURS_MAX]))


def is_news(old: CellDigest | None, count: int) -> bool:
    """Whether it is worth telling: the first things, or a quarter more or fewer than was told."""
    if old is None:
        return count > 0
    return 4 * abs(count - old.count) > max(old.count, 4)


def _colour(thing: Thing) -> str:
    colour = dict(thing.style).get("colour", "")
    return colour[:COLOUR_LETTERS_MAX] if isinstance(colour, str) else ""
