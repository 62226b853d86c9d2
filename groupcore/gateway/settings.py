"""What a gateway is told: who may open what, who is told of it, and how much one page may ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypedDict

from groupcore.errors import SettingsError
from groupcore.gateway.limits import BURST, HEARTBEAT_S, LINGER_S, RATE, SESSIONS_MAX
from groupcore.shared.session import Session

MayOpen: TypeAlias = Callable[[str, str, str], bool]
"""Asked with principal, type and name whether an object may be opened, or made.

BadRequestError says why it is not known now; what else it raises counts as no.
"""

IsSure: TypeAlias = Callable[[], bool]
"""Asked before each opening whether the node may know what was ordered of late, and so who may."""

Opening: TypeAlias = Callable[[str, str, str], Awaitable[None]]
"""Awaited with principal, type and name before a session opens an object that it has not open.

A GroupcoreError that it raises refuses it; BadRequestError says with which code.
"""

Closed: TypeAlias = Callable[[str, str, str], None]
"""Called once for each `Opening` that came to its end, when the session has that object no more."""

Called: TypeAlias = Callable[[str, str, str], None]
"""Called with principal, type and name when a call of a page has been done."""


class Traffic(NamedTuple):
    """Bytes of the frames of a page's session, in all its connections; `code`: how the last one was
    closed, None while it is open or where nothing was said."""

    bytes_in: int
    bytes_out: int
    code: int | None


Met: TypeAlias = Callable[[str, str, Session, Traffic], None]
"""Called with what has become of a page's session: `open`, `resume` (its page is back) or `close`;
with the page's id, the session, and what has passed."""

Presenting: TypeAlias = Callable[[str, str, str, object], object]
"""Asked with principal, session, name and value, as it has come, what a page is let show there."""


@dataclass(frozen=True, slots=True)
class Badge:
    """Who a page has shown to be: a principal for access lists, and which sign-in it was."""

    principal: str
    key: str = ""


class GatewaySettings(TypedDict, total=False):
    """The settings of a gateway that have a default, see `Terms`."""

    may_open: MayOpen
    is_sure: IsSure
    opening: Opening
    closed: Closed
    presenting: Presenting
    publishing: Presenting
    called: Called
    met: Met
    heartbeat_s: float
    linger_s: float
    sessions_max: int
    rate: float
    burst: int


def always() -> bool:
    """Access lists are the objects' own, each as of its place in the order."""
    return True


def may_open_all(principal: str, kind: str, name: str) -> bool:
    """Everybody may open everything; access lists are the objects' own."""
    del principal, kind, name
    return True


async def opening_unnoticed(principal: str, kind: str, name: str) -> None:
    """Nobody wants to know what is opened."""
    del principal, kind, name


def closed_unnoticed(principal: str, kind: str, name: str) -> None:
    """Nobody wants to know what is closed."""
    del principal, kind, name


def met_unnoticed(what: str, page: str, session: Session, traffic: Traffic) -> None:
    """Nobody wants to know who comes and goes."""
    del what, page, session, traffic


def presenting_all(principal: str, session: str, name: str, value: object) -> object:
    """Pages show, and publish, what they like."""
    del principal, session, name
    return value


@dataclass(frozen=True, slots=True)
class Terms:
    """A gateway's settings.

    `rate`: messages a second that a session may send lasting, `burst` at once; `linger_s`: how long
    a session without a connection waits for its page. Raises SettingsError for what cannot be.
    """

    may_open: MayOpen = may_open_all
    is_sure: IsSure = always
    opening: Opening = opening_unnoticed
    closed: Closed = closed_unnoticed
    presenting: Presenting = presenting_all
    publishing: Presenting = presenting_all
    called: Called = closed_unnoticed
    met: Met = met_unnoticed
    heartbeat_s: float = HEARTBEAT_S
    linger_s: float = LINGER_S
    sessions_max: int = SESSIONS_MAX
    rate: float = RATE
    burst: int = BURST

    def __post_init__(self) -> None:
        for name in ("heartbeat_s", "sessions_max", "rate", "burst"):
            value = getattr(self, name)
            if not value > 0:
                raise SettingsError(f"{name} is {value}; give more than 0")
        if not self.linger_s >= 0:
            raise SettingsError(f"linger_s is {self.linger_s}; give 0 or more")
