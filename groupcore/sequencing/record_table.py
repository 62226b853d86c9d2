"""Records of many groups as bytes and back, in columns: a hundred thousand are packed in slices.

Most groups of a large cluster are idle: a few numbers each. These are columns; who is a member and
who has sent stands apart, for those that have any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgpack import packb

from groupcore.sequencing import columns
from groupcore.sequencing.names import SEQNO_MAX, Order, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Place, Record
from groupcore.view import Address

SLICE = 4_000
"""Records in one part of a table: some milliseconds of work."""
ORDERS = list(Order)


def slices(records: Sequence[Record]) -> list[Sequence[Record]]:
    """The records in parts that are packed, and taken, one at a time."""
    return [records[at : at + SLICE] for at in range(0, len(records), SLICE)]


def pack_records(plane: Plane, records: Sequence[Record]) -> bytes:
    """These records."""
    streams: dict[Address | None, int] = {None: 0}
    numbers = [
        streams[stream] if stream in streams else streams.setdefault(stream, len(streams))
        for stream in [record.place.stream for record in records]
    ]
    processes: dict[Process, int] = {}

    def pairs(table: dict[Process, int]) -> list[int]:
        flat: list[int] = []
        for process, number in table.items():
            flat += (processes.setdefault(process, len(processes)), number)
        return flat

    process_of = plane.senders.process

    def by_key(table: dict[int, int]) -> list[int]:
        return pairs({process_of(key): number for key, number in table.items()})

    peopled = [
        [at, pairs(record.members), by_key(record.senders), by_key(record.requests or {})]
        for at, record in enumerate(records)
        if record.members or record.senders or record.requests
    ]
    packed: bytes = packb(
        [
            [record.group for record in records],
            bytes([record.order for record in records]),
            [record.seqno for record in records],
            [record.place.frame for record in records],
            numbers,
            [list(stream) for stream in streams if stream is not None],
            peopled,
            [[*process.node, process.number] for process in processes],
        ]
    )
    return packed


def unpack_records(plane: Plane, packed: bytes) -> list[Record]:
    """The records; their senders' keys are this plane's. WireError when there are none."""
    table = columns.items(columns.unpacked(packed), 8)
    groups = columns.numbers(table[0])
    rows = len(groups)
    orders = columns.blob(table[1])
    if len(orders) != rows or max(orders, default=0) >= len(ORDERS):
        raise columns.bad("not a column of orders")
    seqnos, frames = (columns.numbers(one, rows, SEQNO_MAX) for one in table[2:4])
    streams = [None, *map(columns.address, columns.items(table[5]))]
    numbers = columns.numbers(table[4], rows, most=len(streams) - 1)
    processes = [columns.process(one) for one in columns.items(table[7])]
    peopled = [columns.items(one, 4) for one in columns.items(table[6])]
    records = []
    places: dict[tuple[int, int], Place] = {}
    for group, order, seqno, frame, number in zip(
        groups, orders, seqnos, frames, numbers, strict=True
    ):
        record = Record(group, ORDERS[order])
        record.seqno = seqno
        place = places.get((number, frame))
        if place is None:
            place = places[number, frame] = Place(streams[number], frame)
        record.place = place
        records.append(record)
    for at, members, senders, requests in peopled:
        _people(plane, columns.chosen(records, at), processes, (members, senders, requests))
    return records


def _people(
    plane: Plane, record: Record, processes: list[Process], tables: tuple[list[Any], ...]
) -> None:
    """Who is in a group, has sent to it, has asked for something: pairs of process and number."""
    for table in tables:
        if len(columns.numbers(table)) % 2:
            raise columns.bad("a process without its number")
    members, senders, requests = (
        [(columns.chosen(processes, table[at]), table[at + 1]) for at in range(0, len(table), 2)]
        for table in tables
    )
    key = plane.senders.key
    record.members.update(members)
    record.senders.update((key(process), number) for process, number in senders)
    if requests:
        record.requests = {key(process): number for process, number in requests}
