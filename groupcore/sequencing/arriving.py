"""Arriving: a new node takes directory, records and archive of another one, some groups a turn.

Idea. A node's state with a hundred thousand groups is not opened between two packets: the node
would be silent for as long as a failure detector waits. What is opened stands aside, and counts
when all of it is there; what is ordered meanwhile waits, as before.

What a giver leaves that is gone is kept, as far as it goes, and the next one need not give it again
(`resuming`).

Invariants.
  I1  This node has nothing of the state before it has all of it.
  I2  A state that does not reach the frames with which this node has begun each stream is not
      taken: another one is asked for.
  I3  Nor are bytes that are no state; another node is asked then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from groupcore.errors import WireError
from groupcore.sequencing.headers import Reach
from groupcore.sequencing.names import GroupId, Place
from groupcore.sequencing.node_state import Taking, node_state_covers
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.resuming import (
    NOTHING,
    Held,
    Kept,
    Resuming,
    completed,
    read_beginning,
)
from groupcore.sequencing.states import NODE_STATE, States
from groupcore.view import Address


class Progress(NamedTuple):
    """How far a node is that takes the others' state.

    `phase`: `asking` until a giver has made its copy, `fetching`, `opening`. Bytes that are here,
    and of how many.
    """

    phase: str
    bytes_here: int
    bytes_all: int


class Arriving:
    """`arrived` is called with the state that has been taken, and the place of its directory."""

    def __init__(
        self, plane: Plane, states: States, arrived: Callable[[bytes, Place], None]
    ) -> None:
        self._plane = plane
        self._states = states
        self._arrived = arrived
        self._now = 0.0
        self._taking: tuple[bytes, Taking] | None = None
        self._kept: Kept | None = None
        self._bad = 0

    def ask(self, now: float) -> None:
        """Ask for the state of a node that has it."""
        plane = self._plane

        def givers() -> dict[Address, int]:
            members = plane.view.members if plane.view else ()
            others = [member for member in members if member != plane.me]
            first = self._bad % max(len(others), 1)  # who has given none is asked last
            return dict.fromkeys([*others[first:], *others[:first]], 0)

        def done(state: bytes | None) -> None:
            kept, self._kept = self._kept, None
            try:
                whole = None if state is None else completed(state, kept)
                if whole is not None:
                    self._taking = (whole, Taking(plane, whole))
                    return
            except WireError:
                self._refuse(None)
                return
            if state is not None:
                plane.counters["bad_resumption"] += 1
                self.ask(self._now)

        bases = tuple(
            Reach(address, stream.base, 0, 0)
            for address, stream in plane.streams.items()
            if stream.started and address != plane.me and (stream.base or plane.in_view(address))
        )
        self._now = now
        resuming = Resuming(self._held, self._keep)
        self._states.take(NODE_STATE, 0, bases, givers, lambda: False, done, resuming)

    def _held(self) -> Held:
        return NOTHING if self._kept is None else self._kept.held

    def _keep(self, beginning: bytes) -> None:
        """A giver is gone: what it left is kept, unless more is kept already."""
        kept = read_beginning(beginning)
        if kept is not None and (self._kept is None or kept.size_bytes > self._kept.size_bytes):
            self._kept = kept

    def proceed(self, now: float) -> None:
        """A slice more of what is being taken; with the last one this node has it (I1)."""
        self._now = now
        if self._taking is None:
            return
        state, taking = self._taking
        try:
            is_whole = taking.step()
            covers = is_whole and taking.is_whole and node_state_covers(self._plane, state)
        except WireError:
            self._refuse(taking)
            return
        if not is_whole:
            return
        self._taking = None
        if covers:
            self._arrived(state, taking.finish())
        else:
            taking.drop()
            self.ask(now)  # I2

    def _refuse(self, taking: Taking | None) -> None:
        """What was given is no state: nothing of it stays, and the next node is asked (I3)."""
        self._plane.counters["bad_state"] += 1
        self._bad += 1
        self._taking = None
        if taking is not None:
            taking.drop()
        self.ask(self._now)

    def progress(self) -> Progress | None:
        """What of the state has come; None when none is being taken."""
        if self._taking is not None:
            size = len(self._taking[0])
            return Progress("opening", size, size)
        fetched = self._states.progress(GroupId(NODE_STATE))
        if fetched is None:
            return None
        return Progress("fetching" if fetched[1] else "asking", *fetched)

    def next_wake(self) -> float | None:
        """At once, while there is something to take."""
        return None if self._taking is None else 0.0
