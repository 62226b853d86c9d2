"""`/api/v1`: documents over HTTP."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from hashlib import blake2b

from starlette.responses import JSONResponse, Response, StreamingResponse

from groupcore.objects.parsing import check_title
from groupcore.objects.rich_delta import plain
from groupcore.objects.rich_parsing import to_wire
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.shown import Shot
from groupcore.shared.documents.tables import words_of
from groupcore.shared.errors import ForbiddenError
from server.accounts.errors import forbidden
from server.accounts.roles import ADMIN, KEEPER
from server.documents.catalogue import DOCUMENT
from server.documents.making import document_id, make_document
from server.documents.markdown import Imported, clean_title
from server.documents.work import exported, imported
from server.documents.zipped import Zipped
from server.errors import BadMessageError
from server.node import Node
from server.noticed import DOCUMENT as EXPORTED
from server.pictures.importing import placed
from server.pictures.named import named_in
from server.routes.access import Access, Place, beside
from server.routes.asks import PUBLIC, Ask, Field, Row
from server.routes.done import SAVED_S, ordered, reached
from server.routes.files import FOLDER
from server.routes.gate import GUEST
from server.routes.there import THERE, check_there
from server.settings import Settings

ONE_LINE = r"^[^\n\r\u0000]+$"
TITLE = Field("title", text="one line", min=1, max=200, pattern=ONE_LINE)
MARKDOWN = Field("markdown", str, False, "the text", 4 << 20)
WORKSPACE = Field("workspace", str, False, "where; else the first in which one may edit", 64)
COPY = Field("title", str, False, "its title; else “Copy of …”", 200, min=1, pattern=ONE_LINE)
TITLE_MAX = 200
NAMED = Field("title", str, False, "else its first heading is the title", 1000)
MADE = {"id": "the document", "title": "its title", "saved": "whether a quorum has it on disk"}

WORKED = ("too_complex", "busy")
"""What is refused of work that workers do."""
KNOWN = Field("known", str, False, "the version that one has", 64)
HEADINGS = {
    "version": "the same as long as the headings are",
    "headings": "id, place among the blocks, level and text of each; left out where one has them",
}


def import_kib(settings: Settings) -> int:
    """How much text a body may have."""
    return settings.import_kib


class DocumentRoutes:
    """The handlers, on one node."""

    def __init__(self, node: Node, access: Access) -> None:
        self.node = node
        self.access = access

    def rows(self) -> list[Row]:
        """The routes."""
        at, read, write = "/documents", "documents:read", "documents:write"
        full, none = "too_many_documents", THERE
        return [
            Row("GET", at, self.list_documents, read, "The documents that one may read"),
            Row(
                "POST",
                at,
                self.create,
                write,
                "Make a document",
                201,
                (TITLE, MARKDOWN, WORKSPACE, FOLDER),
                MADE,
                (full, "bad_change", *WORKED),
                limit=import_kib,
                once=True,
            ),
            self.import_row(f"{at}/import"),
            Row("GET", f"{at}/{{doc}}", self.read, read, "Its blocks", errors=none),
            self.headings_row(f"{at}/{{doc}}/headings"),
            Row(
                "PATCH",
                f"{at}/{{doc}}",
                self.rename,
                write,
                "Change its title",
                200,
                (TITLE,),
                {"id": "the document", "title": "its title"},
                (*none, "trashed", "bad_change"),
            ),
            Row(
                "POST",
                f"{at}/{{doc}}/duplicate",
                self.duplicate,
                write,
                "Make a new document with the same blocks",
                201,
                (COPY,),
                MADE,
                (*none, full, "bad_change"),
                once=True,
            ),
            Row(
                "GET",
                f"{at}/{{doc}}/markdown",
                self.export,
                read,
                "The document as Markdown",
                errors=none,
                gives=("text/markdown",),
            ),
            Row(
                "GET",
                f"{at}/{{doc}}/export.zip",
                self.export_zip,
                read,
                "The document as Markdown, with its pictures",
                errors=none,
                gives=("application/zip",),
            ),
            Row("GET", "/nodes", self.nodes, PUBLIC, "The nodes' addresses"),
        ]

    def headings_row(self, path: str) -> Row:
        """What is read of a document without the rest of it."""
        return Row(
            "GET",
            path,
            self.headings,
            "documents:read",
            "Its headings, in their order",
            shows=HEADINGS,
            errors=THERE,
            query=(KNOWN,),
        )

    def import_row(self, path: str) -> Row:
        """A document from a body of Markdown."""
        return Row(
            "POST",
            path,
            self.import_document,
            "documents:write",
            "Make a document from a Markdown body",
            201,
            shows=MADE,
            errors=("too_many_documents", "bad_change", *WORKED),
            query=(NAMED, WORKSPACE, FOLDER),
            takes=("text/markdown",),
            limit=import_kib,
            once=True,
        )

    async def list_documents(self, ask: Ask) -> Response:
        """All documents that who asks may read and that are not in the trash, by title."""
        may_read, accounts = self.access.reader(ask), self.node.files.accounts
        kind_of = self.node.whole_catalogue.kind_of
        rows = [
            {"id": doc, "title": listed.title, "created": instant(listed.created_s)}
            for doc, listed in self.node.whole_catalogue.items()
            if may_read(doc) and accounts.buried(doc) is None and kind_of(doc) == DOCUMENT
        ]
        rows.sort(key=lambda row: (row["title"].casefold(), row["id"]))
        return JSONResponse({"documents": rows})

    async def create(self, ask: Ask) -> Response:
        """A new document, empty or from Markdown."""
        title = check_title(ask.text("title"))
        found = await self._imported(ask, ask.text("markdown"), title)
        found.title = title
        place = Place(ask.text("workspace"), ask.text("folder"))
        return await self._create(ask, place, found)

    async def _imported(self, ask: Ask, source: str, title: str) -> Imported:
        return await imported(self.node.work, ask.asker, source, title)

    async def _exported(self, ask: Ask, title: str, shot: Shot) -> str:
        blocks = [(attributes, text) for _, attributes, text in shot]
        return await exported(self.node.work, ask.asker, title, blocks)

    async def rename(self, ask: Ask) -> Response:
        """Another title, given by who asks, as the document's list allows."""
        doc, title = ask.path("doc"), check_title(ask.text("title"))
        await self._check_there(ask, doc)
        if self.node.files.accounts.buried(doc) is not None:
            raise BadMessageError("trashed", "this is in the trash; restore it first")
        principal = KEEPER if ask.by == ADMIN else ask.by
        try:
            async with self.node.keeper.holding(doc) as document:
                await self.access.settle(doc, document.outline)
                async with self.node.objects.session(principal) as session:
                    outline = await session.open(DocumentOutline, f"doc/{doc}")
                    await ordered(outline.rename(title))
        except ForbiddenError:
            raise forbidden() from None
        return JSONResponse({"id": doc, "title": title})

    async def duplicate(self, ask: Ask) -> Response:
        """A new document with the same blocks, beside the other one where one may."""
        doc, title, shot = await self._shot(ask)
        title = check_title(ask.text("title")) if "title" in ask.body else f"Copy of {title}"
        blocks = [(attributes, text) for _, attributes, text in shot]
        copied = Imported(title[:TITLE_MAX], blocks)
        return await self._create(ask, beside(self.node, ask.by, doc), copied)

    async def import_document(self, ask: Ask) -> Response:
        """A new document from a Markdown body."""
        try:
            source = ask.raw.decode("utf-8")
        except UnicodeDecodeError:
            raise BadMessageError("bad_request", "the body is not UTF-8 text") from None
        given = ask.query["title"]
        found = await self._imported(ask, source, clean_title(given) if given else "")
        place = Place(ask.query["workspace"], ask.query["folder"])
        return await self._create(ask, place, found)

    async def _create(self, ask: Ask, place: Place, found: Imported) -> Response:
        node, settle = self.node, self.access.settle
        catalogue = node.whole_catalogue
        doc = document_id(node.settings.cluster, ask.key)
        most = node.settings.documents_max
        await self.access.file(ask, doc, place)
        title, may_read = found.title, self.access.reader(ask)
        blocks = await placed(node.pictures, doc, found.blocks, found.files, may_read, ask.asker)
        await ordered(make_document(node.keeper, catalogue, doc, title, blocks, most, settle))
        saved = True
        try:
            async with asyncio.timeout(SAVED_S):
                await node.objects.saved()
        except TimeoutError:
            saved = False
        body = {"id": doc, "title": catalogue[doc].title, "saved": saved}
        return JSONResponse(body, 201, {"Location": f"/api/v1/documents/{doc}"})

    async def _shot(self, ask: Ask) -> tuple[str, str, Shot]:
        """Id, title and blocks of the document that is asked for."""
        doc, may_read = ask.path("doc"), self.access.reader(ask)
        await self._check_there(ask, doc)
        shot = await reached(self._read(doc))
        if not may_read(doc):  # not any more
            raise BadMessageError("no_such_document", "there is no document of this id here")
        return shot

    async def _check_there(self, ask: Ask, doc: str) -> None:
        await check_there(self.node, self.access.reader(ask), doc)

    async def _read(self, doc: str) -> tuple[str, str, Shot]:
        async with self.node.keeper.reading(doc) as document:
            return doc, document.outline.title, await document.snapshot()

    async def read(self, ask: Ask) -> Response:
        """The document as this node has it."""
        doc, title, shot = await self._shot(ask)
        blocks = [
            {
                "id": block,
                **dict(attributes),
                "text": words_of(dict(attributes), text),
                "content": to_wire(text),
            }
            for block, attributes, text in shot
        ]
        return JSONResponse({"id": doc, "title": title, "blocks": blocks})

    async def headings(self, ask: Ask) -> Response:
        """The document's headings as this node has them; its other blocks are not read."""
        doc, may_read = ask.path("doc"), self.access.reader(ask)
        await self._check_there(ask, doc)
        rows = await reached(self._headings(doc))
        if not may_read(doc):  # not any more
            raise BadMessageError("no_such_document", "there is no document of this id here")
        told = json.dumps(rows, sort_keys=True).encode()
        version = blake2b(told, digest_size=16).hexdigest()
        is_known = ask.query["known"] == version
        return JSONResponse({"version": version} | ({} if is_known else {"headings": rows}))

    async def _headings(self, doc: str) -> list[dict[str, object]]:
        async with self.node.keeper.reading(doc) as document:
            return [
                {
                    "id": block,
                    "place": place,
                    "level": dict(attributes).get("level", 1),
                    "text": plain(text),
                }
                for block, place, attributes, text in await document.headings()
            ]

    async def export(self, ask: Ask) -> Response:
        """The document as Markdown."""
        doc, title, shot = await self._shot(ask)
        await self._note_export(ask, doc)
        source = await self._exported(ask, title, shot)
        headers = {"Content-Disposition": f'attachment; filename="{doc}.md"'}
        return Response(source, 200, headers, "text/markdown; charset=utf-8")

    async def _note_export(self, ask: Ask, doc: str) -> None:
        if ask.by != GUEST:
            await self.node.noticed.note_first(EXPORTED, ask.by, doc, ask.origin)

    async def export_zip(self, ask: Ask) -> Response:
        """Markdown and pictures in one file; a picture that is gone is left out."""
        doc, title, shot = await self._shot(ask)
        await self._note_export(ask, doc)
        source = await self._exported(ask, title, shot)
        zipped = Zipped()
        await asyncio.to_thread(zipped.add, f"{doc}.md", source.encode(), packed=True)
        for name in sorted(named_in(shot)):
            if self.node.pictures.register.of(doc, name) is not None:
                _, data = await self.node.pictures.read(doc, name)
                await asyncio.to_thread(zipped.add, f"pictures/{name}", data)
        headers = {"Content-Disposition": f'attachment; filename="{doc}.zip"'}
        return StreamingResponse(zipped.end(), 200, headers, "application/zip")

    async def nodes(self, _: Ask) -> Response:
        """The members of the view with their public addresses, this one first."""
        rows = [{"id": name, "url": url} for name, url in self.node.urls().items()]
        return JSONResponse({"nodes": rows})


def instant(time_s: int) -> str:
    """A time in the format of RFC 3339."""
    return datetime.fromtimestamp(time_s, UTC).isoformat().replace("+00:00", "Z")
