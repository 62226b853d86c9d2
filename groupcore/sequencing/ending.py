"""Failover without logs, when a quorum has lost its memory: how the stream of a lost node ends.

Idea. A view has a cut, which says where the streams end (`groupcore.sequencing.cut`). Where groups
are in memory only, one that is formed because a quorum has lost its memory has none. There the
coordinator asks every member how far it has the stream; from its answer on a member takes nothing
more of it. The longest that anybody has is the end; when a quorum has it up to there the
coordinator says so in the control plane's order.

Source. Design, 4.8; reliability.md, rows 22 to 25 and invariants 3, 10, 11, 27. A stream has no
holes, so no slot is lost in the middle and none has to be filled.

Invariants.
  I1  The end is not before what any member of the view has, nor before what anybody has delivered.
  I2  A quorum of the view has the stream up to its end when it is said.
"""

from __future__ import annotations

from groupcore.sequencing.commands import EndStream
from groupcore.sequencing.headers import Level, Reached
from groupcore.sequencing.plane import Plane
from groupcore.view import Address


class Ending:
    """The streams that end, as seen by this node; it leads when it is the view's coordinator."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._answers: dict[Address, dict[Address, int]] = {}
        self._said: set[Address] = set()
        self._ask_at: float | None = None

    def on_view(self, now: float) -> None:
        """Another view: what was asked in the former one counts no more."""
        self._answers.clear()
        self._said.clear()
        for stream in self._plane.directory.ending_streams():
            self._plane.stream(stream).fence()
        self._ask_at = now

    def wake(self, now: float) -> None:
        """Ask those that have not answered, and those that are to get further."""
        plane = self._plane
        view = plane.view
        if self._ask_at is None or view is None or not plane.ready:
            return
        if now < self._ask_at:
            return
        streams = [one for one in plane.directory.ending_streams() if one not in self._said]
        if view.coordinator != plane.me or not streams:
            self._ask_at = None
            return
        self._ask_at = now + plane.options.repair_s * 2
        for address in streams:
            stream = plane.stream(address)
            answers = self._answers.setdefault(address, {})
            answers[plane.me] = plane.acknowledged(stream)
            best, holder = self._best(answers)
            stream.allow(best)
            for member in view.members:
                if member != plane.me and answers.get(member, -1) < best:
                    plane.to(member, Level(view.number, address, best, holder))
            self._conclude(address)

    def on_level(self, node: Address, header: Level) -> None:
        """The coordinator asks: stop taking this stream, get what somebody has, say how far."""
        plane = self._plane
        view = plane.view
        if view is None or view.number != header.view or view.coordinator != node:
            return
        if header.stream in plane.gone and header.stream not in plane.streams:
            return  # late: its end has been said, and all that it held is delivered and dropped
        stream = plane.stream(header.stream)
        stream.allow(header.frame)
        if header.holder != plane.me:
            plane.reaches.note(header.holder, header.stream, header.frame, 0)
        plane.to(node, Reached(header.view, header.stream, plane.acknowledged(stream)))

    def on_reached(self, node: Address, header: Reached) -> None:
        """A member's answer."""
        plane = self._plane
        view = plane.view
        if view is None or view.number != header.view or view.coordinator != plane.me:
            return
        answers = self._answers.setdefault(header.stream, {})
        answers[node] = max(header.received, answers.get(node, 0))
        plane.reaches.note(node, header.stream, header.received, 0)
        self._conclude(header.stream)

    def _conclude(self, address: Address) -> None:
        plane = self._plane
        view = plane.view
        answers = self._answers[address]
        if view is None or address in self._said or not plane.primary:
            return
        if address not in plane.directory.ending_streams():
            return
        answers[plane.me] = plane.acknowledged(plane.stream(address))
        if any(member not in answers for member in view.members):
            return
        best, holder = self._best(answers)
        have = sum(answers[member] >= best for member in view.voting)
        if have >= min(plane.reaches.need, len(view.voting)):
            self._said.add(address)
            plane.propose(EndStream(address, best, holder, view.number))

    def _best(self, answers: dict[Address, int]) -> tuple[int, Address]:
        best = max(answers.values())
        return best, min(node for node, reached in answers.items() if reached == best)

    def next_wake(self) -> float | None:
        """When to ask again."""
        return self._ask_at
