"""Inheriting: the groups of a node that is gone get new sequencers some at a time.

Idea. What is busy goes to its new sequencer with the end of the stream, in the turn of the view.
Tens of thousands of quiet groups would make that a turn of a second at every node. They wait: the
view's coordinator asks in the order for portion after portion, with a pause in which other things
have their turn. Whoever waits for one of them, to send or to join, asks for that one at once.

Source. Design, 4.8; decision 0031.

Invariants.
  I1  As long as there are groups whose sequencer's stream has ended, somebody asks for them.
  I2  A group that somebody here waits for is asked for in the turn in which that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from groupcore.sequencing.commands import Inherit
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane

PAUSE_S = 0.002
"""Between a portion and the next one's request."""
ASKED_MAX = 1_000
"""Groups that are asked for at once by who waits for them."""


class Inheriting:
    """This node's part; `wanted` are the groups that somebody here waits for."""

    def __init__(self, plane: Plane, wanted: Callable[[], Iterable[GroupId]]) -> None:
        self._plane = plane
        self._wanted = wanted
        self._asked: set[GroupId] = set()
        self._left = -1
        self._at: float | None = None

    def on_view(self) -> None:
        """What was asked for in the former view may not have been ordered."""
        self._asked.clear()
        self._left = -1

    def end_turn(self, now: float) -> None:
        """Ask for what is waited for, and as coordinator for the next portion (I1, I2)."""
        plane = self._plane
        left = plane.directory.heirless if plane.directory.state.ended else 0
        if not left:
            self._asked.clear()
            self._left, self._at = -1, None
            return
        if plane.view is None or not (plane.ready and plane.primary):
            return
        entries, ended = plane.directory.entries, plane.directory.state.ended
        wanted = [
            group
            for group in dict.fromkeys(self._wanted())
            if group in entries and entries[group].owner in ended and group not in self._asked
        ][:ASKED_MAX]
        if wanted:
            self._asked.update(wanted)
            plane.propose(Inherit(tuple(wanted)))
        if plane.view.coordinator != plane.me or left == self._left:
            self._at = None
        elif self._at is None:
            self._at = now + PAUSE_S
        elif now >= self._at:
            self._left, self._at = left, None
            plane.propose(Inherit(()))

    def next_wake(self) -> float | None:
        """When the next portion is asked for."""
        return self._at
