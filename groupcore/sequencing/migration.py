"""Migration of groups between sequencers, as the paper's four steps.

Idea. The directory says who moves what (`MoveBegan`); from there on the source gives no numbers in
these groups. When the frames with their last numbers are held the source says `Moved`, in the
control plane's order: that is the place from which the target is the sequencer. The data that the
paper transfers is in every node's record; the target waits until its own shows the last numbers.

Source. Paper, section 4.3: 1 suspend, 2 transfer, 3 the ports, 4 resume; design, 4.9.

Invariants.
  I1  The source gives no number between its `MoveBegan` and the end of the move (11).
  I2  `Moved` is said only when whoever forms the next view has all of the groups' frames.
  I3  The target begins behind the last number of the source, in the next epoch (10, 11); so does
      whoever gets the groups if the target is gone before it has begun.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.commands import Moved
from groupcore.sequencing.directory_changes import (
    Inherited,
    MoveBegan,
    MoveCancelled,
    OwnerMoved,
    StreamEnded,
)
from groupcore.sequencing.events import OwnerChanged
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.sequencer import Sequencer
from groupcore.view import Address


@dataclass(slots=True)
class Leaving:
    """A move of which this node is the source; `said`: it has said `Moved`."""

    groups: tuple[GroupId, ...]
    target: Address
    said: bool = False


class Migration:
    """The moves that concern this node."""

    def __init__(self, plane: Plane, sequencer: Sequencer) -> None:
        self._plane = plane
        self._sequencer = sequencer
        self._leaving: dict[int, Leaving] = {}

    def on_began(self, change: MoveBegan) -> None:
        """Step 1: suspend receipt of requests for the groups."""
        if self._plane.trace is not None:
            self._plane.trace.began(change)
        self._plane.watch.began(change)
        if change.source == self._plane.me:
            self._leaving[change.move] = Leaving(change.groups, change.target)
            self._sequencer.suspend(change.groups)

    def on_moved(self, change: OwnerMoved) -> None:
        """Steps 3 and 4: the ports are the target's, which resumes."""
        plane = self._plane
        if plane.trace is not None:
            plane.trace.moved(change)
        plane.watch.moved(change)
        self._leaving.pop(change.move, None)
        if change.target != plane.me:
            self._sequencer.disown(change.groups)  # what came early, as a guess, goes on to it
        else:
            last = dict(zip(change.groups, change.last, strict=True))
            self._sequencer.own(last, {}, "moved")
        for group, epoch in zip(change.groups, change.epochs, strict=True):
            plane.events.append(OwnerChanged(group, change.target.name, epoch))

    def on_cancelled(self, change: MoveCancelled) -> None:
        """The groups stay."""
        if self._plane.trace is not None:
            self._plane.trace.cancelled(change)
        self._plane.watch.cancelled(change)
        if change.source == self._plane.me:
            self._leaving.pop(change.move, None)
            self._sequencer.unsuspend(change.groups)

    def on_inherited(self, change: StreamEnded | Inherited) -> None:
        """Failover: groups of a gone node that are this node's from here on.

        That node may have got them by a move and not begun: then their last numbers are in the
        stream of the source, which goes on. The order has told them.
        """
        plane = self._plane
        mine = [
            group
            for group, owner in zip(change.groups, change.owners, strict=True)
            if owner == plane.me
        ]
        if mine:
            if plane.trace is not None:
                plane.trace.inherited(change, mine)
            plane.watch.inherited(change.stream, mine, plane.me)
            behind = {change.stream: change.frame}
            last = {group: plane.directory.entries[group].floor for group in mine}
            self._sequencer.own(last, behind, "inherited")
        for group, owner, epoch in zip(change.groups, change.owners, change.epochs, strict=True):
            plane.events.append(OwnerChanged(group, owner.name, epoch))

    def proceed(self) -> None:
        """Step 2: say where the groups ended, once that is held (I2)."""
        plane = self._plane
        for move, leaving in self._leaving.items():
            if leaving.said or not plane.primary:
                continue
            stopped = self._sequencer.ownership.stopped_at(leaving.groups)
            if stopped is None:
                continue
            last, frame = stopped
            if plane.safe(plane.me) >= frame:
                leaving.said = True
                if plane.trace is not None:
                    plane.trace.stopped(leaving.groups, last, leaving.target)
                plane.watch.stopped(leaving.groups)
                plane.propose(Moved(move, leaving.groups, last))

    def on_view(self) -> None:
        """What was said in the former view may not have been ordered: say it again.

        Said twice it counts once: the move is over by then.
        """
        for leaving in self._leaving.values():
            leaving.said = False
