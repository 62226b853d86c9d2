"""Workspaces and documents: who has which role, and what that means for a document's list.

What somebody may do to a document is the most that the workspace, the document, and the share
links that they came by give them.

Invariants.
  W1  A workspace always has an owner whose account is switched on; HOME from the first owner on.
  W2  What may be done is a function of the fields alone, the same at every node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from groupcore.shared import operation
from groupcore.shared.access import Right
from server.accounts.errors import AccountError, forbidden, missing
from server.accounts.names import check_name
from server.accounts.people import HOME, People
from server.accounts.records import FilesChanged, ShareLink, Workspace
from server.accounts.roles import ADMIN, KEEPER, LINK, USER, Role, link_of, right_of, user_of

WORKSPACES_MAX = 1_000
MEMBERS_MAX = 500
"""Most people of a workspace, or with a role for a document: they stand in every block's list."""


@dataclass(frozen=True, slots=True)
class Filed:
    """In which workspace a document is, and who made it."""

    workspace: str
    by: str


class Workspaces(People):
    """Workspaces, the documents in them, and everybody's roles."""

    workspaces: dict[str, Workspace]
    documents: dict[str, Filed]
    document_roles: dict[str, dict[str, Role]]
    links: dict[str, ShareLink]
    document_links: dict[str, set[str]]
    entered: dict[str, set[str]]

    # --- what it comes to -----------------------------------------------------------------------

    def workspace_role(self, principal: str, workspace: str) -> Role:
        """What the principal is in the workspace."""
        if principal == ADMIN:
            return Role.OWNER
        user = self.user(principal)
        return Role.NONE if user is None else self.roles.get(workspace, {}).get(user.id, Role.NONE)

    def knows(self, principal: str, user: str) -> bool:
        """Whether the principal may know of an account: its own, of a workspace of its own, or any.

        Who manages accounts may know of any. Ids are no secrets: others are found by address.
        """
        own = user_of(principal)
        if self.manages(principal) or own == user:
            return True
        return any(own in roles and user in roles for roles in self.roles.values())

    def document_role(self, principal: str, document: str) -> Role:
        """What the principal is for the document, all taken together."""
        filed = self.documents.get(document)
        if filed is None:
            return Role.NONE
        if principal == ADMIN:
            return Role.OWNER
        link = self.links.get(link_of(principal))
        if link is not None:
            return Role.NONE if link.is_revoked or link.document != document else link.role
        user = self.user(principal)
        if user is None:
            return Role.NONE
        found = [self.roles.get(filed.workspace, {}).get(user.id, Role.NONE)]
        found.append(self.document_roles.get(document, {}).get(user.id, Role.NONE))
        found += [link.role for link in self._links_of(document) if user.id in self._came_by(link)]
        return max(found)

    def _links_of(self, document: str) -> list[ShareLink]:
        known = [self.links[link] for link in self.document_links.get(document, ())]
        return [link for link in known if not link.is_revoked]

    def _came_by(self, link: ShareLink) -> set[str]:
        return self.entered.get(link.id, set())

    def rights(self, document: str) -> dict[str, Right]:
        """The access list that the document's outline is to have."""
        filed, listed = self.documents.get(document), {KEEPER: Right.MANAGE}
        if filed is None:
            return listed
        links = self._links_of(document)
        people = [*self.roles.get(filed.workspace, {}), *self.document_roles.get(document, {})]
        for link in links:
            people += self._came_by(link)
            listed[LINK + link.id] = right_of(link.role)
        for user in dict.fromkeys(people):
            right = right_of(self.document_role(USER + user, document))
            if right is not Right.NONE:
                listed[USER + user] = right
        return listed

    # --- workspaces -----------------------------------------------------------------------------

    def _known_workspace(self, workspace: str) -> Workspace:
        if workspace not in self.workspaces:
            raise missing("workspace")
        return self.workspaces[workspace]

    def _check_owns(self, by: str, workspace: str) -> None:
        """What one may not see is not there."""
        self._known_workspace(workspace)
        role = self.workspace_role(by, workspace)
        if role is Role.NONE:
            raise missing("workspace")
        if role is not Role.OWNER:
            raise forbidden()

    def _begin_workspace(self, id: str, name: str, owner: str) -> None:
        self.workspaces[id] = Workspace(id, check_name(name), self.context.time_s)
        self.roles[id] = {owner: Role.OWNER}

    @operation
    def found(
        self, digest: str, name: str, email: str, verifier: str, workspace: str, origin: str
    ) -> str:
        """Use the first owner's link: makes the account and HOME; gives the account's id.

        A HOME that was there before has the name that its owner gives it.
        """
        self._use_owner_link(digest)
        user = self._add_user(name, email, verifier, "")
        if HOME in self.workspaces:
            self.roles[HOME][user.id] = Role.OWNER
            self.workspaces[HOME] = replace(self.workspaces[HOME], name=check_name(workspace))
        else:
            self._begin_workspace(HOME, workspace, user.id)
        self._note(USER + user.id, "owner.created", user.id, origin)
        self._prove(user.id, "owner", USER + user.id, origin, is_told=True)
        self._rights_changed()
        return user.id

    @operation
    def add_workspace(self, by: str, id: str, name: str, origin: str) -> None:
        """Make a workspace of this id whose owner is who asks, who manages accounts."""
        self._check_manages(by)
        owner = user_of(by)
        if not owner:
            raise AccountError("bad_request", "a workspace needs a person as its owner")
        if id in self.workspaces:
            if self.roles[id].get(owner) is Role.OWNER:
                return  # asked again
            raise AccountError("taken", "there is a workspace of this id")
        if len(self.workspaces) >= WORKSPACES_MAX:
            raise AccountError("too_many", f"there are {WORKSPACES_MAX} workspaces already")
        self._begin_workspace(id, name, owner)
        self._note(by, "workspace.created", id, origin)
        self.emit(FilesChanged((id,)))

    @operation
    def rename_workspace(self, by: str, workspace: str, name: str, origin: str) -> None:
        """Change its name; by its owners."""
        self._check_owns(by, workspace)
        known = self.workspaces[workspace]
        self.workspaces[workspace] = Workspace(known.id, check_name(name), known.created_s)
        self._note(by, "workspace.renamed", workspace, origin)
        self.emit(FilesChanged((workspace,)))

    @operation
    def set_role(self, by: str, workspace: str, user: str, role: Role, origin: str) -> None:
        """Give a person this role in the workspace; NONE: takes them out, which one may oneself."""
        self._set_role(by, workspace, user, role, origin)

    def _set_role(self, by: str, workspace: str, user: str, role: Role, origin: str) -> None:
        self._known_user(user)
        leaves = role is Role.NONE and by == USER + user
        if not (leaves and self.workspace_role(by, workspace) is not Role.NONE):
            self._check_owns(by, workspace)
        self._put_role(self.roles[workspace], user, role)
        self._check_owned(workspace)
        self._note(by, f"role.{role.name.lower()}", f"{workspace} {user}", origin)
        self._rights_changed()

    def _put_role(self, roles: dict[str, Role], user: str, role: Role) -> None:
        if role is Role.NONE:
            roles.pop(user, None)
            return
        if user not in roles and len(roles) >= MEMBERS_MAX:
            raise AccountError("too_many", f"at most {MEMBERS_MAX} people can have a role here")
        roles[user] = role

    def _check_owned(self, workspace: str) -> None:
        """W1."""
        owners = [user for user, role in self.roles[workspace].items() if role is Role.OWNER]
        if not any(self.user(USER + user) for user in owners):
            raise AccountError("last_owner", "a workspace needs an owner; make somebody else one")

    # --- documents ------------------------------------------------------------------------------

    def _check_owns_document(self, by: str, document: str) -> None:
        """What one may not see is not there."""
        role = self.document_role(by, document)
        if role is Role.NONE:
            raise missing("document")
        if role is not Role.OWNER:
            raise forbidden()

    @operation
    def file_document(self, by: str, document: str, workspace: str, origin: str) -> None:
        """A document is made in the workspace, by somebody who may edit there; it is theirs."""
        self._file(by, document, workspace, origin)

    def _check_edits(self, by: str, workspace: str) -> None:
        """What one may not see is not there."""
        self._known_workspace(workspace)
        role = self.workspace_role(by, workspace)
        if role is Role.NONE:
            raise missing("workspace")
        if role < Role.EDITOR:
            raise forbidden()

    def _is_gone(self, document: str) -> bool:
        """Whether there was such a document, which was deleted for good."""
        del document
        return False

    def _file(self, by: str, document: str, workspace: str, origin: str) -> bool:
        """Whether it was not filed before."""
        self._check_edits(by, workspace)
        if document in self.documents:
            if self.documents[document] != Filed(workspace, by):
                raise AccountError("taken", "there is a document of this id")
            return False
        if self._is_gone(document):
            raise AccountError("taken", "the document of this id was deleted")
        self.documents[document] = Filed(workspace, by)
        if user_of(by):
            self.document_roles[document] = {user_of(by): Role.OWNER}
        self._note(by, "document.created", document, origin)
        self._rights_changed(document)
        return True

    @operation
    def set_document_role(self, by: str, document: str, user: str, role: Role, origin: str) -> None:
        """Give a person this role for the document, beside that in the workspace; NONE: take it."""
        self._set_document_role(by, document, user, role, origin)

    def _set_document_role(
        self, by: str, document: str, user: str, role: Role, origin: str
    ) -> None:
        self._known_user(user)
        self._check_owns_document(by, document)
        self._put_role(self.document_roles.setdefault(document, {}), user, role)
        self._note(by, f"role.{role.name.lower()}", f"{document} {user}", origin)
        self._rights_changed(document)

    @operation
    def adopt_documents(self, documents: list[str], origin: str) -> int:
        """File documents that were made before there were accounts, in HOME; gives how many."""
        if HOME not in self.workspaces:
            return 0
        new = [document for document in documents if document not in self.documents]
        for document in new:
            self.documents[document] = Filed(HOME, ADMIN)
        if new:
            self._note(ADMIN, "documents.adopted", str(len(new)), origin)
            self._rights_changed(*new)
        return len(new)
