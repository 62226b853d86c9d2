"""`/api/v1/places/ID/talk`: the chat of a place over HTTP."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from groupcore.shared.errors import ForbiddenError
from server.accounts.errors import forbidden
from server.documents.catalogue import PLACE
from server.errors import BadMessageError
from server.node import Node
from server.places.talk import shown, take_away, talk_of
from server.routes.access import Access
from server.routes.asks import Ask, Row
from server.routes.done import done, reached
from server.routes.shown import Shown
from server.routes.there import PLACE_THERE, check_there


class PlaceTalkRoutes:
    """The handlers, on one node."""

    def __init__(self, node: Node, access: Access) -> None:
        self.node = node
        self.access = access

    def rows(self) -> list[Row]:
        """The routes."""
        at = "/places/{doc}/talk"
        return [
            Row(
                "GET",
                at,
                self.read,
                "documents:read",
                "What was said in its chat, oldest first",
                shows={"remarks": "`id`, `author`, `by`, `at`, `text` of each"},
                errors=PLACE_THERE,
            ),
            Row(
                "DELETE",
                f"{at}/{{remark}}",
                self.take_away,
                "documents:write",
                "Take a remark back, or away",
                204,
                errors=(*PLACE_THERE, "trashed", "not_yours"),
            ),
        ]

    async def read(self, ask: Ask) -> Response:
        """All remarks, with the names that their authors have now."""
        doc, may_read = ask.path("doc"), self.access.reader(ask)
        await check_there(self.node, may_read, doc, PLACE)
        remarks = await reached(self._remarks(doc))
        if not may_read(doc):  # not any more
            raise BadMessageError("no_such_place", "there is no place of this id here")
        return JSONResponse({"remarks": remarks})

    async def _remarks(self, doc: str) -> list[Shown]:
        async with self.node.keepers.places.reading(doc) as minding:
            talk = await talk_of(minding)
            return [shown(self.node.files.accounts, one) for one in talk.remarks.values()]

    async def take_away(self, ask: Ask) -> Response:
        """One's own is taken back; who owns the place takes away any."""
        doc = ask.path("doc")
        await check_there(self.node, self.access.reader(ask), doc, PLACE)
        if self.node.files.accounts.buried(doc) is not None:
            raise BadMessageError("trashed", "this is in the trash; restore it first")
        if not self.access.editor(ask)(doc):
            raise forbidden()
        manages = self.access.owner(ask)(doc)
        try:
            await done(self.node, take_away(self.node, doc, ask.path("remark"), ask.by, manages))
        except ForbiddenError:
            raise forbidden() from None
        return Response(status_code=204)
