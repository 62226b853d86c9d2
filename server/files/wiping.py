"""Takes what was deleted for good out of the cluster: documents' words, and the groups of documents
and places.

Idea. The accounts keep a list of what is doomed. The oldest node takes the documents in turn: it
opens one, whose list lets nobody else in any more, takes out all blocks, which empties their
groups, gives it another title, and takes it out of the catalogue; whoever has it open closes it
then. Then it deletes the groups, in the order: a session that is still there is told so, and what
it sends is refused. Only then the documents are off the list; so a node that dies in the middle is
followed by one that begins again. What is in the files of the nodes each of them erases then
(`server.files.eraser`).

A node that has not heard of all this yet may open such a document by its name, and make its groups
anew: empty ones, which are deleted some time later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence, Set

from groupcore.aio import Node as ObjectsNode
from groupcore.errors import GroupRefusedError
from groupcore.shared.documents import Document
from groupcore.shared.documents.handing import DELETED, JOINED
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.places import PlaceOutline
from server.accounts.accounts import Accounts
from server.accounts.lists import Lists
from server.accounts.roles import KEEPER
from server.documents.catalogue import PLACE, Catalogue
from server.files.activity import Activity
from server.files.erasures import Erasures
from server.keepers import Keepers
from server.pictures.register import Pictures

TITLE = "deleted"
EMPTIED_S = 10.0
"""So long a node waits for a document's blocks to be empty before it goes on."""
POLL_S = 0.05
AT_ONCE = 200
"""So many groups are being deleted at a time."""
STEP = 500
"""So many blocks are taken out in one message."""


class Wiper:
    """At one node; `nodes` are all that have files in which something of a document may be."""

    def __init__(
        self,
        objects: ObjectsNode,
        keepers: Keepers,
        catalogue: Catalogue,
        accounts: Accounts,
        activity: Activity,
        pictures: Pictures,
        erasures: Erasures,
        nodes: Callable[[], list[str]],
    ) -> None:
        self._objects = objects
        self._keepers = keepers
        self._catalogue = catalogue
        self._accounts = accounts
        self._activity = activity
        self._pictures = pictures
        self._erasures = erasures
        self._nodes = nodes

    async def wipe(self, docs: Sequence[str], lists: Lists) -> None:
        """Take everything out of documents that are doomed, delete their groups, and forget them.

        GroupcoreError when that is to be tried again.
        """
        for doc in docs:
            if doc in self._catalogue:
                await self._take_out(doc, lists)
                await self._catalogue.pop(doc)
        await self._delete_groups(set(docs))
        await self._activity.forget(list(docs))
        await self._pictures.forget(list(docs))
        await self._erasures.begin(list(docs), self._nodes())
        for doc in docs:
            await self._accounts.wiped(doc)

    async def _take_out(self, doc: str, lists: Lists) -> None:
        """Let nobody in, and take out what can be taken out while others have it open."""
        if self._catalogue.kind_of(doc) == PLACE:
            async with self._keepers.places.holding(doc) as minding:
                await lists.settle(doc, minding.place.outline)
                await self._rename(PlaceOutline, f"place/{doc}")
            return
        async with self._keepers.documents.holding(doc) as document:
            await lists.settle(doc, document.outline)
            await self._empty(doc, document)

    async def _rename(self, kind: type[DocumentOutline] | type[PlaceOutline], name: str) -> None:
        async with self._objects.session(KEEPER) as session:
            same = await session.open(kind, name)
            if same.title != TITLE:
                await same.rename(TITLE)

    async def delete_stragglers(self) -> None:
        """Delete groups of documents that were deleted before; GroupcoreError as for `wipe`."""
        gone = self._accounts.gone.keys() - set(self._catalogue)
        await self._delete_groups(gone)

    async def _delete_groups(self, docs: Set[str]) -> None:
        """Outlines, blocks and presences of these documents, some at a time."""
        groups = self._objects.groups
        doomed = [group for name, group in groups.names.items() if document_of(name) in docs]
        for start in range(0, len(doomed), AT_ONCE):
            deleting = [groups.delete(group) for group in doomed[start : start + AT_ONCE]]
            for error in await asyncio.gather(*deleting, return_exceptions=True):
                if isinstance(error, GroupRefusedError) and error.code == "unknown_group":
                    continue  # another node has deleted it
                if isinstance(error, BaseException):
                    raise error

    async def _empty(self, doc: str, document: Document) -> None:
        outline = document.outline
        while blocks := list(outline.order[:STEP]):
            await outline.remove(blocks)
        await self._rename(DocumentOutline, f"doc/{doc}")
        loop = asyncio.get_running_loop()
        deadline = loop.time() + EMPTIED_S
        while loop.time() < deadline:
            states = [block.status for block in document.blocks.values()]
            if all(state in (DELETED, JOINED) for state in states):
                return
            await asyncio.sleep(POLL_S)


def document_of(name: str) -> str:
    """The document or place that a group belongs to, by the group's name; empty: to none."""
    kind, _, rest = name.partition("/")
    return rest.partition("/")[0] if kind in ("doc", "place") else ""
