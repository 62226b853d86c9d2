"""What a log still has of groups that are deleted, as who reads its bytes would find it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from msgpack import unpackb

from groupcore.sequencing.archive import Archive
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.log import FRAMES, STATE
from groupcore.sequencing.logged_frames import logged_frame
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.receiving import groups_of
from groupcore.sequencing.service import Service
from groupcore.view import Address

ARCHIVED = 6
"""Where a node's state has its archive."""


def deleted_in(parts: list[bytes], me: Address) -> tuple[GroupId, ...]:
    """The groups that a log has messages of, and that are deleted where it ends."""
    service = Service(me, ServiceOptions(durable=True), Random(0), parts)
    directory = service.plane.directory
    found = {group for part in parts for group in _groups_in(part)}
    known = {group for group in found if group <= directory.newest_group}
    return tuple(sorted(known - set(directory.entries)))


def _groups_in(part: bytes) -> Iterator[GroupId]:
    for kind, *entry in unpackb(part, strict_map_key=False):
        if kind == STATE:
            yield from _archived(entry[0])
        elif kind == FRAMES:
            for packet in entry[2]:
                batch = logged_frame(packet, Address(*entry[0]))
                header = batch.headers[-1]
                if isinstance(header, Accept):
                    yield from map(GroupId, groups_of(header, batch.count))


def _archived(state: bytes) -> Iterator[GroupId]:
    packed: list[Any] = unpackb(state, strict_map_key=False)
    archive = Archive(1, 1)
    for part in packed[ARCHIVED] or ():
        archive.open(part)
    yield from archive.groups
