"""Folders in workspaces, and where documents are: one order decides who has moved what.

Idea. A document is in a workspace (`documents`), and there in a folder (`places`) or at the top. A
folder has no rights of its own: what somebody may do follows from the workspace and the document.
What is in the trash keeps its place: a folder in the trash takes all that is in it along. Moving,
renaming and making folders is for editors of the workspace; taking something to another
workspace, where other people may read it, is for its owners.

Invariants.
  F1  No folder is in itself, however moves meet; each is in its parent's workspace.
  F2  Folders are nested DEPTH_MAX deep at most, counting what is in the trash.
  F3  Two folders in one place have different names, upper and lower case alike.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.objects.parsing import is_identifier
from groupcore.shared import operation
from server.accounts.errors import AccountError, missing
from server.accounts.names import check_name
from server.accounts.proofs import Proofs
from server.accounts.records import FilesChanged, Folder, Trashed
from server.accounts.roles import Role
from server.accounts.workspaces import Filed

DEPTH_MAX = 8
"""So many folders are in each other at most."""
FOLDER_NAME_MAX = 120
FOLDERS_MAX = 10_000
"""Most folders of all workspaces together."""
ITEMS_MAX = 100
"""So many things are moved, thrown away or restored at once."""


class Shelves(Proofs):
    """Folders and places. Items are documents and folders, by their ids; no two are the same."""

    folders: dict[str, Folder]
    places: dict[str, str]
    trash: dict[str, Trashed]

    # --- where something is ---------------------------------------------------------------------

    def parents(self, item: str) -> list[str]:
        """The folders that a document or folder is in, the nearest first."""
        folder = self.folders.get(item)
        above = folder.parent if folder is not None else self.places.get(item, "")
        found: list[str] = []
        while above:
            found.append(above)
            above = self.folders[above].parent
        return found

    def workspace_of(self, item: str) -> str:
        """The workspace of a document or folder; empty when there is no such thing."""
        folder = self.folders.get(item)
        if folder is not None:
            return folder.workspace
        filed = self.documents.get(item)
        return "" if filed is None else filed.workspace

    def buried(self, item: str) -> Trashed | None:
        """Who put this, or what it is in, into the trash; None when it is not there."""
        if not self.trash:
            return None
        for one in (item, *self.parents(item), self.workspace_of(item)):
            if one in self.trash:
                return self.trash[one]
        return None

    def _beneath(self, folder: str) -> set[str]:
        """The folder and all folders in it."""
        children: dict[str, list[str]] = {}
        for one in self.folders.values():
            children.setdefault(one.parent, []).append(one.id)
        found, waiting = {folder}, [folder]
        while waiting:
            below = children.get(waiting.pop(), [])
            found.update(below)
            waiting += below
        return found

    def documents_in(self, folders: set[str]) -> list[str]:
        """The documents that are right in one of these folders."""
        return [document for document, place in self.places.items() if place in folders]

    # --- who may --------------------------------------------------------------------------------

    def _check_may_see(self, by: str, item: str) -> str:
        """The item's workspace; what one may not see is not there."""
        workspace = self.workspace_of(item)
        is_document = item in self.documents
        role = self.document_role(by, item) if is_document else self.workspace_role(by, workspace)
        if not workspace or role is Role.NONE:
            raise missing("document or folder")
        return workspace

    def _check_place(self, by: str, workspace: str, folder: str) -> None:
        """Whether somebody may put something there."""
        self._check_edits(by, workspace)
        if workspace in self.trash:
            raise AccountError("trashed", "this workspace is in the trash; restore it first")
        if not folder:
            return
        if folder not in self.folders or self.folders[folder].workspace != workspace:
            raise missing("folder")
        if self.buried(folder) is not None:
            raise AccountError("trashed", "this folder is in the trash; restore it first")

    # --- documents ------------------------------------------------------------------------------

    @operation
    def file_into(self, by: str, document: str, workspace: str, folder: str, origin: str) -> None:
        """As `file_document`, in this folder of the workspace; empty: at its top."""
        self._check_place(by, workspace, folder)
        if self._file(by, document, workspace, origin) and folder:
            self.places[document] = folder

    # --- folders --------------------------------------------------------------------------------

    def _free_name(self, name: str, workspace: str, parent: str, but: str = "") -> str:
        """F3: this name, or the first with a number behind it that no other folder there has."""
        taken = {
            one.name.casefold()
            for one in self.folders.values()
            if (one.workspace, one.parent) == (workspace, parent)
            and one.id != but
            and one.id not in self.trash
        }
        free, number = name, 1
        while free.casefold() in taken:
            number += 1
            tail = f" {number}"
            free = name[: FOLDER_NAME_MAX - len(tail)].rstrip() + tail
        return free

    @operation
    def make_folder(
        self, by: str, id: str, workspace: str, parent: str, name: str, origin: str
    ) -> Folder:
        """A new folder of this id; its name gets a number if another one there is called so."""
        self._check_place(by, workspace, parent)
        name = check_name(name, "name", FOLDER_NAME_MAX)
        known = self.folders.get(id)
        if known is not None and (known.by, known.workspace) == (by, workspace):
            return known  # asked again
        if not is_identifier(id) or known is not None or id in self.documents:
            raise AccountError("taken", "there is a document or folder of this id")
        if id in self.workspaces:
            raise AccountError("taken", "there is a workspace of this id")
        if len(self.folders) >= FOLDERS_MAX:
            raise AccountError("too_many", f"there are {FOLDERS_MAX} folders already")
        if parent and len(self.parents(parent)) + 2 > DEPTH_MAX:
            raise AccountError("too_deep", f"folders are nested {DEPTH_MAX} deep at most")
        name = self._free_name(name, workspace, parent)
        made = Folder(id, workspace, parent, name, by, self.context.time_s)
        self.folders[id] = made
        self._note(by, "folder.created", id, origin)
        self.emit(FilesChanged((id,)))
        return made

    @operation
    def rename_folder(self, by: str, folder: str, name: str, origin: str) -> Folder:
        """Change a folder's name; it gets a number if another one there is called so."""
        known = self._known_folder(by, folder)
        name = check_name(name, "name", FOLDER_NAME_MAX)
        name = self._free_name(name, known.workspace, known.parent, but=folder)
        self.folders[folder] = renamed = replace(known, name=name)
        self._note(by, "folder.renamed", folder, origin)
        self.emit(FilesChanged((folder,)))
        return renamed

    def _known_folder(self, by: str, folder: str) -> Folder:
        """A folder that somebody may arrange; what one may not see is not there."""
        known = self.folders.get(folder)
        if known is None or self.workspace_role(by, known.workspace) is Role.NONE:
            raise missing("folder")
        self._check_place(by, known.workspace, folder)
        return known

    # --- moving ---------------------------------------------------------------------------------

    @operation
    def move(self, by: str, items: list[str], workspace: str, folder: str, origin: str) -> None:
        """Put documents and folders into this folder, or at the workspace's top; all or none.

        AccountError `cycle` for a folder that is to go into itself, `too_deep`, `trashed`, and
        `forbidden` for what only owners may take to another workspace.
        """
        check_items(items)
        self._check_place(by, workspace, folder)
        for item in items:
            source = self._check_may_see(by, item)
            if self.buried(item) is not None:
                raise AccountError("trashed", "this is in the trash; restore it first")
            self._check_may_move(by, item, source, workspace)
            if item in self.folders:
                self._move_folder(item, workspace, folder)
            else:
                self._move_document(item, workspace, folder)
            kind = "folder" if item in self.folders else "document"
            self._note(by, f"{kind}.moved", f"{item} {workspace} {folder}".rstrip(), origin)
        self.emit(FilesChanged(tuple(items)))

    def _check_may_move(self, by: str, item: str, source: str, workspace: str) -> None:
        if source == workspace:
            self._check_edits(by, source)
        elif item in self.folders:
            self._check_owns(by, source)
        else:
            self._check_owns_document(by, item)

    def _move_document(self, document: str, workspace: str, folder: str) -> None:
        filed = self.documents[document]
        self._place(document, folder)
        if filed.workspace != workspace:
            self.documents[document] = Filed(workspace, filed.by)
            self._rights_changed(document)

    def _place(self, document: str, folder: str) -> None:
        if folder:
            self.places[document] = folder
        else:
            self.places.pop(document, None)

    def _move_folder(self, id: str, workspace: str, parent: str) -> None:
        moved, known = self._beneath(id), self.folders[id]
        if parent in moved:  # F1
            raise AccountError("cycle", "a folder cannot be moved into itself")
        above = len(self.parents(parent)) + 1 if parent else 0
        own = len(self.parents(id))
        deepest = max(len(self.parents(one)) - own for one in moved)
        if above + deepest + 1 > DEPTH_MAX:  # F2
            raise AccountError("too_deep", f"folders are nested {DEPTH_MAX} deep at most")
        name = self._free_name(known.name, workspace, parent, but=id)
        self.folders[id] = replace(known, parent=parent, name=name)
        if known.workspace == workspace:
            return
        for one in moved:
            self.folders[one] = replace(self.folders[one], workspace=workspace)
        documents = self.documents_in(moved)
        for document in documents:
            self.documents[document] = Filed(workspace, self.documents[document].by)
        self._files_changed(moved, documents)
        if documents:
            self._rights_changed(*documents)

    def _files_changed(self, folders: set[str], documents: list[str]) -> None:
        self.emit(FilesChanged((*sorted(folders), *documents)))


def check_items(items: list[str]) -> None:
    """AccountError unless these are so many things as are taken at once."""
    if not 1 <= len(items) <= ITEMS_MAX:
        raise AccountError("bad_request", f"name 1 to {ITEMS_MAX} documents and folders")
