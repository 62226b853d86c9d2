"""What a page's `open` waits for, and what holds documents and places at this node while pages have
them.

Idea. The gateway asks before a page opens an object, and says when the page has it no more. In
between the node holds the document that the object belongs to. So a page never has a document open
that nobody tends; and it finds a block with its text, as the node opens and plants it before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from groupcore.gateway.errors import BadRequestError
from groupcore.shared.documents import Document
from server.documents.catalogue import PLACE
from server.documents.names import place_of
from server.keepers import Keepers
from server.places.entrance import PlaceEntrance

BLOCK_WAIT_S = 5.0
"""How long a page that asks for a block waits until the node knows that block."""
POLL_S = 0.02

Knows = Callable[[str, str], Awaitable[bool]]


class Entrance:
    """The gateway's hooks; `knows` says whether there is a document or place of an id."""

    def __init__(self, keepers: Keepers, knows: Knows, wait_s: float = BLOCK_WAIT_S) -> None:
        self._keeper = keepers.documents
        self._places = PlaceEntrance(keepers.places)
        self._knows = knows
        self._wait_s = wait_s

    async def opening(self, principal: str, kind: str, name: str) -> None:
        """Have what the object belongs to open here; BadRequestError says why it may not be."""
        del principal  # access lists are the objects' own
        place = place_of(name)
        if place is None or place.type != kind:
            raise BadRequestError("no_such_object", f"no {kind} is called {name!r}")
        if not place.doc:
            return
        if not await self._knows(place.doc, place.kind):
            missing = f"there is no {place.kind} {place.doc}"
            raise BadRequestError(f"no_such_{place.kind}", missing)
        if place.kind == PLACE:
            await self._places.opening(place.doc, place.block)
            return
        document = await self._keeper.hold(place.doc)
        try:
            if place.block:
                await self._have_block(document, place.block)
        except BaseException:
            self._keeper.let_go(place.doc)
            raise

    def closed(self, principal: str, kind: str, name: str) -> None:
        """The page has the object no more."""
        del principal, kind
        place = place_of(name)
        if place is None or not place.doc:
            return
        if place.kind == PLACE:
            self._places.closed(place.doc, place.block)
        else:
            self._keeper.let_go(place.doc)

    async def _have_block(self, document: Document, block: str) -> None:
        """The block's text is in its group, not in the outline any more, and this node tends it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._wait_s
        while not is_known(document, block):
            if loop.time() > deadline:
                raise BadRequestError("no_such_block", f"there is no block {block}")
            await asyncio.sleep(POLL_S)
        if block in document.outline.seeds:
            await document.block(block)
        elif block not in document.blocks:  # one that is gone: what is written there is for others
            await document.group(block)


def is_known(document: Document, block: str) -> bool:
    """Whether the document has, had, or is about to have such a block."""
    outline = document.outline
    if block in outline.entries or block in outline.gone or block in document.blocks:
        return True
    return any(block in open_block.owes for open_block in document.blocks.values())
