"""API tokens: programs that act for a person, within scopes."""

from __future__ import annotations

from groupcore.shared import operation
from server.accounts.denials import Denied
from server.accounts.errors import AccountError, missing
from server.accounts.names import check_name
from server.accounts.records import ApiToken, Ended
from server.accounts.roles import USER

SCOPES = (
    *("documents:read", "documents:write", "accounts:read", "accounts:write"),
    *("admin:read", "admin:write"),
)
"""What a token may be for; `...:write` includes reading."""
TOKENS_MAX = 50
"""Most tokens of a person."""
TOKEN_S = 366 * 24 * 3600.0


class Tokens(Denied):
    """Tokens, by the digests of their secrets."""

    tokens: dict[str, ApiToken]

    def token_of(self, digest: str, now_s: float) -> ApiToken | None:
        """The token with this secret, if it is good."""
        found = self.tokens.get(digest)
        if found is None or now_s >= found.expires_s or self.user(USER + found.user) is None:
            return None
        return found

    @operation
    def add_token(
        self,
        by: str,
        digest: str,
        user: str,
        name: str,
        scopes: tuple[str, ...],
        valid_s: float,
        origin: str,
    ) -> str:
        """A token for a person; made by that person, or who manages accounts. Gives its id."""
        self._known_user(user)
        self._check_self_or_manages(by, user)
        if not scopes or not set(scopes) <= set(SCOPES):
            raise AccountError("bad_request", f"scopes are some of {', '.join(SCOPES)}")
        if not 0 < valid_s <= TOKEN_S:
            raise AccountError("bad_request", "a token is good for a year at most")
        known = self.tokens.get(digest)
        if known is not None and known.user == user:
            return known.id  # asked again
        if sum(one.user == user for one in self.tokens.values()) >= TOKENS_MAX:
            raise AccountError("too_many", f"one person has {TOKENS_MAX} tokens at most")
        now_s, id = self.context.time_s, self._fresh_id()
        kept = tuple(scope for scope in SCOPES if scope in scopes)
        token = ApiToken(id, user, check_name(name), kept, now_s, now_s + valid_s)
        self.tokens[digest] = token
        self._note(by, "token.created", f"{user} {id}", origin)
        return id

    @operation
    def revoke_token(self, by: str, id: str, origin: str) -> None:
        """The token is good no more."""
        for digest, found in list(self.tokens.items()):
            if found.id == id and (by == USER + found.user or self.manages(by)):
                del self.tokens[digest]
                self._note(by, "token.revoked", f"{found.user} {id}", origin)
                self.emit(Ended((id,), "token"))
                return
        raise missing("token")

    def _drop_tokens(self, user: str) -> None:
        over = {digest: one.id for digest, one in self.tokens.items() if one.user == user}
        for digest in over:
            del self.tokens[digest]
        if over:
            self.emit(Ended(tuple(over.values()), "token"))
