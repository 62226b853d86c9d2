"""What a page may show of itself: under the name of its account, and how often it may call others.

Idea. A presence is what a page says of itself. Where there are accounts, the name is not the page's
to choose: the node puts the account's in. `calls` counts how often the person has asked everybody
to come; others' pages show a notice when it grows. So a node lets it grow for those who may write,
and not more than once in CALL_S; what is too much is left out, and the rest is shown.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Protocol

from server.accounts.roles import Role
from server.documents.catalogue import DOCUMENT, PLACE
from server.documents.names import place_of

CALL_S = 10.0
"""How long a person who has asked everybody to come waits until the next time."""
CALLERS_MAX = 10_000
"""So many sessions are remembered for it."""
FIELDS: Mapping[str, tuple[object, ...]] = {
    DOCUMENT: ("", None, 0, 0, None, False, 0, None, None, None),
    PLACE: ("", [], [], [], [], False, 0, "", [], "", 0, [], ""),
}
"""What stands for fields at the end of `Here`, or `HereInPlace`, that a page leaves out."""
REQUIRED = {DOCUMENT: 4, PLACE: 1}
"""So many may not be left out."""
VISITOR = "Guest"
"""Who has come by a link, without an account."""
CALLS = 6
"""The place of `calls`, in both."""


class Roles(Protocol):
    """What is asked of the accounts."""

    def shown_name(self, principal: str) -> str | None:
        """The name of the principal's account, None for who has none."""

    def role_in(self, principal: str, document: str) -> Role:
        """What the principal is for the document."""


class Presences:
    """The gateway's hook for what pages show; `roles`: None where there are no accounts."""

    def __init__(self, roles: Roles | None, now_s: Callable[[], float]) -> None:
        self._roles = roles
        self._now_s = now_s
        self._callers: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def presenting(self, principal: str, who: str, name: str, value: object) -> object:
        """What the session `who` is let show in the presence `name`; what is no `Here` as it is."""
        place = place_of(name)
        kind = DOCUMENT if place is None else place.kind
        fields = FIELDS[kind]
        if not isinstance(value, list) or not REQUIRED[kind] <= len(value) <= len(fields):
            return value
        shown = [*value, *fields[len(value) :]]
        if self._roles is not None:
            shown[0] = self._roles.shown_name(principal) or VISITOR
            if shown[CALLS] and place is not None:
                may_call = self._roles.role_in(principal, place.doc) >= Role.EDITOR
                shown[CALLS] = shown[CALLS] if may_call else 0
        if type(shown[CALLS]) is int and shown[CALLS] > 0:
            shown[CALLS] = self._calls((who, name), shown[CALLS])
        return shown

    def _calls(self, caller: tuple[str, str], wanted: int) -> int:
        """The number as it may be: it stays where it was for CALL_S behind a call."""
        now_s = self._now_s()
        number, at_s = self._callers.pop(caller, (0, now_s - CALL_S))
        if wanted > number and now_s >= at_s + CALL_S:
            number, at_s = wanted, now_s
        self._callers[caller] = number, at_s
        while len(self._callers) > CALLERS_MAX:
            self._callers.popitem(last=False)
        return min(number, wanted)
