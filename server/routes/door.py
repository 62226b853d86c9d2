"""The socket's door: tickets say who comes, roles say what may be opened."""

from __future__ import annotations

from starlette.websockets import WebSocket

from groupcore.web import Badge
from server.accounts.service import AccountService
from server.documents.names import place_of


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
            return self._service.may_read(principal, place.doc)
        return kind == "Nodes"
