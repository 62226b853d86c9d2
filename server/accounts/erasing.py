"""Erasing a person: what lets them in and says who they are goes, everywhere, and stays gone.

Idea. The account is taken out of the order's state with all that hangs on it: name, address,
password, sign-ins, tokens, factors, roles. What others share with the person stays, by an account
that is no more: only its id is left, which says nothing, in who has made what and in the audit log.
That the id was erased is kept for good, so that a backup of before, put back, is erased again.

What nobody else owns is handed over to somebody, left to the owners of its workspace, or put into
the trash, as the person (or who manages accounts) says.

Invariants.
  E1  Nothing of the state holds the name, the address or a secret of an account that was erased.
  E2  An account that was erased is never there again: no operation makes one of its id.
  E3  W1 holds for every workspace that is not in the trash; the first one always has an owner,
      but behind a backup that is put back without its owner: then its owner's link is offered anew.
"""

from __future__ import annotations

from groupcore.shared import operation
from server.accounts.errors import AccountError, forbidden, missing
from server.accounts.people import HOME
from server.accounts.records import Erased
from server.accounts.roles import ADMIN, USER, Role
from server.accounts.trash import Trash

TRASH, STAY, HAND_OVER = "trash", "stay", "hand_over"
FATES = (TRASH, STAY, HAND_OVER)
"""What becomes of documents of which the person is the only owner."""


class Erasing(Trash):
    """Accounts that were erased, by their ids."""

    erased: dict[str, Erased]

    # --- what it comes to -----------------------------------------------------------------------

    def only_theirs(self, user: str) -> list[str]:
        """The documents, not in the trash, of which the person alone is an owner by name."""
        return [
            document
            for document, roles in self.document_roles.items()
            if roles.get(user) is Role.OWNER
            and not self._others(roles, user)
            and self.buried(document) is None
        ]

    def lone_workspaces(self, user: str) -> list[str]:
        """The workspaces, not in the trash, of which nobody else is an owner."""
        return [
            workspace
            for workspace, roles in self.roles.items()
            if roles.get(user) is Role.OWNER
            and not self._others(roles, user)
            and workspace not in self.trash
        ]

    def _others(self, roles: dict[str, Role], user: str) -> list[str]:
        """Other owners whose account is switched on."""
        owners = [one for one, role in roles.items() if role is Role.OWNER and one != user]
        return [one for one in owners if self.user(USER + one) is not None]

    def has_company(self, workspace: str, user: str) -> bool:
        """Whether somebody else is in the workspace."""
        return any(one != user and one in self.users for one in self.roles[workspace])

    # --- doing it -------------------------------------------------------------------------------

    @operation
    def erase(self, by: str, user: str, fate: str, heir: str, origin: str) -> None:
        """Erase an account; by its person, or who manages accounts. Nothing, if it was before.

        AccountError `last_owner` where a workspace with other people would have no owner: `heir`
        (an account, with HAND_OVER) takes such ones, but never the first workspace.
        """
        if by != USER + user and not self.manages(by):
            raise forbidden()
        if user in self.erased and user not in self.users:
            return
        self._known_user(user)
        if fate not in FATES or (fate == HAND_OVER) != bool(heir):
            raise AccountError("bad_request", f"say one of {', '.join(FATES)}, and to whom")
        if heir and (heir == user or self.user(USER + heir) is None or not self.is_proved(heir)):
            raise missing("account that could take it over")
        for workspace in self.lone_workspaces(user):
            if workspace == HOME or (self.has_company(workspace, user) and not heir):
                name = self.workspaces[workspace].name
                raise AccountError("last_owner", f"make somebody else an owner of {name} first")
        self._part(by, user, fate, heir)
        self._erase(user, heir)
        self._note(by, "user.erased", user, origin)

    def _part(self, by: str, user: str, fate: str, heir: str) -> None:
        """What nobody else owns goes where it is to go."""
        documents, going = self.only_theirs(user), self.lone_workspaces(user)
        for workspace in going:
            if heir:
                self._put_role(self.roles[workspace], heir, Role.OWNER)
            else:
                self._bury(by, workspace)
        for document in documents:
            if heir:
                self._put_role(self.document_roles[document], heir, Role.OWNER)
            elif fate == TRASH and self.buried(document) is None:
                self._bury(by, document)

    def _erase(self, user: str, heir: str) -> None:
        """E1, for what the state holds of the person."""
        found = self.users[user]
        self._clear(user)
        for roles in (*self.roles.values(), *self.document_roles.values()):
            roles.pop(user, None)
        for kept in (self.workspace_offers, self.document_offers):
            for place in [place for place, offers in kept.items() if user in offers]:
                del kept[place][user]
                if not kept[place]:
                    del kept[place]
        for people in self.entered.values():
            people.discard(user)
        for digest, one in list(self.invitations.items()):
            if one.email == found.email:
                del self.invitations[digest]
        self.proofs.pop(user, None)
        self.denials.pop(user, None)
        self.emails.pop(found.email, None)
        del self.users[user]
        self.erased[user] = Erased(found.created_s, self.context.time_s, heir)
        self._rights_changed()

    # --- behind a backup that is put back -------------------------------------------------------

    @operation
    def erase_again(self, user: str, created_s: float, heir: str) -> bool:
        """Erase an account of a backup that was erased behind it; whether it was there.

        `created_s` tells it from another one's of the same id. Workspaces that have no owner then
        are for the heir, or for who may edit there, or go into the trash.
        """
        found = self.users.get(user)
        if found is None or abs(found.created_s - created_s) > 0.001:
            return False
        known = heir if heir != user and self.user(USER + heir) is not None else ""
        going = self.lone_workspaces(user)
        for workspace in going:
            taker = known or self._next_owner(workspace, user)
            if taker:
                self._put_role(self.roles[workspace], taker, Role.OWNER)
            elif workspace != HOME:
                self._bury(ADMIN, workspace)
        for document in self.only_theirs(user) if known else ():
            self._put_role(self.document_roles[document], known, Role.OWNER)
        self._erase(user, heir)
        self._note(ADMIN, "user.erased", user, "")
        return True

    def _next_owner(self, workspace: str, user: str) -> str:
        """Who may do the most in a workspace, but only read; never of the first one."""
        able = [
            (role, one)
            for one, role in self.roles[workspace].items()
            if one != user and role is Role.EDITOR and self.user(USER + one) is not None
        ]
        return max(able)[1] if able and workspace != HOME else ""
