"""Tickets: a page that has signed in gets one, and shows it at the socket of the same node, once.

A socket is let in by no cookie: any page of the web could make a browser send that. A ticket is
given to who can read the answer of a POST, never stands in an address, and lives in one node's
memory for half a minute.
"""

from __future__ import annotations

from collections import OrderedDict

from server.accounts.secrets import digest_of, new_secret

VALID_S = 30.0
TICKETS_MAX = 10_000
"""Tickets that nobody has shown yet; the oldest makes room."""


class Tickets:
    """The tickets that one node has given."""

    def __init__(self) -> None:
        self._given: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def give(self, key: str, now_s: float) -> str:
        """A ticket for the sign-in or token of this digest."""
        while self._given and next(iter(self._given.values()))[1] <= now_s:
            self._given.popitem(last=False)
        if len(self._given) >= TICKETS_MAX:
            self._given.popitem(last=False)
        ticket = new_secret("gcs")
        self._given[digest_of(ticket)] = key, now_s + VALID_S
        return ticket

    def take(self, ticket: str, now_s: float) -> str | None:
        """Whose it is; None when it is none, too old, of another node, or was shown before."""
        key, until_s = self._given.pop(digest_of(ticket), (None, 0.0))
        return key if now_s < until_s else None
