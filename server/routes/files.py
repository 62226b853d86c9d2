"""`/api/v1/files`, `/folders`: where documents are, the trash, and what one likes."""

from __future__ import annotations

import secrets

from starlette.responses import JSONResponse, Response

from server.accounts.accounts import Accounts
from server.accounts.errors import missing
from server.accounts.names import VISIBLE
from server.accounts.people import HOME
from server.accounts.roles import ADMIN
from server.accounts.secrets import digest_of
from server.accounts.shelves import FOLDER_NAME_MAX, ITEMS_MAX
from server.errors import BadMessageError
from server.files.rows import Rows
from server.node import Node
from server.routes.asks import Ask, Field, Row
from server.routes.done import done

ITEMS = Field("items", list, text=f"ids of up to {ITEMS_MAX} documents and folders", max=64)
WORKSPACE = Field("workspace", text="the workspace", max=64)
FOLDER = Field("folder", str, False, "the folder; left out: the top of the workspace", 64)
NAME = Field(
    "name",
    text=f"1 to {FOLDER_NAME_MAX} characters that one sees",
    min=1,
    max=FOLDER_NAME_MAX,
    pattern=VISIBLE,
)
FOLDER_SHOWN = {
    "id": "the folder",
    "name": "its name, with a number where another one there is called so",
    "workspace": "where it is",
    "folder": "the folder that it is in, null at the top",
    "created": "when it was made",
    "by": "who made it",
}
FILES_SHOWN = {
    "workspaces": "those one is in",
    "folders": "those in them",
    "documents": "what one may read, with title, place, role, and who changed it last, and when",
    "favourites": "ids in one's own order",
    "recent": "what one has opened last",
}
PLACE_SHOWN = {
    "kind": "`document` or `place`",
    "workspace": "where it is, null for who is not in it",
    "path": "the folders that it is in, the outermost first",
    "role": "what one may do with it now",
    "trashed": "when it was put into the trash, and by whom; null when it is not there",
}
MOVE_ERRORS = ("cycle", "too_deep", "trashed")


class Files:
    """The handlers, on one node: for accounts, for pages without any, and for the operator."""

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def accounts(self) -> Accounts:
        """Where everything is."""
        return self.node.files.accounts

    def _by(self, ask: Ask) -> str:
        """Where there are no accounts, whoever asks may all."""
        return ADMIN if self.node.accounts is None else ask.by

    def _rows(self, ask: Ask) -> Rows:
        return self.node.files.rows(self._by(ask))

    def rows(self) -> list[Row]:
        """The routes."""
        read, write = "documents:read", "documents:write"
        one, name = "/folders/{folder}", (WORKSPACE, FOLDER, NAME)
        like = (Field("before", str, False, "which one it stands before; else last", 64),)
        where = (ITEMS, WORKSPACE, FOLDER)
        lost, full = ("not_found", "forbidden"), ("too_many",)
        everything = (Field("documents", bool, False, "also if something is in it"),)
        return [
            Row("GET", "/files", self.list_all, read, "All one sees", shows=FILES_SHOWN),
            Row(
                "POST",
                "/folders",
                self.make,
                write,
                "Make one",
                201,
                name,
                FOLDER_SHOWN,
                full,
                once=True,
            ),
            Row("PATCH", one, self.rename, write, "Rename a folder", 200, (NAME,), FOLDER_SHOWN),
            Row("POST", "/files/move", self.move, write, "Move", 204, where, errors=MOVE_ERRORS),
            Row("POST", "/files/trash", self.trash, write, "Into the trash", 204, (ITEMS,)),
            Row("POST", "/files/restore", self.restore, write, "Have it back", 204, (ITEMS,)),
            Row(
                "POST",
                "/files/delete",
                self.delete,
                write,
                "Delete for good what is in the trash",
                200,
                (ITEMS,),
                {"documents": "how many were deleted"},
            ),
            Row(
                "GET",
                "/documents/{doc}/place",
                self.place,
                read,
                "Where a document or place is",
                shows=PLACE_SHOWN,
                errors=("no_such_document",),
            ),
            Row(
                "PUT",
                "/me/favourites/{item}",
                self.like,
                write,
                "Like it",
                204,
                like,
                {},
                full + lost,
            ),
            Row("DELETE", "/me/favourites/{item}", self.dislike, write, "Not any more", 204),
            Row(
                "POST",
                "/workspaces/{workspace}/trash",
                self.remove_workspace,
                "accounts:write",
                "Delete an empty workspace, or put one into the trash with all that is in it",
                200,
                everything,
                {"gone": "whether it was empty, and is gone"},
                ("not_empty",),
            ),
        ]

    async def list_all(self, ask: Ask) -> Response:
        """Everything one sees, at once: of 10,000 documents 2 MB."""
        return JSONResponse(await self._rows(ask).whole())

    async def make(self, ask: Ask) -> Response:
        """The same folder for the same request with the same Idempotency-Key.

        Who is at the machine may have folders in the first workspace before anybody owns that.
        """
        drawn = digest_of(f"folder\n{ask.key}")[:16] if ask.key else secrets.token_hex(8)
        place = ask.text("workspace"), ask.text("folder"), ask.text("name")
        if place[0] == HOME and self._by(ask) == ADMIN and HOME not in self.accounts.workspaces:
            await done(self.node, self.accounts.open_home())
        work = self.accounts.make_folder(self._by(ask), f"f{drawn}", *place, ask.origin)
        made = await done(self.node, work)
        return JSONResponse(self._rows(ask).folder(made.id), 201)

    async def rename(self, ask: Ask) -> Response:
        """By editors of the workspace."""
        folder = ask.path("folder")
        work = self.accounts.rename_folder(self._by(ask), folder, ask.text("name"), ask.origin)
        await done(self.node, work)
        return JSONResponse(self._rows(ask).folder(folder))

    async def move(self, ask: Ask) -> Response:
        """All or none."""
        place = ask.text("workspace"), ask.text("folder")
        work = self.accounts.move(self._by(ask), self._items(ask), *place, ask.origin)
        await done(self.node, work)
        return Response(status_code=204)

    def _items(self, ask: Ask) -> list[str]:
        return list(dict.fromkeys(ask.texts("items")))

    async def trash(self, ask: Ask) -> Response:
        """All or none."""
        work = self.accounts.throw_away(self._by(ask), self._items(ask), ask.origin)
        await done(self.node, work)
        return Response(status_code=204)

    async def restore(self, ask: Ask) -> Response:
        """All or none; workspaces, too."""
        await done(self.node, self.accounts.restore(self._by(ask), self._items(ask), ask.origin))
        return Response(status_code=204)

    async def delete(self, ask: Ask) -> Response:
        """All or none; who asks has asked the person before."""
        work = self.accounts.delete_for_good(self._by(ask), self._items(ask), ask.origin)
        return JSONResponse({"documents": await done(self.node, work)})

    async def place(self, ask: Ask) -> Response:
        """As this node knows it."""
        found = self._rows(ask).place(ask.path("doc"))
        if found is None:
            raise BadMessageError("no_such_document", "there is no document of this id here")
        return JSONResponse(found)

    async def like(self, ask: Ask) -> Response:
        """New, or in another place."""
        rows, item = self._rows(ask), ask.path("item")
        if rows.document(item) is None and rows.folder(item) is None:
            raise missing("document or folder")
        work = self.node.files.activity.favour(ask.user, item, ask.text("before"))
        await done(self.node, work)
        return Response(status_code=204)

    async def dislike(self, ask: Ask) -> Response:
        """Nothing, if it is none."""
        await done(self.node, self.node.files.activity.disfavour(ask.user, ask.path("item")))
        return Response(status_code=204)

    async def remove_workspace(self, ask: Ask) -> Response:
        """By its owners."""
        workspace, everything = ask.path("workspace"), ask.flag("documents")
        work = self.accounts.remove_workspace(self._by(ask), workspace, everything, ask.origin)
        return JSONResponse({"gone": await done(self.node, work)})
