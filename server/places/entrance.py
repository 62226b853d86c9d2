"""What a page's `open` of a place waits for, and what holds places at this node meanwhile.

Idea. As `server.documents.entrance`: between opening and closing the node holds the place that the
object belongs to, and needs the cell that it is. So no page has a cell open that nobody tends, nor
a chat that does not know who may read it.
"""

from __future__ import annotations

import asyncio

from groupcore.gateway.errors import BadRequestError
from groupcore.shared.places.keeper import PlaceKeeper
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.talk import TALK

CELL_WAIT_S = 5.0
"""How long a page that asks for a cell waits until the node knows that cell."""
POLL_S = 0.02


class PlaceEntrance:
    """Holds places for pages."""

    def __init__(self, keeper: PlaceKeeper, wait_s: float = CELL_WAIT_S) -> None:
        self._keeper = keeper
        self._wait_s = wait_s
        self._needing: dict[tuple[str, str], list[Minding]] = {}

    async def opening(self, doc: str, path: str) -> None:
        """Have the place open, and its chat or this cell, if one is named; BadRequestError."""
        minding = await self._keeper.hold(doc)
        try:
            if path == TALK:
                await minding.place.talking.open()
            elif path:
                await self._known(minding, path)
                await minding.need(path)
                self._needing.setdefault((doc, path), []).append(minding)
        except BaseException:
            self._keeper.let_go(doc)
            raise

    def closed(self, doc: str, path: str) -> None:
        """The page has the object no more."""
        if path and path != TALK:
            needing = self._needing[doc, path]
            needing.pop().release(path)
            if not needing:
                del self._needing[doc, path]
        self._keeper.let_go(doc)

    async def _known(self, minding: Minding, path: str) -> None:
        """The tree has the cell; another node may have been told so before this one."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._wait_s
        while path not in minding.place.outline.tree:
            if loop.time() > deadline:
                raise BadRequestError("no_such_cell", f"the place has no cell {path}")
            await asyncio.sleep(POLL_S)
