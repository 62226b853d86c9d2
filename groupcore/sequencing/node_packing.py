"""Packing a node's state for others: some groups a turn, so that no turn takes long.

Idea. A hundred thousand records are not packed between two packets. They are packed in slices, one
a turn; what has changed meanwhile, which its number shows, is packed again in the end, so that the
whole is of one cut. The directory has a turn of its own, after which no command may have come.

Invariants.
  I1  The state is of the moment at which it is complete: every record, every stream, the directory.
"""

from __future__ import annotations

from collections import deque

from groupcore.sequencing.node_state import Place, pack_node_state
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.record_table import pack_records, slices

ATTEMPTS_MAX = 4
"""Turns in which the directory is packed anew because commands have come; then all is in one."""


class Packing:
    """One copy under way; `step` does a little more of it, and gives it when it is complete."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._todo = deque(slices(list(plane.records.values())))
        self._newest = plane.directory.newest_group
        self._parts: list[bytes] = []
        self._seen: list[tuple[Record, int]] = []
        self._directory: tuple[Place, bytes] | None = None
        self._attempts = 0

    @property
    def waits(self) -> bool:
        """Whether it is complete but for messages that wait for their group's former ones."""
        return not self._todo and self._directory is not None and self._plane.early > 0

    def step(self, place: Place) -> bytes | None:
        """A slice more; `place` is that of the directory now."""
        if self._todo:
            part = self._todo.popleft()
            self._seen += [(record, record.seqno) for record in part]
            self._parts.append(pack_records(self._plane, part))
            return None
        if self._directory is None or self._directory[0] != place:
            self._directory = (place, self._plane.directory.snapshot())
            self._attempts += 1
            if self._attempts < ATTEMPTS_MAX:
                return None
        if self._plane.early:
            return None
        return self._finish(*self._directory)

    def _finish(self, place: Place, directory: bytes) -> bytes:
        """What has changed is packed again, behind the rest (I1)."""
        records = self._plane.records
        changed = [record for record, seqno in self._seen if record.seqno != seqno]
        gone = [record.group for record, _ in self._seen if record.group not in records]
        new = [record for group, record in records.items() if group > self._newest]
        left = [record for record in changed if record.group in records]
        last = pack_records(self._plane, [*left, *new])
        return pack_node_state(self._plane, place, directory, [*self._parts, last], gone)


def pack_whole(plane: Plane, place: Place) -> bytes:
    """The state as of now, in one go."""
    records = [pack_records(plane, part) for part in slices(list(plane.records.values()))]
    return pack_node_state(plane, place, plane.directory.snapshot(), records, [])
