"""Ids of accounts, sign-ins, tokens, invitations and links: not guessed, and telling of nothing.

Idea. A place in the order makes an id that is given once, but numbers in a row tell each tenant how
many others there are, and are guessed. So an id is a keyed digest of the place. The key is drawn by
a node and put into the order once: operations of before, done again from a log, give the ids of
then, and what has such an id keeps it. The key signs what browsers keep, too (`device_code`).

Invariants.
  N1  Behind the key's place in the order no new id follows from any other that somebody has seen.
  N2  The key is drawn once, and never changes.
"""

from __future__ import annotations

import hashlib
import hmac

from groupcore.shared import operation
from server.accounts.audit import Audited

ID_DIGITS = 20
"""80 bits: 10,000 accounts, and as many of all else, do not meet."""
CODE_DIGITS = 40


class Ids(Audited):
    """The key, empty before a node has drawn it."""

    secret: str = ""

    @operation
    def draw(self, secret: str) -> None:
        """Have this key, unless there is one (N2)."""
        if not self.secret:
            self.secret = secret

    def _fresh_id(self) -> str:
        """An id that was not given before (N1)."""
        place = self.context.new_id()
        return place if not self.secret else self._digest("id", place)[:ID_DIGITS]

    def _digest(self, use: str, text: str) -> str:
        return hmac.new(self.secret.encode(), f"{use}\n{text}".encode(), hashlib.sha256).hexdigest()

    def device_code(self, user: str, mark: str) -> str:
        """What shows that this mark was given to a browser of this account; empty without a key."""
        return self._digest("device", f"{user}\n{mark}")[:CODE_DIGITS] if self.secret else ""
