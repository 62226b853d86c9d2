"""What an account's person is told of those who tried to sign in as them, and did not.

Idea. Wrong passwords and codes are counted for the account, from one sign-in to the next. Who signs
in is shown how many there were, for a while; a sign-in behind which nothing was tried takes nothing
away from what is shown.
"""

from __future__ import annotations

from groupcore.shared import operation
from server.accounts.records import Denials, SignIn
from server.accounts.roles import user_of
from server.accounts.sign_ins import SignIns

SHOWN_S = 7 * 24 * 3600.0
"""So long it is shown what was tried before the last sign-in."""
NONE = Denials(0, 0.0, 0, 0.0)


class Denied(SignIns):
    """Tries that failed, by account; those of before are not known."""

    denials: dict[str, Denials]

    @operation
    def deny(self, user: str, about: str, origin: str) -> int:
        """Somebody has shown a wrong secret of this account, or of none; gives how many since the
        last sign-in. `about`: what it was, or for no account a mark of the address.
        """
        if user not in self.users:
            self._note("", "sign_in.denied", about, origin)
            return 0
        self._note("", "sign_in.denied", f"{user} {about}".rstrip(), origin)
        found = self.denials.get(user, NONE)
        since, now_s = found.since + 1, self.context.time_s
        self.denials[user] = Denials(since, now_s, found.before, found.before_s)
        return since

    def denied(self, user: str, now_s: float) -> tuple[int, float]:
        """How often somebody failed to sign in, and when last: since the last sign-in, and between
        that and the one before.
        """
        found = self.denials.get(user, NONE)
        before = found.before if now_s - found.before_s < SHOWN_S else 0
        count = found.since + before
        return (count, max(found.since_s, found.before_s if before else 0.0)) if count else (0, 0.0)

    def address_mark(self, email: str) -> str:
        """What the log says of an address that no account has: the same for the same one."""
        return f"address-{self._digest('address', email)[:16]}" if email and self.secret else ""

    def _add_sign_in(
        self, digest: str, principal: str, node: str, agent: str, valid_s: float
    ) -> SignIn:
        found = self.denials.get(user_of(principal))
        if found is not None and found.since:
            self.denials[user_of(principal)] = Denials(0, 0.0, found.since, found.since_s)
        elif found is not None and self.context.time_s - found.before_s >= SHOWN_S:
            del self.denials[user_of(principal)]
        return super()._add_sign_in(digest, principal, node, agent, valid_s)
