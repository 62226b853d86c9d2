"""Takes the words of documents that were deleted for good out of the cluster.

Idea. The accounts keep a list of what is doomed. The oldest node takes the documents in turn: it
opens one, whose list lets nobody else in any more, takes out all blocks, which empties their
groups, gives it another title, and takes it out of the catalogue. Only then it is off the list; so
a node that dies in the middle is followed by one that begins again.
"""

from __future__ import annotations

import asyncio

from groupcore.aio import Node as ObjectsNode
from groupcore.shared.documents import Document
from groupcore.shared.documents.handing import DELETED, JOINED
from groupcore.shared.documents.keeper import Keeper
from groupcore.shared.documents.outline import DocumentOutline
from server.accounts.accounts import Accounts
from server.accounts.lists import Lists
from server.accounts.roles import KEEPER
from server.documents.catalogue import Catalogue
from server.files.activity import Activity

TITLE = "deleted"
EMPTIED_S = 10.0
"""So long a node waits for a document's blocks to be empty before it goes on."""
POLL_S = 0.05
STEP = 500
"""So many blocks are taken out in one message."""


class Wiper:
    """At one node."""

    def __init__(
        self,
        objects: ObjectsNode,
        keeper: Keeper,
        catalogue: Catalogue,
        accounts: Accounts,
        activity: Activity,
    ) -> None:
        self._objects = objects
        self._keeper = keeper
        self._catalogue = catalogue
        self._accounts = accounts
        self._activity = activity

    async def wipe(self, doc: str, lists: Lists) -> None:
        """Take everything out of one document that is doomed, and forget it."""
        if doc in self._catalogue:
            async with self._keeper.holding(doc) as document:
                await lists.settle(doc, document)
                await self._empty(doc, document)
            await self._catalogue.pop(doc)
        await self._activity.forget([doc])
        await self._accounts.wiped(doc)

    async def _empty(self, doc: str, document: Document) -> None:
        outline = document.outline
        while blocks := list(outline.order[:STEP]):
            await outline.remove(blocks)
        async with self._objects.session(KEEPER) as session:
            same = await session.open(DocumentOutline, f"doc/{doc}")
            if same.title != TITLE:
                await same.rename(TITLE)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + EMPTIED_S
        while loop.time() < deadline:
            states = [block.status for block in document.blocks.values()]
            if all(state in (DELETED, JOINED) for state in states):
                return
            await asyncio.sleep(POLL_S)
