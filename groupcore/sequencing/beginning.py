"""What a node begins a group with that needs nobody else for that."""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.sequencing.archive import Archive
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.record import Hold, Record
from groupcore.view import Address


def begin_archived(
    record: Record, hold: Hold, before: int, archive: Archive, me: Address
) -> Iterator[ServiceEvent]:
    """This node has kept what was said in the group, though it delivered it to nobody."""
    kept = archive.get(record.group)
    hold.seqno, hold.context = max(hold.seqno, kept.seqno), dict(kept.context)
    yield from kept.events(record.group, before, me)
