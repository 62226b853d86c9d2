"""What a new node takes over: the directory, and every group's record, of one cut of all streams.

Invariants.
  I1  The records are those after certain frames of each stream, and the state says which.
  I2  The chains are those of the records: what a sequencer goes on behind.
  I3  The directory is that after a certain command of a certain view, and the state says which.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgpack import packb, unpackb

from groupcore.context import decode_context, encode_context
from groupcore.sequencing.chains import Standing
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record_table import unpack_records
from groupcore.view import Address


class Place(NamedTuple):
    """A place in the control plane's order: so many commands after the install of a view."""

    view: int
    commands: int


def pack_node_state(
    plane: Plane,
    place: Place,
    directory: bytes,
    records: list[bytes],
    deleted: list[GroupId],
) -> bytes:
    """This node's state as of now, with its directory as of `place` and its records.

    Of a record that stands in several parts the last one counts; `deleted` are in none.
    """
    streams = [
        [list(address), stream.recorded, stream.end]
        for address, stream in plane.streams.items()
        if stream.started
    ]
    gone = [list(node) for node in sorted(plane.gone)]
    chains = [_pack_chain(plane, *chain) for chain in plane.chains.snapshot()]
    archive = None if plane.archive is None else plane.archive.pack()
    head = [[*place, *plane.place], directory, streams, records, gone, chains, archive]
    packed: bytes = packb([*head, deleted])
    return packed


def node_state_covers(plane: Plane, state: bytes) -> bool:
    """Whether the state reaches the frames with which this node has begun each stream."""
    _, _, streams, _, gone, *_ = unpackb(state, strict_map_key=False)
    cuts = {Address(*address): recorded for address, recorded, _ in streams}
    over = {Address(*node) for node in gone} - set(cuts)
    return all(
        not stream.started or stream.base <= cuts.get(address, 0)
        for address, stream in plane.streams.items()
        if address != plane.me and address not in over and plane.in_view(address)
    )


def take_node_state(plane: Plane, state: bytes) -> Place:
    """Become what the state says; the place of its directory."""
    head, directory, streams, records, gone, chains, archive, deleted = unpackb(
        state, strict_map_key=False
    )
    view, commands, *place = head
    plane.place = (place[0], place[1])
    if plane.archive is not None and archive is not None:
        plane.archive.restore(archive)
    plane.directory.restore(directory)
    plane.gone.update(Address(*node) for node in gone)
    for part in records:
        plane.records.update((one.group, one) for one in unpack_records(plane, part))
    for group in deleted:
        plane.records.pop(group, None)
    for chain in chains:
        _take_chain(plane, chain)
    cuts = {Address(*address): (recorded, end) for address, recorded, end in streams}
    for address in [one for one in plane.streams if one in plane.gone and one not in cuts]:
        del plane.streams[address]  # it has ended, and all that it held is in the records
    for address, (recorded, end) in cuts.items():
        if address == plane.me:
            continue
        stream = plane.stream(address)
        if plane.log is None or plane.in_view(address):
            stream.resume(recorded)
        else:
            stream.skip_to(recorded)
        if end is not None:
            stream.finish(end)
    return Place(view, commands)


# What msgpack hands over is a node's own packing, authenticated and hashed: Any lives here.


def _pack_chain(plane: Plane, key: int, chain: int, standing: Standing) -> list[Any]:
    node, number = plane.senders.process(key)
    address, frame, context = standing
    return [*node, number, chain, *address, frame, encode_context(context)]


def _take_chain(plane: Plane, packed: list[Any]) -> None:
    name, incarnation, number, chain, stream, life, frame, context = packed
    key = plane.senders.of_node(Address(name, incarnation), [number])[number]
    plane.chains.note_held(key, chain, (Address(stream, life), frame, decode_context(context)))
