"""The accounts: people, workspaces, invitations, sign-ins, tokens, links and the log, in one order.

Idea. One object, opened by every node as nobody in particular; no page can open it. So whatever is
asked for is judged at its place in the order, by the state right before it: a change of a role has
an exact edge, and two owners who take each other's role do not both succeed. Each operation says
on whose behalf it is called and from where; the nodes of a cluster trust each other in this.

What is random (ids, secrets) comes from the order or from who calls; time is the order's, which
never runs back (`self.context.time_s`). What is too old is no good at once, and `expire` takes it
out, so that everything else is a function of the fields alone.

Source. docs/threats.md, T9, T11, T12, T14, T17 and T21; invariant 22.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groupcore.shared import operation
from server.accounts.erasing import Erasing
from server.accounts.errors import AccountError
from server.accounts.roles import USER
from server.administered import OWN_FIELDS
from server.backup.fields import take_part

NAME = "accounts"
"""As what the object is opened."""


FORMERLY: Mapping[str, tuple[str, ...]] = {
    "438cd6d8f46465be": (  # before there were folders
        *("notes", "noted", "chain", "users", "emails", "subjects"),
        *("owner_digest", "owner_expires_s", "roles", "rights_number", "workspaces"),
        *("documents", "document_roles", "links", "document_links", "entered"),
        *("invitations", "sign_ins", "tokens", "link_digests"),
    ),
    "d1b5d85c1ad58d33": (  # before addresses were proved, and there was a second factor
        *("notes", "noted", "chain", "users", "emails", "subjects"),
        *("owner_digest", "owner_expires_s", "roles", "rights_number", "workspaces"),
        *("documents", "document_roles", "links", "document_links", "entered"),
        *("invitations", "sign_ins", "tokens", "link_digests"),
        *("folders", "places", "trash", "doomed", "gone"),
    ),
    "356d806225a753a1": (  # before ids were keyed, attempts counted, and accounts erased
        *("notes", "noted", "chain", "users", "emails", "subjects"),
        *("owner_digest", "owner_expires_s", "roles", "rights_number", "proofs", "workspaces"),
        *("documents", "document_roles", "links", "document_links", "entered"),
        *("workspace_offers", "document_offers", "invitations", "sign_ins", "tokens"),
        *("link_digests", "totps", "recovery", "halves", "passkeys", "letters"),
        *("folders", "places", "trash", "doomed", "gone"),
    ),
    "4fbd5e48c1fc2330": (  # before they were entrusted to an operator
        *("notes", "noted", "chain", "secret", "users", "emails", "subjects"),
        *("owner_digest", "owner_expires_s", "roles", "rights_number", "proofs", "workspaces"),
        *("documents", "document_roles", "links", "document_links", "entered"),
        *("workspace_offers", "document_offers", "invitations", "sign_ins", "tokens", "denials"),
        *("link_digests", "totps", "recovery", "halves", "passkeys", "letters"),
        *("folders", "places", "trash", "doomed", "gone", "erased"),
    ),
}
"""The fields of former versions, in their order, by the fingerprint of each."""


class Accounts(Erasing, check_every=64):
    """All of it; what here touches several parts at once."""

    formerly = FORMERLY
    object_name = NAME

    @operation
    def set_verifier(self, by: str, user: str, verifier: str, keep: str, origin: str) -> None:
        """Change a password: all sign-ins of the person are over, but `keep`."""
        found = self._known_user(user)
        self._check_self_or_manages(by, user)
        self._keep_proof(user)
        self.users[user] = replace(found, verifier=verifier)
        self._note(by, "password.changed", user, origin)
        self._end(lambda _, one: one.principal == USER + user and one.id != keep, "password")

    @operation
    def set_disabled(self, by: str, user: str, is_disabled: bool, origin: str) -> None:
        """Switch an account off, or on again; off, all its sign-ins and tokens are over."""
        self._check_manages(by)
        found = self._known_user(user)
        if found.is_disabled == is_disabled:
            return
        self.users[user] = replace(found, is_disabled=is_disabled)
        for workspace in self.workspaces if is_disabled else ():
            if self.roles[workspace] or workspace not in self.trash:
                self._check_owned(workspace)
        self._note(by, "user.disabled" if is_disabled else "user.enabled", user, origin)
        if is_disabled:
            self._end(lambda _, one: one.principal == USER + user, "disabled")
            self._drop_tokens(user)
        self._rights_changed()

    def has_expired(self, now_s: float) -> bool:
        """Whether there is something for `expire` to do."""
        return (
            any(one.expires_s <= now_s for one in self.sign_ins.values())
            or any(one.expires_s <= now_s for one in self.links.values())
            or any(one.expires_s <= now_s for one in self.tokens.values())
            or any(one.expires_s <= now_s for one in self.invitations.values())
            or any(one.expires_s <= now_s for one in self.letters.values())
            or any(one.expires_s <= now_s for one in self.halves.values())
        )

    @operation
    def expire(self) -> int:
        """Take out what is too old; gives how much that was."""
        now_s = self.context.time_s
        links = [link.id for link in self.links.values() if link.expires_s <= now_s]
        for link in links:
            self._drop_link(link)
        ended = self._end(lambda _, one: one.expires_s <= now_s, "expired")
        tokens = [key for key, one in self.tokens.items() if one.expires_s <= now_s]
        for key in tokens:
            del self.tokens[key]
        invitations = [key for key, one in self.invitations.items() if one.expires_s <= now_s]
        for key in invitations:
            del self.invitations[key]
        return len(links) + ended + len(tokens) + len(invitations) + self._expire_secrets(now_s)

    def _expire_secrets(self, now_s: float) -> int:
        letters = [key for key, one in self.letters.items() if one.expires_s <= now_s]
        for key in letters:
            del self.letters[key]
        halves = [key for key, one in self.halves.items() if one.expires_s <= now_s]
        for key in halves:
            del self.halves[key]
        return len(letters) + len(halves)

    @operation
    def make_user(self, by: str, name: str, email: str, verifier: str, origin: str) -> str:
        """An account without an invitation, by who manages accounts; gives its id."""
        self._check_manages(by)
        if not verifier:
            raise AccountError("bad_request", "an account that is made so needs a password")
        user = self._add_user(name, email, verifier, "")
        self._note(by, "user.created", user.id, origin)
        self._prove(user.id, "owner", by, origin, is_told=True)
        return user.id

    @operation
    def take_back(self, field: str, is_first: bool, part: bytes) -> None:
        """What a backup has of a field, into accounts that are new: the whole, or more of it."""
        if field in OWN_FIELDS:  # the backup may be of a cluster with another operator
            return
        take_part(self, field, is_first, part)
