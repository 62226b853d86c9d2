"""What a page may say to those near its person: where they stand, under the name of their account.

Invariants.
  E1  Words are published in the square in which they are said, or to all; nobody speaks elsewhere.
  E2  They have the name of the account that says them, where there are accounts.
  E3  Who may not write in the place says nothing, and nobody says more than a few things a second.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from groupcore.web import BadRequestError
from server.accounts.roles import Role
from server.documents.presence import VISITOR, Roles
from server.places.earshot import ALL, EARSHOT, square_of

BURST = 5
"""So many things may be said at once,"""
AGAIN_S = 1.0
"""and one more each time that so long has passed."""
SPEAKERS_MAX = 10_000
"""So many sessions are remembered for it."""


class Speaking:
    """The gateway's hook for what pages say there; `roles`: None where there are no accounts."""

    def __init__(self, roles: Roles | None, now_s: Callable[[], float]) -> None:
        self._roles = roles
        self._now_s = now_s
        self._speakers: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def publishing(self, principal: str, who: str, name: str, value: object) -> object:
        """What the session `who` is let say; what is no `Uttered` as it is. BadRequestError."""
        match name.split("/"), value:
            case ["place", place, part, square], [kind, _, x, y, reach, text] if part == EARSHOT:
                pass
            case _:
                return value
        called = ""
        if self._roles is not None:
            if self._roles.role_in(principal, place) < Role.EDITOR:  # E3
                raise BadRequestError("forbidden", "who may not write here says nothing here")
            called = self._roles.shown_name(principal) or VISITOR
        if type(x) is int and type(y) is int and type(reach) is int:
            stands = ALL if reach == 0 else square_of(x, y)
            if stands != square:  # E1
                raise BadRequestError("value", f"words from there belong to {stands}")
        self._pace(who)
        return [kind, called or value[1], x, y, reach, text]  # E2

    def _pace(self, who: str) -> None:
        """E3: BURST tokens, one more each AGAIN_S; BadRequestError `busy` where none is left."""
        now_s = self._now_s()
        left, at_s = self._speakers.pop(who, (float(BURST), now_s))
        left = min(float(BURST), left + (now_s - at_s) / AGAIN_S)
        self._speakers[who] = max(0.0, left - 1) if left >= 1 else left, now_s
        while len(self._speakers) > SPEAKERS_MAX:
            self._speakers.popitem(last=False)
        if left < 1:
            raise BadRequestError("busy", f"{BURST} things at once, then one a second")
