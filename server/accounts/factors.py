"""The second factor: codes by time (RFC 6238), and codes for who has lost the device.

Idea. Who has a second factor is not signed in by a password or a provider: that opens a half
sign-in, a secret of five minutes that is good for nothing but for showing a code. The node that is
asked computes whether a code fits; that no code is good twice is a rule of the order, so two nodes
that are shown the same code at once let one in.

What computes codes has to be kept as it is; codes for recovery are kept as digests.

Invariants.
  C1  Nobody who has a second factor is signed in without it.
  C2  No code is good twice, nor is one that is older than one that was used.
  C3  A half sign-in ends with TRIES_MAX wrong codes.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.shared import operation
from server.accounts.errors import AccountError, forbidden
from server.accounts.links import Links
from server.accounts.records import Half, SignIn, Totp
from server.accounts.roles import USER
from server.accounts.sign_ins import SIGN_IN_S

HALF_S = 300.0
HALVES_MAX = 10
"""Half sign-ins of one account at once; the oldest makes room."""
TRIES_MAX = 5
RECOVERY_COUNT = 10


class Factors(Links):
    """Who has a second factor, and who has to show one."""

    totps: dict[str, Totp]
    recovery: dict[str, set[str]]
    halves: dict[str, Half]

    def has_factor(self, user: str) -> bool:
        """Whether the account asks for a second factor."""
        return user in self.totps

    def _check_one_factor(self, user: str) -> None:
        if self.has_factor(user):  # C1
            raise AccountError("second_factor", "this account asks for a code, too")

    @operation
    def set_totp(
        self, user: str, secret: str, step: int, recovery: list[str], keep: str, origin: str
    ) -> None:
        """The person has shown the code of this step; all other sign-ins of theirs are over.

        `recovery`: digests of the codes for recovery, instead of those of before.
        """
        self._known_user(user)
        if user in self.totps:
            raise AccountError("taken", "there is an authenticator; remove it first")
        self.totps[user] = Totp(secret, step, self.context.time_s)
        self.recovery[user] = set(recovery)
        self._note(USER + user, "factor.added", user, origin)
        self._end(lambda _, one: one.principal == USER + user and one.id != keep, "factor")

    @operation
    def drop_factors(self, by: str, user: str, origin: str) -> None:
        """The account asks for no second factor any more; by who manages accounts, of others.

        One's own is removed by a code (`remove_totp`): who has found an owner's browser has none.
        """
        self._check_manages(by)
        self._known_user(user)
        if by == USER + user:
            raise forbidden()
        if self._forget_factors(user):
            self._note(by, "factor.removed", user, origin)

    @operation
    def remove_totp(self, user: str, step: int, recovery: str, origin: str) -> None:
        """The person has shown a code (C2), and wants to be asked for none any more."""
        self._use_code(user, step, recovery, origin)
        self.totps.pop(user, None)
        if not self.has_factor(user):
            self._forget_factors(user)
        self._note(USER + user, "factor.removed", user, origin)

    def _forget_factors(self, user: str) -> bool:
        """Whether there was one."""
        self.recovery.pop(user, None)
        for digest in [key for key, one in self.halves.items() if one.user == user]:
            del self.halves[digest]
        return self.totps.pop(user, None) is not None

    def _use_code(self, user: str, step: int, recovery: str, origin: str) -> None:
        """C2: a code of this step of the clock, or with this digest one for recovery."""
        totp = self.totps.get(user)
        if recovery and recovery in self.recovery.get(user, ()):
            self.recovery[user].discard(recovery)
            self._note(USER + user, "recovery.used", user, origin)
        elif totp is not None and step > totp.last_step:
            self.totps[user] = replace(totp, last_step=step)
        else:
            raise AccountError("bad_code", "this code is wrong, or was used already")

    @operation
    def use_code(self, user: str, step: int, recovery: str, origin: str) -> None:
        """The person has shown a code (C2), for something that is not taken back."""
        self._use_code(user, step, recovery, origin)

    # --- signing in with it ---------------------------------------------------------------------

    @operation
    def half_sign_in(self, digest: str, user: str) -> None:
        """The person has shown the first factor."""
        if self.user(USER + user) is None:
            raise AccountError("bad_credentials", "address or password is wrong")
        mine = [key for key, one in self.halves.items() if one.user == user]
        if len(mine) >= HALVES_MAX:
            del self.halves[min(mine, key=lambda key: (self.halves[key].expires_s, key))]
        self.halves[digest] = Half(user, self.context.time_s + HALF_S, 0)

    def half(self, digest: str, now_s: float) -> Half | None:
        """The half sign-in with this secret, if it is good."""
        found = self.halves.get(digest)
        return found if found is not None and now_s < found.expires_s else None

    def _good_half(self, digest: str) -> Half:
        found = self.half(digest, self.context.time_s)
        if found is None or self.user(USER + found.user) is None:
            raise AccountError("expired", "this took too long, or too many tries; sign in again")
        return found

    @operation
    def whole_sign_in(
        self,
        half: str,
        step: int,
        recovery: str,
        digest: str,
        node: str,
        agent: str,
        origin: str,
    ) -> SignIn:
        """The second factor, too: the browser is signed in."""
        user = self._good_half(half).user
        self._use_code(user, step, recovery, origin)
        del self.halves[half]
        self._note(USER + user, "signed_in", "", origin)
        return self._add_sign_in(digest, USER + user, node, agent, SIGN_IN_S)

    @operation
    def wrong_code(self, half: str, origin: str) -> None:
        """C3; ordered, so that tries at several nodes count together."""
        found = self.halves.get(half)
        if found is None:
            return
        self._note(USER + found.user, "sign_in.denied", "code", origin)
        if found.tries + 1 >= TRIES_MAX:
            del self.halves[half]
        else:
            self.halves[half] = replace(found, tries=found.tries + 1)
