"""Making a place: its things, its title, and at last its place in the list.

The things' ids follow from the template, or from the place that it is a copy of. So an attempt that
was broken off is brought to its end by the next one with the same id, on any node, and nothing is
there twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from groupcore.shared.places import Cell, PlaceOutline, Thing
from groupcore.shared.places.handover import portions
from groupcore.shared.places.keeper import PlaceKeeper
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.refusals import NotHereError, ThingExistsError
from server.documents.catalogue import Catalogue, TooManyDocumentsError
from server.documents.making import Settle
from server.places.reading import ATTEMPTS, RETRY_S, moves_too_fast


async def make_place(
    keeper: PlaceKeeper,
    catalogue: Catalogue,
    doc: str,
    title: str,
    things: Sequence[Thing],
    documents_max: int,
    settle: Settle,
) -> bool:
    """Make the place of this id, unless it is there already; whether it was made.

    `settle` gives it its access list, once it is whole. Raises TooManyDocumentsError,
    TooLargeError, BadChangeError: then it is not in the list.
    """
    if doc in catalogue:
        return False
    if len(catalogue) >= documents_max:
        raise TooManyDocumentsError(f"there may be {documents_max} documents and places at most")
    async with keeper.reading(doc) as minding:
        outline: PlaceOutline = minding.place.outline
        if not outline.rights:  # else it is whole: somebody's since an attempt before
            await _fill(minding, things)
            await outline.rename(title)
        await settle(doc, outline)
        return await catalogue.add_place(doc, title, documents_max)


async def _fill(minding: Minding, things: Sequence[Thing]) -> None:
    """Put things where they lie; cells are quartered meanwhile, and an attempt before put some."""
    left = list(things)
    for _ in range(ATTEMPTS):
        by_cell: dict[str, list[Thing]] = {}
        for thing in left:
            by_cell.setdefault(minding.place.leaf(thing.x, thing.y), []).append(thing)
        left = []
        for path, some in by_cell.items():
            async with minding.needing([path]) as cells:
                for run in portions(some):
                    left += await _put(cells[path], run)
        if not left:
            return
        await asyncio.sleep(RETRY_S)
        await minding.place.outline.refresh()
    raise moves_too_fast()


async def _put(cell: Cell, things: Sequence[Thing]) -> list[Thing]:
    """Put those that are not there; gives those that belong elsewhere."""
    try:
        await cell.put(list(things))
    except NotHereError:
        return list(things)
    except ThingExistsError:
        # An attempt before has put it, or somebody who makes the same place.
        if len(things) > 1:
            return [left for one in things for left in await _put(cell, [one])]
    return []
