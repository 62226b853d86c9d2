"""What somebody sees of documents, folders and workspaces, as rows of answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from server.accounts.accounts import Accounts
from server.accounts.records import Trashed
from server.accounts.roles import ADMIN, Role, user_of
from server.documents.catalogue import Catalogue
from server.files.activity import Activity
from server.files.sight import Sight
from server.routes.shown import Shown, instant

AT_ONCE = 500
"""So many rows are made before others have their turn."""


class Rows:
    """Rows for one who asks."""

    def __init__(
        self, accounts: Accounts, catalogue: Catalogue, activity: Activity, principal: str
    ) -> None:
        self._accounts = accounts
        self._catalogue = catalogue
        self._activity = activity
        self._principal = principal
        self._sees_names = bool(user_of(principal)) or principal == ADMIN

    # --- who and where --------------------------------------------------------------------------

    def _name(self, principal: str) -> str:
        """What somebody is called; visitors are told of nobody."""
        user = self._accounts.users.get(user_of(principal)) if self._sees_names else None
        return "" if user is None else user.name

    def _who(self, field: str, principal: str) -> Shown:
        """Their name; of an account that was erased only that it was."""
        is_erased = self._sees_names and user_of(principal) in self._accounts.erased
        return {field: self._name(principal)} | ({f"{field}_erased": True} if is_erased else {})

    def _workspace_role(self, workspace: str) -> Role:
        return self._accounts.workspace_role(self._principal, workspace)

    def may_tidy(self, document: str) -> bool:
        """Whether they may throw it away and restore it."""
        if self._accounts.document_role(self._principal, document) is Role.OWNER:
            return True
        return self._workspace_role(self._accounts.workspace_of(document)) >= Role.EDITOR

    def _trashed(self, item: str, found: Trashed | None) -> Shown:
        if found is None:
            return {}
        own = item in self._accounts.trash
        who = self._who("by", found.by)
        return {"trashed": {"at": instant(found.at_s), **who, "own": own}}

    # --- rows -----------------------------------------------------------------------------------

    def document(self, doc: str) -> Shown | None:
        """None where they may not read it, or where it is in the trash and not theirs to tidy."""
        accounts, listed = self._accounts, self._catalogue.get(doc)
        role = accounts.document_role(self._principal, doc)
        if listed is None or role is Role.NONE:
            return None
        buried = accounts.buried(doc)
        if buried is not None and not self.may_tidy(doc):
            return None
        filed, touch = accounts.documents[doc], self._activity.touched.get(doc)
        is_member = self._workspace_role(filed.workspace) is not Role.NONE
        created = instant(listed.created_s)
        return {
            "id": doc,
            "kind": self._catalogue.kind_of(doc),
            "title": listed.title,
            "workspace": filed.workspace if is_member else None,
            "folder": accounts.places.get(doc) if is_member else None,
            "role": role.name.lower(),
            "created": created,
            **self._who("by", filed.by),
            "changed": created if touch is None else instant(touch.at_s),
            **self._who("changed_by", filed.by if touch is None else touch.by),
            **self._trashed(doc, buried),
        }

    def folder(self, id: str) -> Shown | None:
        """None where they are not in its workspace."""
        known = self._accounts.folders.get(id)
        if known is None:
            return None
        role, buried = self._workspace_role(known.workspace), self._accounts.buried(id)
        if role is Role.NONE or (buried is not None and role < Role.EDITOR):
            return None
        return {
            "id": id,
            "name": known.name,
            "workspace": known.workspace,
            "folder": known.parent or None,
            "created": instant(known.created_s),
            **self._who("by", known.by),
            **self._trashed(id, buried),
        }

    def workspaces(self) -> list[Shown]:
        """Those they are in; one in the trash only for its owners."""
        rows: list[Shown] = []
        for one in self._accounts.workspaces.values():
            if not self._sees_workspace(one.id):
                continue
            role, trashed = self._workspace_role(one.id), self._accounts.trash.get(one.id)
            row: Shown = {"id": one.id, "name": one.name, "role": role.name.lower()}
            rows.append({**row, **self._trashed(one.id, trashed)})
        return rows

    def _sees_workspace(self, workspace: str) -> bool:
        if workspace not in self._accounts.workspaces:
            return False
        role = self._workspace_role(workspace)
        return role is Role.OWNER or (
            role is not Role.NONE and workspace not in self._accounts.trash
        )

    def own(self) -> Shown:
        """What they like, and have opened last, newest first; empty where nobody signs in."""
        user = user_of(self._principal)
        liked = self._activity.favourites.get(user, [])
        opened = self._activity.recent.get(user, {})
        return {
            "favourites": [item for item in liked if self._is_seen(item)],
            "recent": [
                {"id": doc, "at": instant(at_s)}
                for doc, at_s in reversed(opened.items())
                if self._is_seen(doc)
            ],
        }

    def _is_seen(self, item: str) -> bool:
        if self._accounts.buried(item) is not None:
            return False
        if item in self._accounts.folders:
            return self._workspace_role(self._accounts.folders[item].workspace) is not Role.NONE
        return self._accounts.document_role(self._principal, item) is not Role.NONE

    # --- answers --------------------------------------------------------------------------------

    async def whole(self) -> Shown:
        """Everything they see."""
        documents: list[Shown] = []
        for number, doc in enumerate(self._catalogue, 1):
            row = self.document(doc)
            if row is not None:
                documents.append(row)
            if not number % AT_ONCE:
                await asyncio.sleep(0)
        folders = [row for id in self._accounts.folders if (row := self.folder(id)) is not None]
        shown: Shown = {"workspaces": self.workspaces(), "folders": folders}
        return {**shown, "documents": documents, **self.own()}

    async def seen(self) -> AsyncIterator[list[str]]:
        """The ids of everything they see, in parts."""
        accounts = self._accounts
        yield [id for id in accounts.folders if self.folder(id) is not None]
        yield [str(row["id"]) for row in self.workspaces()]
        known = list(self._catalogue)
        for start in range(0, len(known), AT_ONCE):
            some = known[start : start + AT_ONCE]
            yield [doc for doc in some if self._is_there(doc)]
            await asyncio.sleep(0)

    def _is_there(self, doc: str) -> bool:
        """As `document` is not None."""
        if doc not in self._catalogue:
            return False
        if self._accounts.document_role(self._principal, doc) is Role.NONE:
            return False
        return self._accounts.buried(doc) is None or self.may_tidy(doc)

    def changed(self, items: Iterable[str], sight: Sight) -> Shown:
        """The rows of these things as they are now, and which of them are gone that were seen."""
        documents: list[Shown] = []
        folders: list[Shown] = []
        hidden: list[str] = []
        for item in sorted(items):
            document, folder = self.document(item), self.folder(item)
            if document is not None:
                documents.append(document)
            if folder is not None:
                folders.append(folder)
            if document is None and folder is None:
                hidden.append(item)
        spaces = [item for item in hidden if self._sees_workspace(item)]
        gone = sight.lose(item for item in hidden if item not in spaces)
        sight.see([*(str(one["id"]) for one in (*documents, *folders)), *spaces])
        shown: Shown = {"documents": documents, "folders": folders, "gone": gone}
        return {**shown, "workspaces": self.workspaces()} if spaces or gone else shown

    def place(self, doc: str) -> Shown | None:
        """Where a document is, and what they may do there; None where they may not read it."""
        accounts, filed = self._accounts, self._accounts.documents.get(doc)
        role = accounts.document_role(self._principal, doc)
        if filed is None or role is Role.NONE:
            return None
        buried = accounts.buried(doc)
        within = self._workspace_role(filed.workspace)
        path = accounts.parents(doc)[::-1] if within is not Role.NONE else []
        shown = role if buried is None else min(role, Role.VIEWER)
        space: Shown = {"id": filed.workspace}
        space["name"] = accounts.workspaces[filed.workspace].name
        return {
            "kind": self._catalogue.kind_of(doc),
            "workspace": space if within is not Role.NONE else None,
            "path": [{"id": one, "name": accounts.folders[one].name} for one in path],
            "role": shown.name.lower(),
            "may_move": buried is None and within >= Role.EDITOR,
            "may_tidy": self.may_tidy(doc),
            "favourite": doc in self._activity.favourites.get(user_of(self._principal), ()),
            "trashed": self._trashed(doc, buried).get("trashed"),
        }
