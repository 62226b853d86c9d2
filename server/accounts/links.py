"""Share links: whoever has the secret has a role for one document.

A visitor who has no account signs in as `link:<id>`; a person who has one has what the link gives
beside their other roles, as long as the link is good.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.shared import operation
from server.accounts.errors import AccountError, missing
from server.accounts.records import ShareLink, SignIn
from server.accounts.roles import LINK, USER, Role
from server.accounts.tokens import Tokens
from server.accounts.workspaces import MEMBERS_MAX

LINKS_MAX = 50
"""Most links of a document that are not revoked."""
LINK_S = 366 * 24 * 3600.0
VISIT_S = 7 * 24 * 3600.0
"""How long a visitor stays signed in, if the link is good that long."""


class Links(Tokens):
    """Links, by their ids; those that were revoked stay listed until they would have expired."""

    link_digests: dict[str, str]

    def link_by(self, digest: str, now_s: float) -> ShareLink | None:
        """The link with this secret, if it is good."""
        found = self.links.get(self.link_digests.get(digest, ""))
        if found is None or found.is_revoked or now_s >= found.expires_s:
            return None
        return found

    @operation
    def add_link(
        self,
        by: str,
        digest: str,
        document: str,
        role: Role,
        valid_s: float,
        verifier: str,
        origin: str,
    ) -> str:
        """A link to a document, by its owners; gives its id."""
        self._check_owns_document(by, document)
        if role not in (Role.VIEWER, Role.COMMENTER, Role.EDITOR) or not 0 < valid_s <= LINK_S:
            raise AccountError("bad_request", "a link gives view, comment or edit, for a year")
        known = self.links.get(self.link_digests.get(digest, ""))
        if known is not None and (known.by, known.document) == (by, document):
            return known.id  # asked again
        if len(self._links_of(document)) >= LINKS_MAX:
            raise AccountError("too_many", f"a document has {LINKS_MAX} links at most")
        now_s, id = self.context.time_s, self._fresh_id()
        link = ShareLink(id, digest, document, role, by, now_s, now_s + valid_s, verifier)
        self.links[id] = link
        self.link_digests[digest] = id
        self.document_links.setdefault(document, set()).add(id)
        self._note(by, "link.created", f"{document} {id} {role.name.lower()}", origin)
        self._rights_changed(document)
        return id

    @operation
    def revoke_link(self, by: str, document: str, id: str, origin: str) -> None:
        """The link is good no more, and who came by it is out."""
        self._check_owns_document(by, document)
        link = self.links.get(id)
        if link is None or link.document != document:
            raise missing("link")
        if not link.is_revoked:
            self.links[id] = replace(link, is_revoked=True)
            self._note(by, "link.revoked", f"{document} {id}", origin)
            self._shut(id, "link")

    def _shut(self, id: str, reason: str) -> None:
        self.entered.pop(id, None)
        self._end(lambda _, one: one.principal == LINK + id, reason)
        self._rights_changed(self.links[id].document)

    @operation
    def visit(self, link: str, digest: str, node: str, agent: str, origin: str) -> SignIn:
        """Sign somebody in who came by a link and has no account here."""
        found = self._good_link(link)
        valid_s = min(VISIT_S, found.expires_s - self.context.time_s)
        self._note(LINK + link, "link.entered", found.document, origin)
        return self._add_sign_in(digest, LINK + link, node, agent, valid_s)

    @operation
    def enter_link(self, link: str, user: str, origin: str) -> None:
        """A person with an account came by a link."""
        found = self._good_link(link)
        if self.user(USER + user) is None:
            raise missing("user")
        people = self.entered.setdefault(link, set())
        if user in people:
            return
        if len(people) >= MEMBERS_MAX:
            raise AccountError("too_many", f"{MEMBERS_MAX} people came by this link already")
        people.add(user)
        self._note(USER + user, "link.entered", found.document, origin)
        self._rights_changed(found.document)

    def _good_link(self, link: str) -> ShareLink:
        found = self.links.get(link)
        if found is None or found.is_revoked or self.context.time_s >= found.expires_s:
            raise missing("link")
        return found

    def _drop_link(self, id: str) -> None:
        link = self.links[id]
        self._shut(id, "expired")
        del self.links[id]
        del self.link_digests[link.digest]
        left = self.document_links[link.document]
        left.discard(id)
        if not left:
            del self.document_links[link.document]
