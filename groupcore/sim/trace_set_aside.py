"""The trace record of what each node makes of the order, where an insider speaks."""

from __future__ import annotations

from typing import NamedTuple


class OrderApplied(NamedTuple):
    """A node has come to place `command` of view `view` in the order.

    `aside`: why it has set aside what stands there, empty where it was done or refused; `directory`
    is the hash of its directory behind that.
    """

    t: int
    n: str
    inc: int
    view: int
    command: int
    aside: str
    directory: str


SET_ASIDE_EVENTS: dict[type, str] = {OrderApplied: "o-applied"}
"""What the record is called in the lines of a trace."""
