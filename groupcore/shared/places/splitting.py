"""Which cells are quartered at once where one is crowded: down to cells that are not.

Idea. A bulk of things mostly lies in a small part of a large cell. Quartering that one level at a
time would hand all of them over at each; so the whole way down is found here, and taken at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from groupcore.shared.places.limits import (
    DEPTH_MAX,
    MERGE_BELOW,
    MERGE_BYTES,
    SPLIT_ABOVE,
    SPLIT_BYTES,
    SPLITS_MAX,
)
from groupcore.shared.places.squares import path_at
from groupcore.shared.places.thing import Thing, size_bytes

Placed = tuple[str, int]
"""A thing as it counts here: the smallest square that it lies in, and its bytes."""


def is_crowded(things: Collection[Thing], above: int = SPLIT_ABOVE) -> bool:
    """Whether a cell has more things, or more bytes of them, than one is to have."""
    return len(things) > above or sum(map(size_bytes, things)) > SPLIT_BYTES


def is_lonely(cells: Sequence[Collection[Thing]], below: int = MERGE_BELOW) -> bool:
    """Whether so little is in these cells together that they are to be one."""
    count = sum(map(len, cells))
    return count < below and sum(size_bytes(one) for some in cells for one in some) < MERGE_BYTES


def splits(path: str, things: Collection[Thing], above: int = SPLIT_ABOVE) -> list[str]:
    """The cells to quarter, from above down, until none is crowded; at most SPLITS_MAX.

    What cannot be parted, because it lies at one spot, is left as it is.
    """
    placed = [(path_at(one.x, one.y, DEPTH_MAX), size_bytes(one)) for one in things]
    return _splits(path, placed, above)[:SPLITS_MAX]


def _splits(path: str, placed: Sequence[Placed], above: int) -> list[str]:
    is_full = len(placed) > above or sum(size for _, size in placed) > SPLIT_BYTES
    if not is_full or len(path) > DEPTH_MAX:
        return []
    quarters: dict[str, list[Placed]] = {}
    for one in placed:
        quarters.setdefault(one[0][: len(path) + 1], []).append(one)
    below = [
        split
        for quarter, some in sorted(quarters.items())
        for split in _splits(quarter, some, above)
    ]
    return [path, *below] if below or len(quarters) > 1 else []
