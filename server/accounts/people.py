"""People: accounts, whose address is proved, and the one-time link of the first owner.

Whoever makes an account by an open invitation names any address. What others give to an address,
and whom an identity provider names by one, must not reach who has only claimed it: so each account
has a proof of its address, or none yet.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.shared import operation
from server.accounts.errors import AccountError, forbidden, missing
from server.accounts.ids import Ids
from server.accounts.names import check_email, check_name
from server.accounts.records import Proof, RightsChanged, User
from server.accounts.roles import ADMIN, USER, Role, user_of

USERS_MAX = 10_000
OWNER_LINK_S = 24 * 3600.0
HOME = "home"
"""The workspace of the first owner; its owners manage accounts."""


class People(Ids):
    """The accounts, and their roles in the workspaces that decide who may manage them."""

    users: dict[str, User]
    emails: dict[str, str]
    subjects: dict[str, str]
    owner_digest: str = ""
    owner_expires_s: float = 0.0
    roles: dict[str, dict[str, Role]]
    rights_number: int = 0
    proofs: dict[str, Proof]

    # --- who may --------------------------------------------------------------------------------

    def user(self, principal: str) -> User | None:
        """The account of a principal, if it has one that is switched on."""
        found = self.users.get(user_of(principal))
        return None if found is None or found.is_disabled else found

    def manages(self, principal: str) -> bool:
        """Whether the principal manages accounts: an owner of HOME, or who is at the machine."""
        if principal == ADMIN:
            return True
        found = self.user(principal)
        return found is not None and self.roles.get(HOME, {}).get(found.id) is Role.OWNER

    def _check_manages(self, by: str) -> None:
        if not self.manages(by):
            raise forbidden()

    def _rights_changed(self, *documents: str) -> None:
        """What may be done to these documents is another now; none named: to any."""
        self.rights_number += 1
        self.emit(RightsChanged(documents))

    # --- the first owner ------------------------------------------------------------------------

    @property
    def has_owner(self) -> bool:
        """Whether somebody manages accounts."""
        return any(self.manages(USER + user) for user in self.roles.get(HOME, {}))

    @operation
    def offer_ownership(self, digest: str, anew: bool = False) -> bool:
        """Let who has this secret become the first owner, once, for a day.

        False, and nothing done, when there is an owner, or such an offer (`anew` replaces it).
        """
        is_open = bool(self.owner_digest) and self.context.time_s < self.owner_expires_s
        if self.has_owner or (is_open and not anew):
            return False
        self.owner_digest = digest
        self.owner_expires_s = self.context.time_s + OWNER_LINK_S
        self._note(ADMIN, "owner_link.created", "", "")
        return True

    def owner_link_open(self, digest: str, now_s: float) -> bool:
        """Whether this is the secret that makes the first owner."""
        return (
            bool(self.owner_digest) and digest == self.owner_digest and now_s < self.owner_expires_s
        )

    def _use_owner_link(self, digest: str) -> None:
        if not self.owner_link_open(digest, self.context.time_s):
            raise AccountError("expired", "this link was used or is too old; print a new one")
        self.owner_digest = ""

    # --- accounts -------------------------------------------------------------------------------

    def _add_user(self, name: str, email: str, verifier: str, subject: str) -> User:
        email = check_email(email)
        if email in self.emails or (subject and subject in self.subjects):
            raise AccountError("taken", "there is an account with this address; sign in")
        if len(self.users) >= USERS_MAX:
            raise AccountError("too_many", f"there are {USERS_MAX} accounts already")
        user = User(
            self._fresh_id(),
            check_name(name),
            email,
            verifier,
            self.context.time_s,
            subject=subject,
        )
        self.users[user.id] = user
        self.emails[email] = user.id
        if subject:
            self.subjects[subject] = user.id
        return user

    def by_email(self, email: str) -> User | None:
        """The account with this address, whether it is switched on or not."""
        return self.users.get(self.emails.get(email, ""))

    def by_subject(self, subject: str) -> User | None:
        """The account of a person at an identity provider."""
        return self.users.get(self.subjects.get(subject, ""))

    def is_proved(self, user: str) -> bool:
        """Whether the account's address is known to be its person's.

        In accounts of before there were proofs that is what the provider has said: who has signed
        in there and has no password was made by it, with the address that it had verified.
        """
        found = self.users.get(user)
        return user in self.proofs or (
            found is not None and found.subject != "" and found.verifier == ""
        )

    def _prove(self, user: str, how: str, by: str, origin: str, is_told: bool = False) -> None:
        """From here on the address is the person's; nothing, if it was before.

        `is_told`: the entry of what has proved it says so. Operations of before there were proofs
        make no further entry: done again from a log, they have to make those of then.
        """
        if user not in self.proofs:
            self.proofs[user] = Proof(how, by, self.context.time_s)
            if not is_told:
                self._note(by, "address.proved", f"{user} {how}", origin)

    def _keep_proof(self, user: str) -> None:
        """What proves the address now will prove it when the account has a password."""
        if self.is_proved(user) and user not in self.proofs:
            self.proofs[user] = Proof("provider", USER + user, self.context.time_s)

    def _known_user(self, user: str) -> User:
        if user not in self.users:
            raise missing("user")
        return self.users[user]

    def _check_self_or_manages(self, by: str, user: str) -> None:
        found = self.user(by)
        if (found is None or found.id != user) and not self.manages(by):
            raise forbidden()

    @operation
    def rename_user(self, by: str, user: str, name: str, origin: str) -> None:
        """Change what a person is called; by that person, or who manages accounts."""
        found = self._known_user(user)
        self._check_self_or_manages(by, user)
        self.users[user] = replace(found, name=check_name(name))
        self._note(by, "user.renamed", user, origin)

    @operation
    def link_subject(self, user: str, subject: str, origin: str) -> None:
        """This person is that subject of an identity provider."""
        found = self._known_user(user)
        if self.subjects.get(subject, user) != user or found.subject not in ("", subject):
            raise AccountError("taken", "another account belongs to this person at the provider")
        self.users[user] = replace(found, subject=subject)
        self.subjects[subject] = user
        self._note(USER + user, "user.linked", user, origin)
