"""What a node begins a group with that needs nobody else for that."""

from __future__ import annotations

from groupcore.sequencing.archive import Archive
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Hold, Record


def begin_archived(record: Record, hold: Hold, before: int, archive: Archive, plane: Plane) -> None:
    """This node has kept what was said in the group, though it delivered it to nobody."""
    kept = archive.get(record.group)
    hold.seqno, hold.context = max(hold.seqno, kept.seqno), dict(kept.context)
    for event in kept.events(record.group, before, plane.me):
        plane.events.append(event)
        if plane.trace is not None:
            plane.trace.told_archived(event)
