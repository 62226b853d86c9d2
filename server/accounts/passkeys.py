"""Passkeys (WebAuthn): keys in a device, bound to this cluster's name, instead of a password or
beside it.

Idea. A browser signs a challenge that follows from its half sign-in, so it is good once, as that
is. Behind a password the key is the second factor. Alone it is both: the device has asked for a
finger or a PIN, and says so. The node that is asked verifies the signature; that the half is used
once, and that a key's counter grows, are rules of the order.

Invariants.
  P1  A key signs in its own account only, and one that has asked its person nothing only behind
      the first factor.
  P2  A counter that does not grow is that of a copy, and is refused.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.shared import operation
from server.accounts.errors import AccountError, missing
from server.accounts.factors import HALF_S, Factors
from server.accounts.names import check_name
from server.accounts.records import Half, Passkey, SignIn
from server.accounts.roles import USER
from server.accounts.sign_ins import SIGN_IN_S

PASSKEYS_EACH = 10
NAMELESS_MAX = 1_000
"""Half sign-ins of nobody yet; the oldest makes room."""


class Passkeys(Factors):
    """Keys, by the ids that the devices have given them, in base64url."""

    passkeys: dict[str, Passkey]

    def has_factor(self, user: str) -> bool:
        """Whether the account asks for a second factor."""
        return super().has_factor(user) or bool(self.passkeys_of(user))

    def passkeys_of(self, user: str) -> list[str]:
        """The ids of the account's keys, the oldest first."""
        mine = [(one.created_s, id) for id, one in self.passkeys.items() if one.user == user]
        return [id for _, id in sorted(mine)]

    @operation
    def add_passkey(
        self,
        user: str,
        id: str,
        name: str,
        public_key: bytes,
        sign_count: int,
        recovery: list[str],
        keep: str,
        origin: str,
    ) -> bool:
        """The person has made a key. Whether it is the first second factor of the account: then
        `recovery` are the digests of its codes, and all other sign-ins are over.
        """
        self._known_user(user)
        if id in self.passkeys:
            raise AccountError("taken", "this key is known already")
        if len(self.passkeys_of(user)) >= PASSKEYS_EACH:
            raise AccountError("too_many", f"one person has {PASSKEYS_EACH} keys at most")
        is_first = not self.has_factor(user)
        now_s = self.context.time_s
        self.passkeys[id] = Passkey(user, check_name(name), public_key, sign_count, now_s)
        self._note(USER + user, "passkey.added", user, origin)
        if is_first:
            self.recovery[user] = set(recovery)
            self._end(lambda _, one: one.principal == USER + user and one.id != keep, "factor")
        return is_first

    @operation
    def remove_passkey(self, user: str, id: str, step: int, recovery: str, origin: str) -> None:
        """The person has shown a code, and wants the key to be good no more."""
        found = self.passkeys.get(id)
        if found is None or found.user != user:
            raise missing("passkey")
        self._use_code(user, step, recovery, origin)
        del self.passkeys[id]
        if not self.has_factor(user):
            self._forget_factors(user)
        self._note(USER + user, "passkey.removed", user, origin)

    def _forget_factors(self, user: str) -> bool:
        mine = self.passkeys_of(user)
        for id in mine:
            del self.passkeys[id]
        return super()._forget_factors(user) or bool(mine)

    @operation
    def open_half(self, digest: str) -> None:
        """Somebody wants to sign in by a key, and has not said who they are."""
        nameless = [key for key, one in self.halves.items() if not one.user]
        if len(nameless) >= NAMELESS_MAX:
            del self.halves[min(nameless, key=lambda key: (self.halves[key].expires_s, key))]
        self.halves[digest] = Half("", self.context.time_s + HALF_S, 0)

    @operation
    def sign_in_by_passkey(
        self,
        half: str,
        id: str,
        sign_count: int,
        is_verified: bool,
        digest: str,
        node: str,
        agent: str,
        origin: str,
    ) -> SignIn:
        """The key has signed the half's challenge; `is_verified`: it has asked its person."""
        opened, found = self.half(half, self.context.time_s), self.passkeys.get(id)
        if opened is None:
            raise AccountError("expired", "this took too long; sign in again")
        if found is None or self.user(USER + found.user) is None:
            raise AccountError("bad_passkey", "this key is not known here")
        if opened.user not in ("", found.user) or not (opened.user or is_verified):  # P1
            raise AccountError("bad_passkey", "this key is not enough here")
        if (sign_count or found.sign_count) and sign_count <= found.sign_count:  # P2
            raise AccountError("bad_passkey", "this key was copied")
        del self.halves[half]
        self.passkeys[id] = replace(found, sign_count=sign_count)
        self._note(USER + found.user, "signed_in", "", origin)
        return self._add_sign_in(digest, USER + found.user, node, agent, SIGN_IN_S)
