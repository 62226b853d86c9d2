"""Packing a node's state, for others and for its log: some groups a turn, so no turn takes long.

Idea. A hundred thousand records are not packed between two packets, nor what is archived of as many
groups. They are packed in slices, one a turn; what has changed meanwhile, which its number shows,
is packed again in the end, so that the whole is of one cut. The directory has a turn of its own,
after which no command may have come.

The archive goes in the order of the groups' numbers, so that the beginning of a copy serves with
another giver's (`resuming`): what the taker has is left out.

Invariants.
  I1  The state is of the moment at which it is complete: every record, every stream, the directory,
      all that is archived.
"""

from __future__ import annotations

from collections import deque

from groupcore.context import Numbers
from groupcore.sequencing.archive import Archive, Archived
from groupcore.sequencing.names import GroupId, Place
from groupcore.sequencing.node_state import pack_node_state
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.record_table import pack_records, slices
from groupcore.sequencing.resuming import NOTHING, WHOLE, Held, is_contained, is_unchanged

ARCHIVED_SLICE = 1_000
"""Archived groups in one part: some milliseconds of work."""
ATTEMPTS_MAX = 4
"""Turns in which the directory is packed anew because commands have come; then all is in one."""


class Packing:
    """One copy under way; `step` does a little more of it, and gives it when it is complete."""

    def __init__(self, plane: Plane, held: Held = NOTHING) -> None:
        self._plane = plane
        self._held = held if is_contained(plane, held) else NOTHING
        self._held_begun = self._held.begun
        self._left_out: list[GroupId] = []
        self._begun: Numbers = {}
        if not plane.early:  # else a run of a recorded frame may not be in its group's archive yet
            self._begun = {address: one.recorded for address, one in plane.streams.items()}
        self._todo = deque(slices(list(plane.records.values())))
        self._newest = plane.directory.newest_group
        self._parts: list[bytes] = []
        self._seen: list[tuple[Record, int]] = []
        archive = plane.archive
        self._archive = archive
        self._to_archive = deque([] if archive is None else sorted(archive.groups))
        self._archived: list[bytes] = []
        self._archive_seen: dict[GroupId, tuple[int, int]] = {}
        self._known: dict[GroupId, int] = {}
        self._directory: tuple[Place, bytes] | None = None
        self._attempts = 0

    @property
    def waits(self) -> bool:
        """Whether it is complete but for messages that wait for their group's former ones."""
        left = self._todo or self._to_archive
        return not left and self._directory is not None and self._plane.early > 0

    def step(self, place: Place) -> bytes | None:
        """A slice more; `place` is that of the directory now."""
        if self._todo:
            part = self._todo.popleft()
            self._seen += [(record, record.seqno) for record in part]
            self._parts.append(pack_records(self._plane, part))
            return None
        if self._to_archive and self._archive is not None:
            self._pack_archived(self._archive)
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
        parts = [*self._parts, pack_records(self._plane, [*left, *new])]
        archived = None
        if self._archive is not None:
            archived = [*self._archived, self._archive.pack(self._archived_anew(), self._known)]
        plane, begun, left_out = self._plane, self._begun, self._left_out
        return pack_node_state(plane, place, directory, parts, archived, gone, begun, left_out)

    def _pack_archived(self, archive: Archive) -> None:
        """Some groups of the archive; fewer where they are large."""
        chosen: list[GroupId] = []
        size, most_bytes = 0, self._plane.options.archive_part_bytes
        while self._to_archive and len(chosen) < ARCHIVED_SLICE and size < most_bytes:
            group = self._to_archive.popleft()
            one = archive.groups.get(group)
            if one is None:
                continue
            end = self._archive_seen[group] = self._end_of(group, one)
            self._known[group] = end[0]
            if group <= self._held.to:
                unchanged = is_unchanged(one, self._held_begun)
                if unchanged or one.has_tail:
                    self._left_out.append(group)
                    self._known[group] = WHOLE  # as the taker says: it asks again if it is not
                if unchanged:
                    continue
            chosen.append(group)
            size += one.size_whole_bytes
        if chosen:
            known = {group: WHOLE for group in chosen if self._known[group] == WHOLE}
            self._archived.append(archive.pack(chosen, known))

    def _end_of(self, group: GroupId, one: Archived) -> tuple[int, int]:
        """Up to where a group's archive goes, and as of which number its state is."""
        record = self._plane.records.get(group)
        return (0 if record is None else record.seqno), one.seqno

    def _archived_anew(self) -> list[GroupId]:
        """The groups that have come on, or have a newer state than was packed."""
        groups = {} if self._archive is None else self._archive.groups
        seen = self._archive_seen
        return [
            group for group, one in groups.items() if seen.get(group) != self._end_of(group, one)
        ]


def pack_whole(plane: Plane, place: Place) -> bytes:
    """The state as of now, in one go."""
    packing = Packing(plane)
    while (state := packing.step(place)) is None:
        assert not packing.waits, "nothing waits for its group's former messages"
    return state
