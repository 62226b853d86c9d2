"""Sign-ins: browsers that somebody has signed in with, known by the digests of their secrets.

Idea. That a sign-in is over has a place in the order, and every node drops its sockets there. What
is too old counts as over at once; an operation takes it out, so that all nodes drop it alike.

Invariants.
  S1  A sign-in that is over never comes back.
  S2  Nobody has more than SIGN_INS_MAX; the one that was seen longest ago makes room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from groupcore.shared import operation
from server.accounts.errors import AccountError, forbidden, missing
from server.accounts.invitations import Invitations
from server.accounts.names import shortened
from server.accounts.records import ApiToken, Ended, SignIn
from server.accounts.roles import USER, link_of, user_of

SIGN_IN_S = 14 * 24 * 3600.0
"""A sign-in that is not used for so long is over."""
SIGN_IN_LONGEST_S = 90 * 24 * 3600.0
"""After so long one has to sign in again."""
SIGN_INS_MAX = 50
VISITORS_MAX = 10_000
"""Most sign-ins by share links, of all links together."""


class SignIns(Invitations):
    """Who is signed in."""

    sign_ins: dict[str, SignIn]
    tokens: dict[str, ApiToken]

    def sign_in_of(self, digest: str, now_s: float) -> SignIn | None:
        """The sign-in with this secret, if it is good: not over, not too old, not switched off."""
        found = self.sign_ins.get(digest)
        if found is None or now_s >= found.expires_s:
            return None
        link = self.links.get(link_of(found.principal))
        is_good = self.user(found.principal) is not None if link is None else not link.is_revoked
        return found if is_good else None

    @operation
    def sign_in(self, digest: str, user: str, node: str, agent: str, origin: str) -> SignIn:
        """A person has shown who they are."""
        if self.user(USER + user) is None:
            raise AccountError("bad_credentials", "address or password is wrong")
        self._check_one_factor(user)
        self._note(USER + user, "signed_in", "", origin)
        return self._add_sign_in(digest, USER + user, node, agent, SIGN_IN_S)

    def _check_one_factor(self, user: str) -> None:
        """AccountError where the account asks for a second factor."""
        del user

    def _add_sign_in(
        self, digest: str, principal: str, node: str, agent: str, valid_s: float
    ) -> SignIn:
        now_s = self.context.time_s
        mine = [key for key, one in self.sign_ins.items() if one.principal == principal]
        most = SIGN_INS_MAX if user_of(principal) else VISITORS_MAX
        if len(mine) >= most:  # S2
            oldest = min(mine, key=lambda key: self.sign_ins[key].seen_s)
            self._end(lambda key, _: key == oldest, "too_many")
        made = SignIn(
            self._fresh_id(),
            principal,
            now_s,
            now_s,
            now_s + valid_s,
            shortened(node, 64),
            shortened(agent),
        )
        self.sign_ins[digest] = made
        return made

    @operation
    def seen(self, digest: str, node: str) -> None:
        """The sign-in is in use, at this node; it is good for longer. Said once an hour or so."""
        found, now_s = self.sign_ins.get(digest), self.context.time_s
        if found is None or now_s >= found.expires_s or link_of(found.principal):
            return
        expires_s = min(now_s + SIGN_IN_S, found.created_s + SIGN_IN_LONGEST_S)
        self.sign_ins[digest] = replace(found, seen_s=now_s, expires_s=expires_s, node=node)

    @operation
    def sign_out(self, digest: str, origin: str) -> None:
        """The sign-in is over; nothing, if it is already."""
        found = self.sign_ins.get(digest)
        if found is not None:
            self._note(found.principal, "signed_out", found.id, origin)
            self._end(lambda key, _: key == digest, "signed_out")

    @operation
    def end_sign_in(self, by: str, id: str, origin: str) -> None:
        """End one sign-in of one's own, or of anybody if one manages accounts."""
        found = [one for one in self.sign_ins.values() if one.id == id]
        if not found or not (found[0].principal == by or self.manages(by)):
            raise missing("sign-in")
        self._note(by, "session.ended", id, origin)
        self._end(lambda _, one: one.id == id, "ended")

    @operation
    def end_all(self, by: str, principal: str, origin: str) -> int:
        """End all sign-ins of a principal, and all sessions; gives how many sign-ins.

        A session that a program has opened with a token of theirs is over, too; the token stays
        good until it is revoked.
        """
        if by != principal and not self.manages(by):
            raise forbidden()
        self._note(by, "sessions.ended", principal, origin)
        user = user_of(principal)
        programs = tuple(one.id for one in self.tokens.values() if user and one.user == user)
        if programs:
            self.emit(Ended(programs, "ended"))
        return self._end(lambda _, one: one.principal == principal, "ended")

    def _end(self, wanted: Callable[[str, SignIn], bool], reason: str) -> int:
        over = {key: one for key, one in self.sign_ins.items() if wanted(key, one)}
        for key in over:
            del self.sign_ins[key]
        if over:
            self.emit(Ended(tuple(one.id for one in over.values()), reason))
        return len(over)
