"""`/api/v1/documents/{doc}/pictures`, `/places/…`: pictures of documents and places."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from server.accounts.errors import forbidden
from server.documents.catalogue import DOCUMENT
from server.errors import BadMessageError
from server.node import Node
from server.pictures.naming import is_hash
from server.pictures.register import NO_PICTURE, Kept
from server.routes.access import Access
from server.routes.asks import Ask, Field, Row
from server.routes.done import done
from server.routes.there import PLACE_THERE, THERE, check_there

MEDIA = ("image/png", "image/jpeg", "image/gif", "image/webp")
COPY = (
    Field("from", text="the document or place that it is in", max=64),
    Field("picture", text="its hash", max=64),
)
SHOWN = {
    "picture": "its hash",
    "media": "its type",
    "width": "in pixels",
    "height": "in pixels",
    "size_bytes": "of the file",
}
HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}
"""A picture shows itself and can do nothing.

Pages of the cluster's other nodes may show it, which have other origins and, called by numbers,
other sites; a foreign page has neither the address nor, as the cookie is Lax, the sign-in.
"""


class PictureRoutes:
    """The handlers, on one node, for items of one kind."""

    def __init__(self, node: Node, access: Access, kind: str = DOCUMENT) -> None:
        self.node = node
        self.access = access
        self.kind = kind

    def rows(self) -> list[Row]:
        """The routes."""
        kind, at = self.kind, f"/{self.kind}s/{{doc}}/pictures"
        there = THERE if kind == DOCUMENT else PLACE_THERE
        return [
            Row(
                "POST",
                at,
                self.add,
                "documents:write",
                f"Put a picture into a {kind}: a file, or one of another document or place",
                201,
                COPY,
                SHOWN,
                (*there, "unknown_picture", "not_a_picture", "bad_picture", "no_room"),
                takes=MEDIA,
                limit=lambda settings: settings.picture_kib,
                noun="the picture",
            ),
            Row(
                "GET",
                at + "/{picture}",
                self.read,
                "documents:read",
                f"A picture of a {kind}",
                errors=(*there, NO_PICTURE),
                gives=MEDIA,
            ),
        ]

    async def add(self, ask: Ask) -> Response:
        """Take in the picture that is the body, or, in JSON, one of another document."""
        doc, may_read = ask.path("doc"), self.access.reader(ask)
        await check_there(self.node, may_read, doc, self.kind)
        if not self.access.editor(ask)(doc):
            raise forbidden()
        if ask.body:
            source, name = ask.text("from"), ask.text("picture")
            if not may_read(source) or not is_hash(name):
                raise unknown_picture()
            try:
                kept = await done(self.node, self.node.pictures.copy(source, doc, name))
            except BadMessageError as error:
                raise unknown_picture() if error.code == NO_PICTURE else error from None
        else:
            name, kept = await self.node.pictures.add(doc, ask.raw, ask.asker)
            await done(self.node, _nothing())
        place = f"/api/v1/{self.kind}s/{doc}/pictures/{name}"
        return JSONResponse(shown(name, kept), 201, {"Location": place})

    async def read(self, ask: Ask) -> Response:
        """The picture, for who may read the document."""
        doc, name = ask.path("doc"), ask.path("picture")
        await check_there(self.node, self.access.reader(ask), doc, self.kind)
        kept, data = await self.node.pictures.read(doc, name)
        return Response(data, 200, {**HEADERS, "ETag": f'"{name}"'}, kept.media)


def unknown_picture() -> BadMessageError:
    """What is to be copied is not there, unlike what the address names."""
    return BadMessageError("unknown_picture", "there is no such picture in the document named")


async def _nothing() -> None:
    """What is ordered already, and only has to be saved."""


def shown(name: str, kept: Kept) -> dict[str, object]:
    """What an image block needs to know of a picture."""
    return {
        "picture": name,
        "media": kept.media,
        "width": kept.width,
        "height": kept.height,
        "size_bytes": kept.size_bytes,
    }
