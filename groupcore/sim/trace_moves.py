"""The trace records of moves: what operators have asked for, and what the directory has begun."""

from __future__ import annotations

from typing import NamedTuple

from groupcore.sequencing.names import GroupId


class MoveAsked(NamedTuple):
    """An operator at a node asked for groups to be moved; `request` is its node's number of it."""

    t: int
    n: str
    inc: int
    request: int
    groups: tuple[GroupId, ...]


class MoveStarted(NamedTuple):
    """A node has heard, in the control plane's order, that a move began; every node says so.

    `move` is its number, `reason` what for (`strict`: the directory itself brings groups together).
    """

    t: int
    n: str
    inc: int
    move: int
    groups: tuple[GroupId, ...]
    source: str
    target: str
    reason: str


MoveRecord = MoveAsked | MoveStarted

MOVE_EVENTS: dict[type, str] = {MoveAsked: "g-wish", MoveStarted: "g-move"}
"""What each record is called in the lines of a trace."""
