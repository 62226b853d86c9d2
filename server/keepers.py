"""What a node keeps open of the items of the list: documents, and places."""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.shared.documents.keeper import Keeper
from groupcore.shared.places.keeper import PlaceKeeper
from server.accounts.lists import Outline


class Keepers:
    """Both keepers of a node."""

    def __init__(self, documents: Keeper, places: PlaceKeeper) -> None:
        self.documents = documents
        self.places = places

    @property
    def outlines(self) -> Mapping[str, Outline]:
        """Of what is open here, by id."""
        documents = {doc: one.outline for doc, one in self.documents.documents.items()}
        return {**documents, **self.places.outlines}

    def drop(self, item: str) -> None:
        """The item is no more: it is closed at once, whoever holds it."""
        self.documents.drop(item)
        self.places.drop(item)

    async def close(self) -> None:
        """The node leaves."""
        await self.documents.close()
        await self.places.close()
