"""Archiving: what a node keeps for restarts stays in proportion to the groups' states.

Idea. When the runs behind a group's archived state have become larger than the state, a newer one
is asked for, of a node that hosts the group, the own one first; and when those of all groups
together have become too large, of the groups whose runs are the oldest. When the log has become
larger than what it is the log of, the node's state is packed, some groups a turn, and put into it
as a checkpoint. What lies before goes as soon as everybody has stored what the checkpoint contains:
until then somebody may have to be given frames from there after a power cut.

Source. Decisions 0026 and 0037.

Invariants.
  I1  Nothing is dropped from the log that a member of the view has not stored.
  I2  A group that nobody hosts keeps its runs, on the shelf when they are many.
  I3  While the runs of all groups are too large, every group with a host has its turn.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.context import Numbers
from groupcore.sequencing.archive import Archive
from groupcore.sequencing.group_state import unpack_group_state
from groupcore.sequencing.log import Log
from groupcore.sequencing.names import GroupId, Place
from groupcore.sequencing.node_packing import Packing
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.states import States
from groupcore.view import Address

ASKED_AT_ONCE = 16
"""States that are on their way to the archive at a time."""
PATIENCE_S = 5.0
"""After this a state that has not come is asked for again."""


class Archiving:
    """Keeps archive and log small; `place` is that of the directory now."""

    def __init__(self, plane: Plane, states: States, place: Callable[[], Place]) -> None:
        self._plane = plane
        self._states = states
        self._place = place
        self._packing: Packing | None = None
        self._asked: dict[GroupId, float] = {}
        self._cut: Numbers | None = None

    def end_turn(self, now: float) -> None:
        """Ask for states that are due, and drop from the log what may go."""
        plane = self._plane
        archive = plane.archive
        if archive is not None and (archive.large or archive.runs_bytes > archive.total_max):
            self._ask(archive, now)
        if plane.log is not None and plane.ready:
            self._check(plane)

    # --- states ---------------------------------------------------------------------------------

    def _ask(self, archive: Archive, now: float) -> None:
        self._asked = {one: until for one, until in self._asked.items() if now < until}
        room = ASKED_AT_ONCE - len(self._asked)
        large = list(archive.large)[: max(room, 0)]
        for group in large:
            del archive.large[group]  # it comes back with the next run, if nothing comes of this
        oldest = archive.oldest(max(room - len(large), 0))
        for group in dict.fromkeys((*large, *oldest)):
            if group in self._asked:
                continue
            if self._hosts(group):
                self._asked[group] = now + PATIENCE_S
                self._take(group, now)
            else:
                archive.shelve(group)  # I2

    def _hosts(self, group: GroupId) -> dict[Address, int]:
        """Who hosts it, this node first."""
        plane = self._plane
        record = plane.records.get(group)
        nodes = {} if record is None else plane.member_nodes(record)
        own = {plane.me: nodes.pop(plane.me)} if plane.me in nodes else {}
        return own | nodes

    def _take(self, group: GroupId, now: float) -> None:
        archive = self._plane.archive
        assert archive is not None

        def done(state: bytes | None) -> None:
            self._asked.pop(group, None)
            if state is None:
                archive.shelve(group)
            elif group in self._plane.records:
                seqno, context, content = unpack_group_state(state)
                archive.replace(group, seqno, content, context)

        least = archive.get(group).seqno + 1
        self._states.take(group, least, (), lambda: self._hosts(group), lambda: False, done, now)

    # --- the log --------------------------------------------------------------------------------

    def _check(self, plane: Plane) -> None:
        log = plane.log
        assert log is not None
        if self._cut is not None:
            if all(self._is_stored(*one) for one in self._cut.items()):
                self._cut = None
                log.drop()
            return
        if self._packing is None and log.is_large(plane.options.checkpoint_bytes):
            self._packing = Packing(plane)
        state = None if self._packing is None else self._packing.step(self._place())
        if state is not None:
            self._packing = None
            self._put(plane, log, state)

    def _put(self, plane: Plane, log: Log, state: bytes) -> None:
        """The state of this moment into the log; what it does not contain follows it."""
        self._cut = {address: one.recorded for address, one in plane.streams.items()}
        again_bytes = 0
        for stream in plane.streams.values():
            stream.logged = min(stream.recorded, stream.received)
            again = stream.kept(stream.logged + 1, stream.received)
            again_bytes += sum(len(batch.body) for _, batch in again)
        log.checkpoint(state, again_bytes)

    def next_wake(self) -> float | None:
        """At once, while there is something to pack."""
        return None if self._packing is None or self._packing.waits else 0.0

    def _is_stored(self, address: Address, frame: int) -> bool:
        plane = self._plane
        return address not in plane.streams or plane.reaches.saved_by_all(address) >= frame
