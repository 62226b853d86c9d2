"""The trace records of streams on disk: what a node that starts still has of what it has saved."""

from __future__ import annotations

from typing import NamedTuple

StreamName = tuple[str, int]
"""A stream: the id and the incarnation of the node whose it is."""


class StreamKept(NamedTuple):
    """A life has begun with its node's log, which holds a stream up to the frame `kept`.

    `promised`: up to there former lives, with this disk, have said to have saved it, and a sender
    has been told that it is saved. What a whole state in the log contains counts as kept.
    """

    t: int
    n: str
    inc: int
    stream: StreamName
    promised: int
    kept: int


class LogRecovered(NamedTuple):
    """A node is about to start and has read its log; `inc` is its last life's.

    `kept` parts of those that it had `stored`; `right`: they are what was written; `damaged`: it
    has found out that the log is not whole; `spoilt`: what the world has done to it, if anything.
    """

    t: int
    n: str
    inc: int
    kept: int
    stored: int
    right: bool
    damaged: bool
    spoilt: str
