"""`/api/v1`: documents over HTTP."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server.errors import BadMessageError
from server.frames import Json
from server.limits import TITLE_MAX
from server.markdown import clean_title, export_markdown, import_markdown
from server.node import Node
from server.operations import Block, Create, text
from server.replica import Entry, new_document_problem
from server.routes.origins import origin_allowed

EMPTY_DOCUMENT: list[Block] = [("first", {"kind": "paragraph"}, "")]
"""A new document has one empty paragraph, so that whoever comes first types into the same."""
DELIVERY_S = 10.0
"""How long a creation waits for its place in the order."""

SAVED_S = 5.0
"""How long it then waits to be saved."""


class DocumentRoutes:
    """The handlers, on one node."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def routes(self) -> list[Route]:
        """Under `/api/v1`."""
        return [
            Route("/documents", self.list_documents, methods=["GET"]),
            Route("/documents", self.create, methods=["POST"]),
            Route("/documents/import", self.import_document, methods=["POST"]),
            Route("/documents/{doc}", self.read, methods=["GET"]),
            Route("/documents/{doc}/markdown", self.export, methods=["GET"]),
            Route("/nodes", self.nodes, methods=["GET"]),
        ]

    async def list_documents(self, _: Request) -> Response:
        """All documents, ordered by title."""
        rows = [
            {
                "id": doc,
                "title": entry.document.title,
                "epoch": entry.document.epoch,
                "version": entry.document.version,
                "blocks": len(entry.document),
            }
            for doc, entry in self.node.replica.documents.items()
        ]
        rows.sort(key=lambda row: (str(row["title"]).casefold(), str(row["id"])))
        return JSONResponse({"documents": rows})

    async def create(self, request: Request) -> Response:
        """A new document, empty or from Markdown."""
        try:
            body = json.loads(await self._body(request))
        except (ValueError, RecursionError):
            raise BadMessageError("bad_request", "the body is not JSON") from None
        if not isinstance(body, dict):
            raise BadMessageError("bad_request", "the body must be a JSON object")
        title, markdown = body.get("title"), body.get("markdown", "")
        if not isinstance(markdown, str):
            raise BadMessageError("bad_request", "markdown must be a string")
        if unknown := sorted(set(body) - {"title", "markdown"}):
            raise BadMessageError("bad_request", f"unknown field {unknown[0][:40]!r}")
        blocks = import_markdown(markdown, text(title, TITLE_MAX)).blocks or EMPTY_DOCUMENT
        return await self._create(request, str(title), blocks)

    async def import_document(self, request: Request) -> Response:
        """A new document from a Markdown body."""
        try:
            source = (await self._body(request)).decode("utf-8")
        except UnicodeDecodeError:
            raise BadMessageError("bad_request", "the body is not UTF-8 text") from None
        given = request.query_params.get("title", "")
        imported = import_markdown(source, clean_title(given) if given else "")
        return await self._create(request, imported.title, imported.blocks or EMPTY_DOCUMENT)

    async def _body(self, request: Request) -> bytes:
        """The body, bounded; writes from foreign pages are refused."""
        settings = self.node.settings
        if not origin_allowed(request, settings, self.node.neighbours.urls.values()):
            raise BadMessageError("forbidden_origin", "this page may not write here")
        most = settings.import_kib * 1024
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > most:
                raise BadMessageError("too_large", f"the body is over {settings.import_kib} KiB")
        return bytes(body)

    async def _create(self, request: Request, title: str, blocks: list[Block]) -> Response:
        node = self.node
        key = request.headers.get("idempotency-key", "")
        create = Create(document_id(node.settings.cluster, key), title, blocks, key[:200])
        documents = node.replica.documents
        if create.doc not in documents:
            if len(documents) >= node.settings.documents_max:
                raise BadMessageError("too_many_documents", "no more documents are taken here")
            if (wrong := new_document_problem(create)) is not None:
                raise wrong
            node.submit(create)
            if not await node.waiters.until(
                lambda: create.doc in node.replica.documents, DELIVERY_S
            ):
                raise BadMessageError("not_primary", "the cluster takes no changes now; try again")
        entry = node.replica.documents[create.doc]
        place = entry.position
        await node.waiters.until(lambda: node.order.saved_position >= place, SAVED_S)
        body = {
            "id": create.doc,
            "title": entry.document.title,
            "epoch": entry.document.epoch,
            "version": entry.document.version,
        }
        return JSONResponse(body, 201, {"Location": f"/api/v1/documents/{create.doc}"})

    async def _delivered(self, doc: str) -> bool:
        here = self.node
        return await here.waiters.until(lambda: doc in here.replica.documents, DELIVERY_S)

    async def read(self, request: Request) -> Response:
        """The present state of this node's replica."""
        doc, entry = self._entry(request)
        blocks: list[Json] = []
        for block_id, attributes, content in entry.document.blocks():
            kept = cast("dict[str, Json]", attributes)
            blocks.append({"id": block_id, **kept, "text": content})
        return JSONResponse(
            {
                "id": doc,
                "title": entry.document.title,
                "epoch": entry.document.epoch,
                "version": entry.document.version,
                "saved": self.node.order.saved.version(doc),
                "blocks": blocks,
            }
        )

    async def export(self, request: Request) -> Response:
        """The document as Markdown."""
        doc, entry = self._entry(request)
        blocks = [
            (block_id, cast("dict[str, Json]", attributes), content)
            for block_id, attributes, content in entry.document.blocks()
        ]
        source = export_markdown(entry.document.title, blocks)
        headers = {"Content-Disposition": f'attachment; filename="{doc}.md"'}
        return Response(source, 200, headers, "text/markdown; charset=utf-8")

    def _entry(self, request: Request) -> tuple[str, Entry]:
        doc = request.path_params["doc"]
        entry = self.node.replica.documents.get(doc)
        if entry is None:
            raise BadMessageError("no_such_document", "there is no document of this id here")
        return doc, entry

    async def nodes(self, _: Request) -> Response:
        """The members of the view with their public addresses, this one first."""
        node = self.node
        me = node.settings.node_id
        names = node.view.names if node.view is not None else (me,)
        known = [name for name in names if name in node.neighbours.urls and name != me]
        rows = [{"id": name, "url": node.neighbours.urls[name]} for name in [me, *known]]
        return JSONResponse({"nodes": rows})


def document_id(cluster: str, key: str) -> str:
    """A new id, the same for the same Idempotency-Key."""
    if not key:
        return secrets.token_hex(8)
    return hashlib.blake2b(key.encode(), key=cluster.encode()[:64], digest_size=8).hexdigest()
