"""`/api/v1`: documents over HTTP."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from groupcore.objects.parsing import check_title, is_identifier
from groupcore.objects.rich_delta import plain
from groupcore.objects.rich_parsing import to_wire
from groupcore.shared.documents.shown import Shot
from server.documents.making import NewBlock, document_id, make_document
from server.documents.markdown import clean_title, export_markdown, import_markdown
from server.errors import BadMessageError
from server.node import Node
from server.routes.access import Access
from server.routes.done import SAVED_S, ordered

KEY_MAX = 200


class DocumentRoutes:
    """The handlers, on one node."""

    def __init__(self, node: Node, access: Access) -> None:
        self.node = node
        self.access = access

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

    async def list_documents(self, request: Request) -> Response:
        """All documents that who asks may read, ordered by title."""
        may_read = self.access.reader(request)
        rows = [
            {"id": doc, "title": listed.title, "created": instant(listed.created_s)}
            for doc, listed in self.node.whole_catalogue.items()
            if may_read(doc)
        ]
        rows.sort(key=lambda row: (row["title"].casefold(), row["id"]))
        return JSONResponse({"documents": rows})

    async def create(self, request: Request) -> Response:
        """A new document, empty or from Markdown."""
        by = self.access.writer(request)
        try:
            body = json.loads(await self._body(request))
        except (ValueError, RecursionError):
            raise BadMessageError("bad_request", "the body is not JSON") from None
        if not isinstance(body, dict):
            raise BadMessageError("bad_request", "the body must be a JSON object")
        title, markdown = body.get("title"), body.get("markdown", "")
        workspace = body.get("workspace", "")
        if not isinstance(markdown, str) or not isinstance(workspace, str):
            raise BadMessageError("bad_request", "markdown and workspace must be strings")
        if unknown := sorted(set(body) - {"title", "markdown", "workspace"}):
            raise BadMessageError("bad_request", f"unknown field {unknown[0][:40]!r}")
        title = check_title(title)
        try:
            markdown.encode()
        except UnicodeEncodeError:
            raise BadMessageError("bad_request", "markdown holds half a character") from None
        blocks = import_markdown(markdown, title).blocks
        return await self._create(request, by, workspace, title, blocks)

    async def import_document(self, request: Request) -> Response:
        """A new document from a Markdown body."""
        by = self.access.writer(request)
        try:
            source = (await self._body(request)).decode("utf-8")
        except UnicodeDecodeError:
            raise BadMessageError("bad_request", "the body is not UTF-8 text") from None
        given = request.query_params.get("title", "")
        imported = import_markdown(source, clean_title(given) if given else "")
        workspace = request.query_params.get("workspace", "")
        return await self._create(request, by, workspace, imported.title, imported.blocks)

    async def _body(self, request: Request) -> bytes:
        """The body, bounded."""
        settings = self.node.settings
        most = settings.import_kib * 1024
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > most:
                raise BadMessageError("too_large", f"the body is over {settings.import_kib} KiB")
        return bytes(body)

    async def _create(
        self, request: Request, by: str, workspace: str, title: str, blocks: list[NewBlock]
    ) -> Response:
        node, settle = self.node, self.access.settle
        catalogue = node.whole_catalogue
        key = request.headers.get("idempotency-key", "")[:KEY_MAX]
        doc = document_id(node.settings.cluster, f"{by}\n{key}" if key else "")
        most = node.settings.documents_max
        await self.access.file(request, by, doc, workspace)
        await ordered(make_document(node.keeper, catalogue, doc, title, blocks, most, settle))
        saved = True
        try:
            async with asyncio.timeout(SAVED_S):
                await node.objects.saved()
        except TimeoutError:
            saved = False
        body = {"id": doc, "title": catalogue[doc].title, "saved": saved}
        return JSONResponse(body, 201, {"Location": f"/api/v1/documents/{doc}"})

    async def _shot(self, request: Request) -> tuple[str, str, Shot]:
        """Id, title and blocks of the document that is asked for."""
        doc, may_read = request.path_params["doc"], self.access.reader(request)
        if not may_read(doc) or not is_identifier(doc) or not await ordered(self.node.knows(doc)):
            raise BadMessageError("no_such_document", "there is no document of this id here")
        found = await ordered(self._read(doc))
        if not may_read(doc):  # not any more
            raise BadMessageError("no_such_document", "there is no document of this id here")
        return found

    async def _read(self, doc: str) -> tuple[str, str, Shot]:
        async with self.node.keeper.holding(doc) as document:
            return doc, document.outline.title, await document.snapshot()

    async def read(self, request: Request) -> Response:
        """The document as this node has it."""
        doc, title, shot = await self._shot(request)
        blocks = [
            {"id": block, **dict(attributes), "text": plain(text), "content": to_wire(text)}
            for block, attributes, text in shot
        ]
        return JSONResponse({"id": doc, "title": title, "blocks": blocks})

    async def export(self, request: Request) -> Response:
        """The document as Markdown."""
        doc, title, shot = await self._shot(request)
        source = export_markdown(title, [(attributes, text) for _, attributes, text in shot])
        headers = {"Content-Disposition": f'attachment; filename="{doc}.md"'}
        return Response(source, 200, headers, "text/markdown; charset=utf-8")

    async def nodes(self, _: Request) -> Response:
        """The members of the view with their public addresses, this one first."""
        rows = [{"id": name, "url": url} for name, url in self.node.urls().items()]
        return JSONResponse({"nodes": rows})


def instant(time_s: int) -> str:
    """A time in the format of RFC 3339."""
    return datetime.fromtimestamp(time_s, UTC).isoformat().replace("+00:00", "Z")
