"""What a node begins a group with that needs nobody else for that."""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.sequencing.archive import Archive
from groupcore.sequencing.events import Enrolled, Joined, ServiceEvent, StateInstalled
from groupcore.sequencing.record import Hold, Record
from groupcore.view import Address


def knows_all(record: Record) -> bool:
    """Whether the record has all that was ever said in the group: nothing but JOINs."""
    return record.seqno == len(record.members)


def begin_alone(record: Record, hold: Hold, me: Address) -> Iterator[ServiceEvent]:
    """Begin behind the JOINs before the last one, which follows as others do."""
    *former, _ = sorted(record.members.items(), key=lambda member: member[1])
    if record.stream is not None:
        hold.context = {record.stream: record.frame}
    yield StateInstalled(record.group, 0, None)
    for process, seqno in former:
        said = Enrolled if process.node == me else Joined
        yield said(record.group, seqno, process)


def begin_archived(
    record: Record, hold: Hold, before: int, archive: Archive, me: Address
) -> Iterator[ServiceEvent]:
    """This node has kept what was said in the group, though it delivered it to nobody."""
    kept = archive.get(record.group)
    hold.seqno, hold.context = max(hold.seqno, kept.seqno), dict(kept.context)
    yield from kept.events(record.group, before, me)
