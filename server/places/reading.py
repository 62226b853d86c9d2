"""Reading a place as a whole: all of its things at one place of the order."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack

from groupcore.shared.places import Thing
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.shown import seen
from server.errors import BadMessageError
from server.pictures.naming import is_hash

ATTEMPTS = 60
"""So often what has moved meanwhile is looked for again."""
RETRY_S = 0.05
"""In between: what a cell owes waits for disks."""
AT_ONCE = 50
"""So many cells are opened at a time."""
CELLS_MAX = 1_024
"""In a place of more cells things are not looked for, and it is not read as a whole."""
ALL_CELLS = 1 << 30
PICTURE = "picture"
"""The kind of a thing that shows a picture, and the property with the picture's hash."""


def tree_of(minding: Minding, cells_max: int = CELLS_MAX) -> list[str]:
    """All cells of a place; BadMessageError `too_large`."""
    tree = list(minding.place.outline.tree)
    if len(tree) > cells_max:
        raise BadMessageError("too_large", f"the place has more than {cells_max} cells")
    return tree


async def whole(minding: Minding, cells_max: int = CELLS_MAX) -> list[Thing]:
    """All things of a place at one place of its order, by id; BadMessageError `busy`, `too_large`.

    What a node has between two events is a cut: so all cells are looked at in one turn.
    """
    async with AsyncExitStack() as held:
        for _ in range(ATTEMPTS):
            missing = [one for one in tree_of(minding, cells_max) if one not in minding.place.cells]
            if not missing:
                return sorted((one for _, one in seen(minding.place.cells)), key=lambda one: one.id)
            for start in range(0, len(missing), AT_ONCE):
                some = missing[start : start + AT_ONCE]
                await held.enter_async_context(minding.needing(some))
    raise moves_too_fast()


def moves_too_fast() -> BadMessageError:
    """What is looked for is somewhere else each time."""
    return BadMessageError("busy", "the place changes too fast; try again")


def named_in(things: Iterable[Thing]) -> set[str]:
    """The pictures that things of a place name."""
    values = (dict(thing.props).get(PICTURE) for thing in things if thing.kind == PICTURE)
    return {value for value in values if isinstance(value, str) and is_hash(value)}
