"""Invitations: whoever has the secret may join a workspace, once."""

from __future__ import annotations

from groupcore.shared import operation
from server.accounts.errors import AccountError, missing
from server.accounts.names import check_email
from server.accounts.offers import Offers
from server.accounts.records import Invitation
from server.accounts.roles import USER, Role

INVITATIONS_MAX = 10_000
INVITATION_S = 30 * 24 * 3600.0
"""The longest that one is good for."""


class Invitations(Offers):
    """Invitations that nobody has used yet, by the digests of their secrets."""

    invitations: dict[str, Invitation]

    @operation
    def invite(
        self,
        by: str,
        digest: str,
        workspace: str,
        role: Role,
        email: str,
        valid_s: float,
        origin: str,
    ) -> str:
        """Invite somebody; with `email` only an account with that address. Gives its id."""
        self._check_owns(by, workspace)
        if role is Role.NONE or not 0 < valid_s <= INVITATION_S:
            raise AccountError("bad_request", "an invitation gives a role, for 30 days at most")
        known = self.invitations.get(digest)
        if known is not None and (known.by, known.workspace) == (by, workspace):
            return known.id  # asked again
        if len(self.invitations) >= INVITATIONS_MAX:
            raise AccountError("too_many", "too many invitations are open; withdraw some")
        email = check_email(email) if email else ""
        expires_s = self.context.time_s + valid_s
        id = self._fresh_id()
        self.invitations[digest] = Invitation(id, workspace, role, email, by, expires_s)
        self._note(by, "invitation.created", f"{workspace} {id}", origin)
        return id

    def invitation(self, digest: str, now_s: float) -> Invitation | None:
        """The invitation with this secret, if it is good."""
        found = self.invitations.get(digest)
        return found if found is not None and now_s < found.expires_s else None

    def _take_invitation(self, digest: str, email: str) -> Invitation:
        found = self.invitation(digest, self.context.time_s)
        if found is None:
            raise AccountError("expired", "this invitation was used, withdrawn, or is too old")
        if found.email and found.email != email:
            raise AccountError("forbidden", "this invitation is for another address")
        del self.invitations[digest]
        return found

    def _join(self, found: Invitation, user: str, origin: str) -> None:
        if found.email and self.manages(found.by):
            # Who manages accounts has given this secret to the person with the address.
            self._prove(user, "owner", found.by, origin, is_told=True)
        roles = self.roles[found.workspace]
        self._put_role(roles, user, max(found.role, roles.get(user, Role.NONE)))
        self._note(USER + user, "invitation.accepted", f"{found.workspace} {found.id}", origin)
        self._rights_changed()

    @operation
    def accept_as_new(
        self, digest: str, name: str, email: str, verifier: str, subject: str, origin: str
    ) -> str:
        """Make an account and join; gives the account's id. `subject`: of a provider that has
        verified the address.
        """
        found = self._take_invitation(digest, check_email(email))
        user = self._add_user(name, email, verifier, subject)
        if subject:
            self._prove(user.id, "provider", USER + user.id, origin, is_told=True)
        self._join(found, user.id, origin)
        return user.id

    @operation
    def accept(self, digest: str, user: str, origin: str) -> str:
        """Join with an account that one has; gives the workspace."""
        known = self.user(USER + user)
        if known is None:
            raise missing("user")
        found = self._take_invitation(digest, known.email)
        self._join(found, user, origin)
        return found.workspace

    @operation
    def withdraw(self, by: str, workspace: str, id: str, origin: str) -> None:
        """The invitation is good no more."""
        self._check_owns(by, workspace)
        for digest, found in list(self.invitations.items()):
            if found.id == id and found.workspace == workspace:
                del self.invitations[digest]
                self._note(by, "invitation.withdrawn", f"{workspace} {id}", origin)
                return
        raise missing("invitation")
