"""Roles become the access lists of documents and places.

Idea. The accounts say what list a document is to have, the document's outline has one, and whoever
has the document open makes the second like the first, as nobody in particular. Nothing has to be
remembered: where a node died in the middle, the next one that opens the document, or has it open,
compares again. A list carries the number of the change of roles that it is from, and an outline
takes none that is older than its own, so it does not matter who comes first, or twice.

A document that nobody has open keeps its old list until it is opened: then, before a page is let
in, it gets the new one.

Invariants.
  L1  No page is let in to a document whose list is not the one that this node's accounts say.
  L2  An older list never follows a newer one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine, Mapping
from typing import Protocol, TypeAlias

from groupcore.errors import GroupcoreError
from groupcore.shared.access import EVERYBODY, Right
from groupcore.shared.documents import DocumentOutline
from groupcore.shared.documents.parts import node_of
from groupcore.shared.pending import Pending
from groupcore.shared.places import PlaceOutline

logger = logging.getLogger("server")

VERSION_FLOOR = 1 << 32
"""Above whatever a list has counted that people managed themselves, before there were accounts."""
OTHERS_S = 0.3
"""So long the others leave it to the one who tends the document longest."""
RETRY_S = 0.5


Outline: TypeAlias = DocumentOutline | PlaceOutline
"""What has the access list of a document or place; its blocks or cells follow it."""


class Shelf(Protocol):
    """The documents and places that are open at the node."""

    @property
    def outlines(self) -> Mapping[str, Outline]:
        """By id."""


class Rules(Protocol):
    """What the lists follow: the accounts, or what stands for them where there are none."""

    @property
    def rights_number(self) -> int:
        """Counts the changes."""

    def rights(self, document: str) -> dict[str, Right]:
        """The list that the document is to have."""

    def refresh(self) -> Pending[None]:
        """Wait until this node knows what was ordered before."""


def fits(wanted: Mapping[str, Right], listed: Mapping[str, Right]) -> bool:
    """Whether a document has this list; one that has none is everybody's."""
    if not listed and wanted.get(EVERYBODY) is Right.WRITE:
        return True
    return wanted == listed


def _first_of(outline: Outline) -> str:
    """The node that has tended it the longest."""
    nodes = outline.tenders if isinstance(outline, DocumentOutline) else outline.keepers
    return next(iter(nodes), "")


class Lists:
    """Keeps the lists of this node's documents as the accounts want them."""

    def __init__(self, accounts: Rules, shelf: Shelf) -> None:
        self._accounts = accounts
        self._shelf = shelf
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def settle(self, doc: str, outline: Outline) -> None:
        """Bring the document's list up to date; back when it is, as this node sees it (L1)."""
        while not fits(wanted := self._accounts.rights(doc), outline.rights):
            number = VERSION_FLOOR + self._accounts.rights_number
            if outline.rights_version >= number:  # another node knows more: its news come here, too
                await self._accounts.refresh()
                await outline.refresh()
                if VERSION_FLOOR + self._accounts.rights_number == number:
                    number = outline.rights_version + 1  # the same number, and yet another list
                else:
                    continue
            await outline.entitle(number, wanted)

    def changed(self, documents: Collection[str] = ()) -> None:
        """The roles for these documents have changed; for all, if none is named."""
        for doc, outline in self._shelf.outlines.items():
            if not documents or doc in documents:
                self._begin(doc, self._follow(doc, outline))

    def _begin(self, doc: str, work: Coroutine[object, object, None]) -> None:
        former = self._tasks.get(doc)
        if former is not None:
            former.cancel()
        task = self._tasks[doc] = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda done: self._forget(doc, done))

    def _forget(self, doc: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(doc) is task:
            del self._tasks[doc]

    async def _follow(self, doc: str, outline: Outline) -> None:
        if _first_of(outline) != node_of(outline.process):
            await asyncio.sleep(OTHERS_S)
        while self._shelf.outlines.get(doc) is outline:
            try:
                await self.settle(doc, outline)
            except GroupcoreError as error:
                logger.debug("the list of %s is not up to date: %s", doc, error)
                await asyncio.sleep(RETRY_S)
            else:
                return

    async def close(self) -> None:
        """Stop; whoever has the documents open goes on."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
