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


class GroupFacts(NamedTuple):
    """One group, looked at closely.

    `head` is its last number here, `position` the last that this node has delivered, 0 where it
    does not deliver the group. `nodes` are those with members. `context_entries` and
    `context_bytes` are of the frame that the last message came in: how much it depended on.
    `unsaved`: frames of the group's stream up to the last message that are not in the log on this
    node's disk; 0 without one.
    """

    group: GroupId
    sequencer: str
    epoch: int
    order: str
    head: int
    position: int
    members: int
    nodes: tuple[str, ...]
    context_entries: int
    context_bytes: int
    unsaved: int


def group_facts(plane: Plane, group: GroupId) -> GroupFacts | None:
    """A group as this node knows it; None for an unknown one."""
    entry = plane.directory.entries.get(group)
    record = plane.records.get(group)
    if entry is None or record is None:
        return None
    unsaved = 0
    place = record.place
    if plane.log is not None and place.stream is not None and place.stream in plane.streams:
        unsaved = max(0, place.frame - plane.log.saved.get(place.stream, 0))
    return GroupFacts(
        group,
        entry.owner.name,
        entry.epoch,
        record.order.name.lower(),
        record.seqno,
        0 if record.hold is None else record.hold.seqno,
        len(record.members),
        tuple(sorted({process.node.name for process in record.members})),
        place.context_entries,
        place.context_bytes,
        unsaved,
    )


def group_status(plane: Plane) -> Iterator[GroupStatus]:
    """All groups of the directory."""
    saved = {} if plane.log is None else plane.log.saved
    for group, entry in plane.directory.entries.items():
        record = plane.records.get(group)
        if record is None:
            yield GroupStatus(group, entry.name, entry.owner.name, entry.epoch, 0, 0, False, False)
            continue
        stream, frame = record.place[:2]
        # A stream that is over was stored by all before it was forgotten.
        reached = frame
        if stream is not None and stream in plane.streams:
            reached = saved.get(stream, 0)
        stored = plane.log is not None and reached >= frame
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
