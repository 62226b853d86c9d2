"""The socket's door: tickets say who comes, roles say what may be opened."""

from __future__ import annotations

import asyncio

from starlette.websockets import WebSocket

from groupcore.shared.documents import Document
from groupcore.web import Badge, BadRequestError
from server.accounts.service import AccountService
from server.documents.catalogue import PLACE
from server.documents.entrance import Entrance
from server.documents.names import Place, place_of
from server.errors import BadMessageError
from server.node import Node

LIST_WAIT_S = 2.0
"""How long an open waits for the document's list to be in force in a block."""
POLL_S = 0.01


class Door:
    """The gateway's questions about accounts."""

    def __init__(self, service: AccountService) -> None:
        self._service = service

    async def hello(self, websocket: WebSocket, ticket: str) -> Badge | None:
        """Who comes with this ticket, which is used up."""
        del websocket
        return self._service.by_ticket(ticket) if ticket else None

    def may_open(self, principal: str, kind: str, name: str) -> bool:
        """A document's objects, by its roles; of all others only the nodes' addresses.

        The list of all documents is for nodes: pages have theirs from `/api/v1/documents`.
        """
        place = place_of(name)
        if place is None or place.type != kind:
            return False
        if place.doc:
            try:
                return self._service.may_read(principal, place.doc)
            except BadMessageError as error:
                raise BadRequestError(error.code, error.message) from None
        return kind == "Nodes"

    def is_sure(self) -> bool:
        """Whether this node knows of late enough an order to say who may open what."""
        try:
            return self._service.standing.is_sure()
        except BadMessageError:
            return False


class GuardedEntrance:
    """The gateway's hooks: nobody meets a document's list that is out of date."""

    def __init__(self, entrance: Entrance, node: Node) -> None:
        self._entrance = entrance
        self._node = node

    async def opening(self, principal: str, kind: str, name: str) -> None:
        """As `Entrance.opening`; then the list is the one that the accounts say."""
        await self._entrance.opening(principal, kind, name)
        place = place_of(name)
        if place is None or not place.doc:
            return
        try:
            await self._settle(place)
            if kind in ("DocumentOutline", "PlaceOutline"):
                self._node.files.note_opened(principal, place.doc)
        except BaseException:
            self._entrance.closed(principal, kind, name)
            raise

    def closed(self, principal: str, kind: str, name: str) -> None:
        """As `Entrance.closed`."""
        self._entrance.closed(principal, kind, name)

    async def _settle(self, place: Place) -> None:
        """The list is up to date, and in force in the block or cell."""
        keepers, lists = self._node.keepers, self._node.files.lists
        document, minding = None, None
        if place.kind == PLACE:
            minding = keepers.places.kept.get(place.doc)
        else:
            document = keepers.documents.documents.get(place.doc)
        if document is not None:
            await lists.settle(place.doc, document.outline)
            await self._in_force(document, place.block)
        if minding is not None:
            await lists.settle(place.doc, minding.place.outline)
            if place.block in minding.place.cells:
                await minding.place.carrier.introduce(place.block, minding.place.cells[place.block])

    async def _in_force(self, document: Document, block: str) -> None:
        """The block judges by the outline's list."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + LIST_WAIT_S
        while loop.time() < deadline:
            found = document.blocks.get(block)
            if found is None or found.rights_version >= document.outline.rights_version:
                return
            await asyncio.sleep(POLL_S)
