"""`/api/v1/places`: places over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import JSONResponse, Response

from groupcore.objects.parsing import check_title
from groupcore.shared.errors import ForbiddenError
from groupcore.shared.places import Thing
from groupcore.shared.places.limits import EDITS_MAX
from server.accounts.errors import forbidden
from server.accounts.roles import ADMIN, KEEPER
from server.documents.catalogue import PLACE
from server.documents.making import document_id
from server.errors import BadMessageError
from server.node import Node
from server.noticed import DOCUMENT as EXPORTED
from server.places.acting import Acting, acting
from server.places.copying import copies, copy_pictures
from server.places.making import make_place
from server.places.reading import whole
from server.places.templates import TEMPLATES, WORDS
from server.places.things import EDIT, ID_PATTERN, THING, edits_of, shown, things_of
from server.routes.access import Access, Place, beside
from server.routes.api import COPY, MADE, TITLE, TITLE_MAX, WORKSPACE, instant
from server.routes.asks import Ask, Field, Row
from server.routes.done import SAVED_S, done, ordered, reached
from server.routes.files import FOLDER
from server.routes.gate import GUEST
from server.routes.there import PLACE_THERE, check_there
from server.settings import Settings

BODY_KIB = 1_024
TEMPLATE = Field(
    "template", str, False, "what it begins with; else `empty`", 40, choices=tuple(TEMPLATES)
)
LANGUAGE = Field(
    "language", str, False, "of the template's words; else `en`", 2, choices=tuple(WORDS)
)
THINGS = Field("things", list, text="new things", max=EDITS_MAX, min=1, items=THING)
EDITS = Field("edits", list, text="changes of things", max=EDITS_MAX, min=1, items=EDIT)
GONE = Field("things", list, text="their ids", max=64, min=1, pattern=ID_PATTERN)
OF_THINGS = ("bad_thing", "thing_locked", "thing_held", "thing_busy", "busy", "trashed")


def body_kib(settings: Settings) -> int:
    """How much a body with things may have."""
    del settings
    return BODY_KIB


class PlaceRoutes:
    """The handlers, on one node."""

    def __init__(self, node: Node, access: Access) -> None:
        self.node = node
        self.access = access

    def rows(self) -> list[Row]:
        """The routes."""
        at, read, write = "/places", "documents:read", "documents:write"
        full = "too_many_documents"
        return [
            Row("GET", at, self.list_places, read, "The places that one may read"),
            Row(
                "POST",
                at,
                self.create,
                write,
                "Make a place",
                201,
                (TITLE, WORKSPACE, FOLDER, TEMPLATE, LANGUAGE),
                {**MADE, "id": "the place"},
                (full, "bad_change", "trashed"),
                once=True,
            ),
            Row(
                "GET",
                f"{at}/{{doc}}",
                self.read,
                read,
                "Its name, and all its things",
                shows={"id": "the place", "title": "its title", "things": "by their ids"},
                errors=(*PLACE_THERE, "too_large", "busy"),
            ),
            Row(
                "PATCH",
                f"{at}/{{doc}}",
                self.rename,
                write,
                "Change its title",
                200,
                (TITLE,),
                {"id": "the place", "title": "its title"},
                (*PLACE_THERE, "trashed", "bad_change"),
            ),
            self.copy_row(f"{at}/{{doc}}/duplicate"),
            *self.thing_rows(f"{at}/{{doc}}/things"),
        ]

    def copy_row(self, path: str) -> Row:
        """A place like another one."""
        return Row(
            "POST",
            path,
            self.duplicate,
            "documents:write",
            "Make a new place with copies of its things",
            201,
            (COPY,),
            {**MADE, "id": "the new place"},
            (*PLACE_THERE, "too_many_documents", "bad_change", "too_large", "busy"),
            once=True,
        )

    def thing_rows(self, at: str) -> list[Row]:
        """What is done to things."""
        write = "documents:write"
        return [
            Row(
                "POST",
                at,
                self.put,
                write,
                "Put new things",
                201,
                (THINGS,),
                {"things": "their ids"},
                (*PLACE_THERE, *OF_THINGS, "thing_exists", "cell_full"),
                limit=body_kib,
            ),
            Row(
                "PATCH",
                at,
                self.change,
                write,
                "Change things, all or none",
                200,
                (EDITS,),
                {"changed": "the ids of those that were changed"},
                (*PLACE_THERE, *OF_THINGS, "no_such_thing", "bad_path"),
                limit=body_kib,
            ),
            Row(
                "DELETE",
                at,
                self.delete,
                write,
                "Delete things",
                200,
                (GONE,),
                {"deleted": "the ids of those that were there"},
                (*PLACE_THERE, *OF_THINGS),
            ),
        ]

    # --- places ---------------------------------------------------------------------------------

    async def list_places(self, ask: Ask) -> Response:
        """All places that who asks may read and that are not in the trash, by title."""
        may_read, accounts = self.access.reader(ask), self.node.files.accounts
        catalogue = self.node.whole_catalogue
        rows = [
            {"id": doc, "title": listed.title, "created": instant(listed.created_s)}
            for doc, listed in catalogue.items()
            if catalogue.kind_of(doc) == PLACE and may_read(doc) and accounts.buried(doc) is None
        ]
        rows.sort(key=lambda row: (row["title"].casefold(), row["id"]))
        return JSONResponse({"places": rows})

    async def create(self, ask: Ask) -> Response:
        """A new place, as its template is."""
        title = check_title(ask.text("title"))
        doc = document_id(self.node.settings.cluster, ask.key)
        await self.access.file(ask, doc, Place(ask.text("workspace"), ask.text("folder")))
        template = TEMPLATES[ask.text("template") or "empty"]
        return await self._make(doc, title, template(ask.text("language") or "en"))

    async def duplicate(self, ask: Ask) -> Response:
        """A new place with copies of the things, beside the other one where one may."""
        node, source, may_read = self.node, ask.path("doc"), self.access.reader(ask)
        await check_there(node, may_read, source, PLACE)
        title, things = await reached(self._seen(source))
        if not may_read(source):  # not any more
            raise BadMessageError("no_such_place", "there is no place of this id here")
        given = ask.text("title") if "title" in ask.body else f"Copy of {title}"[:TITLE_MAX]
        doc = document_id(node.settings.cluster, ask.key)
        await self.access.file(ask, doc, beside(node, ask.by, source))
        await copy_pictures(node.pictures, source, doc, things)
        return await self._make(doc, check_title(given), copies(things, doc))

    async def _make(self, doc: str, title: str, things: Sequence[Thing]) -> Response:
        node, settle = self.node, self.access.settle
        catalogue, most = node.whole_catalogue, node.settings.documents_max
        await ordered(make_place(node.keepers.places, catalogue, doc, title, things, most, settle))
        saved = True
        try:
            async with asyncio.timeout(SAVED_S):
                await node.objects.saved()
        except TimeoutError:
            saved = False
        body = {"id": doc, "title": catalogue[doc].title, "saved": saved}
        return JSONResponse(body, 201, {"Location": f"/api/v1/places/{doc}"})

    async def read(self, ask: Ask) -> Response:
        """The place as this node has it, all of it at one place of the order."""
        doc, may_read = ask.path("doc"), self.access.reader(ask)
        await check_there(self.node, may_read, doc, PLACE)
        title, things = await reached(self._seen(doc))
        if not may_read(doc):  # not any more
            raise BadMessageError("no_such_place", "there is no place of this id here")
        if ask.by != GUEST:
            await self.node.noticed.note_first(EXPORTED, ask.by, doc, ask.origin)
        return JSONResponse({"id": doc, "title": title, "things": [shown(one) for one in things]})

    async def _seen(self, doc: str) -> tuple[str, list[Thing]]:
        async with self.node.keepers.places.reading(doc) as minding:
            things = await whole(minding)
            return minding.place.outline.title, things

    async def rename(self, ask: Ask) -> Response:
        """Another title, given by who asks, as the place's list allows."""
        title = check_title(ask.text("title"))

        async def act(here: Acting) -> None:
            await here.rename(title)

        doc = await self._acted(ask, act)
        return JSONResponse({"id": doc, "title": title})

    # --- things ---------------------------------------------------------------------------------

    async def put(self, ask: Ask) -> Response:
        """New things, in the name of who asks."""
        things = things_of(ask.objects("things"))
        await self._acted(ask, lambda here: here.put(things))
        return JSONResponse({"things": [one.id for one in things]}, 201)

    async def change(self, ask: Ask) -> Response:
        """Changes of things, in the name of who asks."""
        edits, changed = edits_of(ask.objects("edits"), EDITS_MAX), list[str]()

        async def act(here: Acting) -> None:
            changed.extend(await here.change(edits))

        await self._acted(ask, act)
        return JSONResponse({"changed": changed})

    async def delete(self, ask: Ask) -> Response:
        """Things are gone, in the name of who asks."""
        things, gone = ask.texts("things"), list[str]()

        async def act(here: Acting) -> None:
            gone.extend(await here.delete(things))

        await self._acted(ask, act)
        return JSONResponse({"deleted": gone})

    async def _acted(self, ask: Ask, act: Callable[[Acting], Awaitable[None]]) -> str:
        """Do it where it is allowed; the place's id. It is saved then, or will be."""
        doc = ask.path("doc")
        await check_there(self.node, self.access.reader(ask), doc, PLACE)
        if self.node.files.accounts.buried(doc) is not None:
            raise BadMessageError("trashed", "this is in the trash; restore it first")
        if not self.access.editor(ask)(doc):
            raise forbidden()
        principal = KEEPER if ask.by == ADMIN else ask.by
        try:
            await done(self.node, self._act(doc, principal, act))
        except ForbiddenError:
            raise forbidden() from None
        self.node.files.touches.note(doc, ask.by)
        return doc

    async def _act(
        self, doc: str, principal: str, act: Callable[[Acting], Awaitable[None]]
    ) -> None:
        async with acting(self.node, doc, principal) as here:
            await act(here)
