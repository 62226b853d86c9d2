"""Saving: a sender hears when what it has sent survives the power cut of all nodes.

Idea. A message is saved when max(k + 1, a quorum of the view) members have stored its frame, and
with it everything that the frame needs. A group's later messages are saved behind its earlier ones:
a group goes to another sequencer only when what the former one has numbered is saved.

Source. Reliability.md, acknowledgement rule and invariant 18; decision 0026.

Invariants.
  I1  `Saved` is told only of what enough members of the present view have stored.
  I2  It is cumulative: every earlier message of the process to the group is saved as well.
  I3  Nothing is told of a group that is deleted here.
"""

from __future__ import annotations

from groupcore.sequencing.archiving import Archiving
from groupcore.sequencing.events import Saved
from groupcore.sequencing.names import GroupId, MessageId, Process
from groupcore.sequencing.plane import Plane

TOLD_LEAST = 1_000
"""So many entries on what was told are looked through at least, for those that are needed."""


class Saving:
    """What processes of this node have sent, has been accepted, and is not saved."""

    def __init__(self, plane: Plane, archiving: Archiving) -> None:
        self._plane = plane
        self._archiving = archiving
        self._told: dict[tuple[GroupId, Process], int] = {}
        self._told_max = TOLD_LEAST

    def end_turn(self, now: float) -> None:
        """Tell what is saved by now; let go what need not be kept."""
        if self._plane.unsaved:
            self._settle()
        self._archiving.end_turn(now)

    def next_wake(self) -> float | None:
        """When there is something to be done."""
        return self._archiving.next_wake()

    def _settle(self) -> None:
        plane = self._plane
        for address, waiting in list((plane.unsaved or {}).items()):
            over = address not in plane.streams and address in plane.gone
            saved = plane.reaches.saved(address)
            told: dict[tuple[GroupId, Process], MessageId] = {}
            while waiting and (over or waiting[0][0] <= saved):
                _, group, message = waiting.popleft()
                told[group, message.process] = message
            if not waiting and plane.unsaved is not None:
                del plane.unsaved[address]
            for key, message in told.items():
                # Of two streams the later one may be known to be saved first.
                if message.number > self._told.get(key, 0) and key[0] in plane.records:
                    self._told[key] = message.number
                    plane.events.append(Saved(key[0], message))
        if not plane.unsaved or len(self._told) > self._told_max:
            self._forget()

    def _forget(self) -> None:
        """What was told is needed as long as something older may be waiting in another stream."""
        unsaved = (self._plane.unsaved or {}).values()
        waiting = {(group, message.process) for one in unsaved for _, group, message in one}
        self._told = {key: number for key, number in self._told.items() if key in waiting}
        self._told_max = max(TOLD_LEAST, 2 * len(self._told))
