"""The trash: what was thrown away can be had back, until it is deleted for good.

Idea. Something in the trash is what and where it was, but nobody writes in it: its list lets
people read. What is in a folder, or a workspace, that was thrown away is in the trash with it; what
was there before by itself stays there by itself. Restored, it is where it was, or in the nearest
folder around that is there and not in the trash. Deleted for good, a document has no people, links
or place any more, and is `doomed` until a node has taken its words out of the cluster.

Invariants.
  T1  Nobody writes in a document that is in the trash, from the place in the order on.
  T2  What was deleted for good does not come back; none of the next GONE_MAX gets its id.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.shared import operation
from groupcore.shared.access import Right
from server.accounts.errors import AccountError, forbidden, missing
from server.accounts.people import HOME
from server.accounts.records import Trashed, Workspace
from server.accounts.roles import ADMIN, KEEPER, Role
from server.accounts.shelves import Shelves, check_items
from server.accounts.workspaces import Workspaces

GONE_MAX = 10_000
"""So many of the documents that were deleted are known, the last ones."""
HOME_NAME = "Home"
"""What the first workspace is called where nobody has given it a name."""


class Trash(Shelves):
    """Throwing away, restoring, deleting for good."""

    doomed: dict[str, float]
    gone: dict[str, float]

    def _is_gone(self, document: str) -> bool:
        return document in self.doomed or document in self.gone

    def rights(self, document: str) -> dict[str, Right]:
        """As of its people; T1: what is in the trash can be read."""
        listed = super().rights(document)
        if self.buried(document) is None:
            return listed
        return {
            principal: right if principal == KEEPER else min(right, Right.READ)
            for principal, right in listed.items()
        }

    @operation
    def open_home(self) -> None:
        """Have the first workspace, before it has an owner: without accounts it never has one."""
        if HOME not in self.workspaces:
            self.workspaces[HOME] = Workspace(HOME, HOME_NAME, self.context.time_s)
            self.roles[HOME] = {}

    @operation
    def adopt_documents(self, documents: list[str], origin: str) -> int:
        """As `Workspaces.adopt_documents`; T2: not what was deleted for good."""
        left = [document for document in documents if not self._is_gone(document)]
        adopted: int = Workspaces.adopt_documents.function(self, left, origin)
        return adopted

    # --- throwing away --------------------------------------------------------------------------

    @operation
    def throw_away(self, by: str, items: list[str], origin: str) -> None:
        """Put documents and folders, with what is in them, into the trash; all or none.

        By editors of the workspace, and a document by its owners. What is there stays there.
        """
        check_items(items)
        for item in items:
            self._check_may_tidy(by, item)
            if self.buried(item) is not None:
                continue
            self._bury(by, item)
            self._note(by, f"{self._kind(item)}.trashed", item, origin)

    def _kind(self, item: str) -> str:
        if item in self.workspaces:
            return "workspace"
        return "folder" if item in self.folders else "document"

    def _check_may_tidy(self, by: str, item: str) -> None:
        workspace = self._check_may_see(by, item)
        if item in self.documents and self.document_role(by, item) is Role.OWNER:
            return
        self._check_edits(by, workspace)

    def _bury(self, by: str, item: str) -> None:
        self.trash[item] = Trashed(by, self.context.time_s)
        self._everything_changed(item)

    def _everything_changed(self, item: str) -> None:
        """The item looks different, and what is in it; lists follow."""
        folders, documents = self._contents(item)
        self._files_changed({item, *folders}, documents)
        if documents:
            self._rights_changed(*documents)

    def _contents(self, item: str) -> tuple[set[str], list[str]]:
        """The folders and documents that this is, or that are in it."""
        if item in self.workspaces:
            inside = {one.id for one in self.folders.values() if one.workspace == item}
            filed = self.documents.items()
            return inside, [document for document, one in filed if one.workspace == item]
        if item in self.folders:
            folders = self._beneath(item)
            return folders, self.documents_in(folders)
        return set(), [item]

    @operation
    def remove_workspace(self, by: str, workspace: str, with_documents: bool, origin: str) -> bool:
        """Delete an empty workspace, or put one with all that is in it into the trash.

        By its owners; the first workspace stays. AccountError `not_empty` where that was not asked
        for. Whether it is gone at once.
        """
        self._check_owns(by, workspace)
        if workspace == HOME:
            raise AccountError("forbidden", "the first workspace stays")
        folders, documents = self._contents(workspace)
        if not folders and not documents:
            self._drop_workspace(workspace)
            self._note(by, "workspace.deleted", workspace, origin)
            return True
        if not with_documents:
            raise AccountError("not_empty", "there are documents or folders in this workspace")
        if workspace not in self.trash:
            self._bury(by, workspace)
            self._note(by, "workspace.trashed", workspace, origin)
        return False

    def _drop_workspace(self, workspace: str) -> None:
        for digest, one in list(self.invitations.items()):
            if one.workspace == workspace:
                del self.invitations[digest]
        self.trash.pop(workspace, None)
        del self.workspaces[workspace]
        del self.roles[workspace]
        self._forget_offers(workspace)
        self._rights_changed()

    # --- having it back -------------------------------------------------------------------------

    @operation
    def restore(self, by: str, items: list[str], origin: str) -> None:
        """Take things out of the trash, to where they were or the nearest place; all or none."""
        check_items(items)
        for item in items:
            if item in self.workspaces:
                self._check_owns_seen(by, item)
            else:
                self._check_may_tidy(by, item)
            if item not in self.trash:
                raise AccountError("not_found", "this is not in the trash by itself")
            if item in self.workspaces:
                self._check_owned(item)
            elif self.workspace_of(item) in self.trash:
                raise AccountError("trashed", "its workspace is in the trash; restore that first")
            del self.trash[item]
            self._put_back(item)
            self._everything_changed(item)
            self._note(by, f"{self._kind(item)}.restored", item, origin)

    def _put_back(self, item: str) -> None:
        """To the nearest folder around that is not in the trash; its name is free there."""
        around = self.parents(item)
        hidden = [place for place, folder in enumerate(around) if folder in self.trash]
        place = around[hidden[-1] + 1 :] if hidden else around
        parent = place[0] if place else ""
        if item in self.folders:
            known = self.folders[item]
            name = self._free_name(known.name, known.workspace, parent, but=item)
            self.folders[item] = replace(known, parent=parent, name=name)
        elif item in self.documents and hidden:
            self._place(item, parent)

    # --- for good -------------------------------------------------------------------------------

    @operation
    def delete_for_good(self, by: str, items: list[str], origin: str) -> int:
        """Delete things that are in the trash; gives how many documents that were; all or none.

        A document by its owners; a folder or workspace by the workspace's.
        """
        check_items(items)
        count = 0
        for item in items:
            self._check_may_delete(by, item)
            if item not in self.trash:
                raise missing("thing in the trash")
            count += self._delete(by, item, origin)
        return count

    def _check_may_delete(self, by: str, item: str) -> None:
        if item in self.workspaces:
            self._check_owns_seen(by, item)
            return
        workspace = self._check_may_see(by, item)
        if item in self.folders:
            self._check_owns(by, workspace)
        elif self.document_role(by, item) is not Role.OWNER:
            raise forbidden()

    def _check_owns_seen(self, by: str, workspace: str) -> None:
        """As `_check_owns`, in the words of any other thing that one may not see."""
        if self.workspace_role(by, workspace) is Role.NONE:
            raise missing("document or folder")
        self._check_owns(by, workspace)

    def has_old_trash(self, age_s: float, now_s: float) -> bool:
        """Whether something has been in the trash for so long."""
        return any(one.at_s + age_s <= now_s for one in self.trash.values())

    @operation
    def delete_old(self, age_s: float) -> int:
        """Delete for good what has been in the trash for so long; gives how many documents."""
        now_s = self.context.time_s
        old = [item for item, one in self.trash.items() if one.at_s + age_s <= now_s]
        return sum(self._delete(ADMIN, item, "") for item in old if item in self.trash)

    def _delete(self, by: str, item: str, origin: str) -> int:
        """What a folder holds of things in the trash by themselves stays there."""
        kind, (folders, documents) = self._kind(item), self._contents(item)
        del self.trash[item]
        if kind == "folder":
            folders, documents = self._spare(item, folders)
        for document in documents:
            self._forget_document(document)
        for folder in folders:
            del self.folders[folder]
            self.trash.pop(folder, None)
        self._files_changed({item, *folders}, documents)
        if documents:
            self._rights_changed(*documents)
        self._note(by, f"{kind}.deleted", item, origin)
        if kind == "workspace":
            self._drop_workspace(item)
        return len(documents)

    def _spare(self, item: str, folders: set[str]) -> tuple[set[str], list[str]]:
        """What goes with a folder; the rest is from now on in what the folder was in."""
        spared: set[str] = set()
        for one in folders & self.trash.keys():
            spared |= self._beneath(one)
        going, parent = folders - spared, self.folders[item].parent
        for one in sorted(spared):
            if self.folders[one].parent in going:
                self.folders[one] = replace(self.folders[one], parent=parent)
        documents = self.documents_in(going)
        for document in documents:
            if document in self.trash:
                self._place(document, parent)
        return going, [document for document in documents if document not in self.trash]

    def _forget_document(self, document: str) -> None:
        for link in list(self.document_links.get(document, ())):
            self._drop_link(link)
        del self.documents[document]
        self.document_roles.pop(document, None)
        self._forget_offers(document)
        self.places.pop(document, None)
        self.trash.pop(document, None)
        self.doomed[document] = self.context.time_s

    @operation
    def wiped(self, document: str) -> None:
        """A node has taken the words of a document that was deleted out of the cluster."""
        if self.doomed.pop(document, None) is None:
            return
        self.gone[document] = self.context.time_s
        if len(self.gone) > GONE_MAX:
            del self.gone[next(iter(self.gone))]
