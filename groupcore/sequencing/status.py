"""What a node knows of every group now, for those who operate it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane


class GroupStatus(NamedTuple):
    """A group: its number and name (empty: none), who sequences it in which epoch, its last number
    here. `members`: how many; `held`: this node delivers it; `stored`: all of it is in the log on
    this node's disk, never so without one."""

    group: GroupId
    name: str
    sequencer: str
    epoch: int
    head: int
    members: int
    held: bool
    stored: bool


def group_status(plane: Plane) -> Iterator[GroupStatus]:
    """All groups of the directory."""
    saved = {} if plane.log is None else plane.log.saved
    for group, entry in plane.directory.entries.items():
        record = plane.records.get(group)
        if record is None:
            yield GroupStatus(group, entry.name, entry.owner.name, entry.epoch, 0, 0, False, False)
            continue
        stream = record.stream
        # A stream that is over was stored by all before it was forgotten.
        reached = record.frame
        if stream is not None and stream in plane.streams:
            reached = saved.get(stream, 0)
        stored = plane.log is not None and reached >= record.frame
        yield GroupStatus(
            group,
            entry.name,
            entry.owner.name,
            entry.epoch,
            record.seqno,
            len(record.members),
            record.hold is not None,
            stored,
        )
