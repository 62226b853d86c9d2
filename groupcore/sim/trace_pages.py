"""The trace records of pages at gateways: what they called and were told, and what was wrong.

`page` is a page's id, `object` an object's name, `token` a word that belongs to one call.
"""

from __future__ import annotations

from typing import NamedTuple


class PageCalled(NamedTuple):
    """A page calls an operation, with this number of its own."""

    t: int
    page: str
    object: str
    number: int
    operation: str
    token: str


class PageAnswered(NamedTuple):
    """A page has its answer; `code` empty: it was done, in the stretch `birth` of the order."""

    t: int
    page: str
    object: str
    number: int
    code: str
    token: str
    birth: str


class PageLost(NamedTuple):
    """A page is told, by a state without it, that a call is lost with all nodes that had it."""

    t: int
    page: str
    object: str
    number: int
    token: str


class PageWrong(NamedTuple):
    """A page was told what does not follow, or has not the state that its node had."""

    t: int
    page: str
    text: str


class PageEnd(NamedTuple):
    """The words of a list at a node in the end."""

    t: int
    n: str
    inc: int
    object: str
    birth: str
    words: tuple[str, ...]


class PageWaits(NamedTuple):
    """What a page waits for in the end, or has otherwise than its node."""

    t: int
    page: str
    text: str


PageRecord = PageCalled | PageAnswered | PageLost | PageWrong | PageEnd | PageWaits

PAGE_EVENTS: dict[type, str] = {
    PageCalled: "w-call",
    PageAnswered: "w-answer",
    PageLost: "w-lost",
    PageWrong: "w-wrong",
    PageEnd: "w-end",
    PageWaits: "w-waits",
}
"""What each record is called in JSON lines."""
