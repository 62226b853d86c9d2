"""Archiving: what a node keeps for restarts stays in proportion to the groups' states.

Idea. When the runs behind a group's archived state have become larger than the state, a newer one
is asked for, of a node that hosts the group, the own one first; and when those of all groups
together have become too large, of the groups whose runs are the oldest. When the log has become
larger than what it is the log of, the node's state is packed, some groups a turn, and put into it
as a checkpoint. What lies before goes as soon as everybody has stored what the checkpoint contains:
until then somebody may have to be given frames from there after a power cut. What is to be gone
from the log asks for a checkpoint, too (`erasing`).

Source. Decisions 0026 and 0037.

Invariants.
  I1  Nothing is dropped from the log that a member of the view has not stored.
  I2  A group that nobody hosts keeps its runs, on the shelf when they are many.
  I3  While the runs of all groups are too large, every group with a host has its turn.
  I4  A group that is renewed has a state as of what was recorded when that was asked for, or of
      later, before the checkpoint is begun that was asked for with it; if it has a host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from groupcore.context import Numbers
from groupcore.sequencing.archive import Archive
from groupcore.sequencing.erasing import Erasing
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
        self._renewing: dict[GroupId, int] = {}
        self.erasing = Erasing(plane.options)
        self._cut: Numbers | None = None

    def end_turn(self, now: float) -> None:
        """Ask for states that are due, and drop from the log what may go."""
        plane = self._plane
        archive = plane.archive
        if archive is not None and self._renewing:
            self._renew_again(plane, archive, now)
        if archive is not None and (archive.large or archive.runs_bytes > archive.total_max):
            self._ask(archive, now)
        if plane.log is not None and plane.ready:
            self._check(plane, now)

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
                self._renewing.pop(group, None)

    def _renew_again(self, plane: Plane, archive: Archive, now: float) -> None:
        """Ask for the states that are wanted and are not asked for, or have not come."""
        for group in list(self._renewing):
            if group not in plane.records:
                del self._renewing[group]
            elif now >= self._asked.get(group, 0.0):
                archive.large[group] = None

    def _renewed(self, archive: Archive, group: GroupId, is_lost: bool) -> None:
        """A state has come that was asked for, or none has."""
        wanted = self._renewing.get(group)
        if wanted is None:
            return
        if is_lost or group not in self._plane.records or archive.get(group).seqno >= wanted:
            del self._renewing[group]

    def renew(self, groups: Iterable[GroupId]) -> int:
        """Have newer states of these groups, and a checkpoint then: what was sent to them before is
        in the log no longer than a state of theirs has it. The number that `erasing.done` reaches.
        """
        plane = self._plane
        assert plane.log is not None, "this node has a log"
        assert plane.archive is not None, "this node has a log"
        for group in groups:
            record = plane.records.get(group)
            if record is not None and plane.archive.get(group).seqno < record.seqno:
                self._renewing[group] = record.seqno
        plane.log.doom()
        return plane.log.doomed

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
        least = max(archive.get(group).seqno + 1, self._renewing.get(group, 0))

        def done(state: bytes | None) -> None:
            self._asked.pop(group, None)
            if state is None:
                archive.shelve(group)
            elif group in self._plane.records:
                seqno, context, content = unpack_group_state(state)
                archive.replace(group, seqno, content, context)
            self._renewed(archive, group, state is None)

        self._states.take(group, least, (), lambda: self._hosts(group), lambda: False, done)

    # --- the log --------------------------------------------------------------------------------

    def _check(self, plane: Plane, now: float) -> None:
        log, erasing = plane.log, self.erasing
        assert log is not None
        erasing.look(log, now)
        if self._cut is not None:
            if all(self._is_stored(*one) for one in self._cut.items()):
                self._cut = None
                log.drop()
                erasing.drop(log)
            return
        if self._packing is None:
            erases = erasing.is_due(now) and not self._renewing
            if erases or log.is_large(plane.options.checkpoint_bytes):
                self._packing = Packing(plane)
                if not self._renewing:  # else it may hold what is to be gone (I4)
                    erasing.begin(log)
        state = None if self._packing is None else self._packing.step(self._place())
        if state is not None:
            self._packing = None
            self._put(plane, log, state)
            erasing.put(len(state), now)

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
        """At once, while there is something to pack; when a checkpoint is asked for."""
        if self._packing is not None:
            return None if self._packing.waits else 0.0
        if self._renewing:
            if len(self._asked) >= ASKED_AT_ONCE:
                return min(self._asked.values())
            return min(self._asked.get(group, 0.0) for group in self._renewing)
        # Behind a checkpoint others say what they have stored, and that is looked at then.
        return None if self._cut is not None else self.erasing.next_wake()

    def _is_stored(self, address: Address, frame: int) -> bool:
        plane = self._plane
        return address not in plane.streams or plane.reaches.saved_by_all(address) >= frame
