"""What a new node takes over: the directory, and every group's record, of one cut of all streams.

Invariants.
  I1  The records are those after certain frames of each stream, and the state says which.
  I2  The chains are those of the records: what a sequencer goes on behind.
  I3  The directory is that after a certain command of a certain view, and the state says which.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from msgpack import Packer

from groupcore.context import Numbers, decode_context, encode_context
from groupcore.sequencing import columns, directory_snapshot
from groupcore.sequencing.chains import Standing
from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.names import GroupId, Place, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.record_table import unpack_records
from groupcore.view import Address

ITEMS = 8
"""Items of a node's state that leaves no groups out."""
HEAD_LEAST = 4
"""What its place takes at least: view and command, epoch and position."""
BIN_32 = b"\xc6"
"""How msgpack begins bytes whose length takes four more."""


def pack_node_state(
    plane: Plane,
    place: Place,
    directory: bytes,
    records: list[bytes],
    archive: list[bytes] | None,
    deleted: list[GroupId],
    begun: Numbers,
    left_out: list[GroupId],
) -> bytes:
    """This node's state as of now, with its directory as of `place`, its records, its archive.

    Of a group that stands in several parts of either the last one counts; `deleted` are in none.
    `begun`: how far the streams were recorded when the first part was packed; `left_out`: groups
    that the taker has (`resuming`).
    """
    streams = [
        [list(address), stream.recorded, stream.end]
        for address, stream in plane.streams.items()
        if stream.started
    ]
    gone = [list(node) for node in sorted(plane.gone)]
    chains = [_pack_chain(plane, *chain) for chain in plane.chains.snapshot()]
    since = [[list(address), frame] for address, frame in begun.items()]
    items: list[Any] = [[*place, *plane.place, since], directory, streams, records, gone, chains]
    items += [archive, deleted, *([left_out] if left_out else [])]
    return b"".join(_pieces_of(items))


def _pieces_of(items: list[Any]) -> Iterator[bytes]:
    """A list as msgpack has it, in pieces: what is large in it is copied once, as they are joined.

    Packed whole it would be copied at each doubling of the packer's buffer: 50 ms with 20 MB.
    """
    packer = Packer()
    yield packer.pack_array_header(len(items))
    for item in items:
        if isinstance(item, list) and item and all(isinstance(one, bytes) for one in item):
            yield packer.pack_array_header(len(item))
            for part in item:
                yield BIN_32 + len(part).to_bytes(4, "big")
                yield part
        else:
            yield packer.pack(item)


def node_state_covers(plane: Plane, state: bytes) -> bool:
    """Whether the state reaches the frames with which this node has begun each stream.

    Those of nodes that are gone, too: this node may have told others that it has what follows in
    its log, and must not have to drop that for a hole before it.
    """
    table = columns.items(columns.unpacked(state), ITEMS)
    streams, gone = _streams(table[2]), columns.items(table[4])
    cuts = {address: recorded for address, (recorded, _) in streams.items()}
    over = set(map(columns.address, gone)) - set(cuts)
    return all(
        not stream.started or stream.base <= cuts.get(address, 0)
        for address, stream in plane.streams.items()
        if address != plane.me and address not in over
        if address in cuts or plane.in_view(address)
    )


class Taking:
    """Becoming what the state says, in slices; nothing of it counts before `finish`.

    WireError, here or by `step`, when the bytes are no state: then nothing has changed, and it is
    to be dropped.
    """

    def __init__(self, plane: Plane, state: bytes) -> None:
        self._plane = plane
        head, directory, streams, parts, gone, chains, archived, deleted = columns.items(
            columns.unpacked(state), ITEMS
        )
        if type(head) is not list or len(head) < HEAD_LEAST:
            raise columns.bad("a state without its place")
        self._place = Place(*columns.numbers(head[:2]))
        self._position = columns.numbers(head[2:HEAD_LEAST])
        self._streams = _streams(streams)
        self._gone = [columns.address(node) for node in columns.items(gone)]
        self._chains = [_chain(chain) for chain in columns.items(chains)]
        self._deleted = columns.numbers(deleted)
        self._reading = directory_snapshot.reading(columns.blob(directory))
        self._directory: DirectoryState | None = None
        self._parts = deque(columns.blobs(parts))
        self._records: dict[GroupId, Record] = {}
        archive = plane.archive
        self._archive = None if archived is None or archive is None else archive.beside()
        self._archived = deque([] if self._archive is None else columns.items(archived))

    def step(self) -> bool:
        """A slice more; whether there is nothing left."""
        if self._directory is None:
            self._directory = next(self._reading)
        elif self._parts:
            part = unpack_records(self._plane, self._parts.popleft())
            self._records.update((one.group, one) for one in part)
        elif self._archive is not None and self._archived:
            self._archive.open(self._archived.popleft())
        return self._directory is not None and not self._parts and not self._archived

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the archive was missing."""
        return self._archive is None or self._archive.is_whole

    def drop(self) -> None:
        """It is not taken: nothing of it stays."""
        if self._archive is not None:
            self._archive.clear()

    def finish(self) -> Place:
        """Become it; the place of its directory."""
        plane = self._plane
        assert self._directory is not None, "all of it has been taken"
        epoch, position = self._position
        plane.place = (epoch, position)
        if plane.archive is not None and self._archive is not None:
            plane.archive.become(self._archive)
        plane.directory.become(self._directory)
        plane.gone.update(self._gone)
        plane.records.update(self._records)
        if self._deleted and plane.log is not None:
            plane.log.doom()  # the state's archive may hold something of these
        for group in self._deleted:
            plane.records.pop(group, None)
            if plane.archive is not None:
                plane.archive.forget(group)
        for process, chain, standing in self._chains:
            key = plane.senders.of_node(process.node, [process.number])[process.number]
            plane.chains.note_held(key, chain, standing)
        _take_streams(plane, self._streams)
        return self._place


def take_node_state(plane: Plane, state: bytes) -> Place:
    """Become what the state says, at once; the place of its directory."""
    taking = Taking(plane, state)
    while not taking.step():
        pass
    return taking.finish()


def _take_streams(plane: Plane, cuts: dict[Address, tuple[int, int | None]]) -> None:
    """Be as far with each stream as the records are."""
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


# What msgpack hands over is anything, until it has been looked at: Any lives here.


def _pack_chain(plane: Plane, key: int, chain: int, standing: Standing) -> list[Any]:
    node, number = plane.senders.process(key)
    address, frame, context = standing
    return [*node, number, chain, *address, frame, encode_context(context)]


def _chain(packed: object) -> tuple[Process, int, Standing]:
    name, life, own, chain, stream, its_life, frame, context = columns.items(packed, 8)
    process, address = columns.process([name, life, own]), columns.address([stream, its_life])
    columns.counted(chain, frame)
    return process, chain, (address, frame, decode_context(columns.blob(context)))


def _streams(packed: object) -> dict[Address, tuple[int, int | None]]:
    """How far the records are with each stream, and where it ends if it does."""
    cuts: dict[Address, tuple[int, int | None]] = {}
    for row in columns.items(packed):
        stream, recorded, end = columns.items(row, 3)
        columns.counted(recorded)
        cuts[columns.address(stream)] = (recorded, columns.counted_or_none(end))
    return cuts
