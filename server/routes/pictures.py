"""`/api/v1/documents/{doc}/pictures`: pictures of documents."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from groupcore.objects.parsing import is_identifier
from server.accounts.errors import forbidden
from server.errors import BadMessageError
from server.node import Node
from server.pictures.register import Kept, no_picture
from server.pictures.store import is_hash
from server.routes.access import Access
from server.routes.done import done, ordered

COPY_BYTES_MAX = 1024
COPY_FIELDS = {"from", "picture"}
HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cross-Origin-Resource-Policy": "same-site",
    "X-Content-Type-Options": "nosniff",
}
"""A picture shows itself and can do nothing; pages of the cluster's other nodes may show it."""


class PictureRoutes:
    """The handlers, on one node."""

    def __init__(self, node: Node, access: Access) -> None:
        self.node = node
        self.access = access

    def routes(self) -> list[Route]:
        """Under `/api/v1`."""
        at = "/documents/{doc}/pictures"
        return [
            Route(at, self.add, methods=["POST"]),
            Route(at + "/{picture}", self.read, methods=["GET"]),
        ]

    async def add(self, request: Request) -> Response:
        """Take in the picture that is the body, or, in JSON, one of another document."""
        may_read, may_edit = self.access.reader(request), self.access.editor(request)
        doc = request.path_params["doc"]
        if not may_read(doc) or not is_identifier(doc) or not await ordered(self.node.knows(doc)):
            raise BadMessageError("no_such_document", "there is no document of this id here")
        if not may_edit(doc):
            raise forbidden()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":
            source, name = await self._asked(request)
            if not may_read(source) or not is_hash(name):
                raise no_picture()
            kept = await done(self.node, self.node.pictures.copy(source, doc, name))
        else:
            most = self.node.settings.picture_kib
            data = await _body(request, most * 1024, f"a picture may have {most} KiB")
            name, kept = await self.node.pictures.add(doc, data)
            await done(self.node, _nothing())
        place = f"/api/v1/documents/{doc}/pictures/{name}"
        return JSONResponse(shown(name, kept), 201, {"Location": place})

    async def _asked(self, request: Request) -> tuple[str, str]:
        """From which document, and which picture."""
        raw = await _body(request, COPY_BYTES_MAX, "the body is too long")
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            raise BadMessageError("bad_request", "the body is not JSON") from None
        if not isinstance(body, dict) or set(body) != COPY_FIELDS:
            raise BadMessageError("bad_request", "the body must have the fields from and picture")
        if not all(isinstance(value, str) for value in body.values()):
            raise BadMessageError("bad_request", "from and picture must be texts")
        return body["from"], body["picture"]

    async def read(self, request: Request) -> Response:
        """The picture, for who may read the document."""
        doc, name = request.path_params["doc"], request.path_params["picture"]
        if not self.access.reader(request)(doc):
            raise BadMessageError("no_such_document", "there is no document of this id here")
        kept, data = await self.node.pictures.read(doc, name)
        return Response(data, 200, {**HEADERS, "ETag": f'"{name}"'}, kept.media)


async def _nothing() -> None:
    """What is ordered already, and only has to be saved."""


async def _body(request: Request, most: int, refusal: str) -> bytes:
    """The body, bounded; what it says itself of its length is believed when it is too much."""
    said = request.headers.get("content-length", "")
    body = bytearray()
    if not (said.isdigit() and int(said) > most):
        async for part in request.stream():
            body += part
            if len(body) > most:
                break
        else:
            return bytes(body)
    raise BadMessageError("too_large", refusal)


def shown(name: str, kept: Kept) -> dict[str, object]:
    """What an image block needs to know of a picture."""
    return {
        "picture": name,
        "media": kept.media,
        "width": kept.width,
        "height": kept.height,
        "size_bytes": kept.size_bytes,
    }
