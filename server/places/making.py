"""Making a place: its things, its title, and at last its place in the list.

The things' ids follow from the template, so an attempt that was broken off is brought to its end by
the next one with the same id, on any node, and nothing is there twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.shared.places import PlaceOutline, Thing
from groupcore.shared.places.keeper import PlaceKeeper
from groupcore.shared.places.refusals import ThingExistsError
from groupcore.shared.places.squares import ROOT
from server.documents.catalogue import Catalogue, TooManyDocumentsError
from server.documents.making import Settle


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
            if things:
                async with minding.needing([ROOT]) as cells:
                    missing = [one for one in things if one.id not in cells[ROOT].things]
                    try:
                        await cells[ROOT].put(missing)
                    except ThingExistsError:  # somebody else makes the same place
                        await cells[ROOT].refresh()
            await outline.rename(title)
        await settle(doc, outline)
        return await catalogue.add_place(doc, title, documents_max)
