"""The directory as bytes and back: exact, and equal bytes for equal directories.

Columns rather than records: a hundred thousand groups are packed by a dozen list comprehensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from msgpack import packb, unpackb
from msgpack.exceptions import UnpackException

from groupcore.errors import WireError
from groupcore.sequencing.directory_state import (
    DirectoryState,
    Ended,
    Entry,
    MoveState,
    PendingEntry,
    Tenure,
)
from groupcore.sequencing.load import Busy
from groupcore.sequencing.names import Order, Process
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.view import Address, View
from groupcore.wire import decode_value, encode_value

FORMAT = 6
"""First value of every snapshot."""
BEFORE_ARRIVING = 5
"""That of snapshots without the table of nodes that take the state."""
BEFORE_TENURES = 4
"""That of snapshots without the table of tenures, too, whose memberships name no request."""
BEFORE_OBSERVERS = 3
"""The oldest format that is read: without the table of observers, too."""
SLICE = 2_000
"""Groups of a part, where it is read in parts."""


class _Addresses:
    """Addresses as numbers: each is written once."""

    def __init__(self) -> None:
        self.numbers: dict[Address, int] = {}

    def number(self, address: Address) -> int:
        return self.numbers.setdefault(address, len(self.numbers))

    def numbered(self, addresses: Sequence[Address]) -> list[int]:
        number = self.number
        return [number(address) for address in addresses]


def pack(state: DirectoryState) -> bytes:
    """The snapshot of a directory."""
    known = _Addresses()
    number = known.number
    entries = state.entries
    columns = [
        list(entries),
        [entry.name for entry in entries.values()],
        [int(entry.order) for entry in entries.values()],
        known.numbered([entry.owner for entry in entries.values()]),
        [entry.epoch for entry in entries.values()],
        [entry.floor for entry in entries.values()],
        [entry.move for entry in entries.values()],
    ]
    moves = [
        [key, move.groups, number(move.source), number(move.target), move.reason]
        + ([number(move.requested[0]), move.requested[1]] if move.requested else [])
        for key, move in state.moves.items()
    ]
    pending = [
        [p.group, number(p.process.node), p.process.number, number(p.by), p.request]
        for p in state.pending
    ]
    overlap = [[number(p.node), p.number, groups] for p, groups in state.overlap.entries()]
    loads = [
        [[g, busy.load, busy.sender, busy.share] for g, busy in sorted(state.loads.busy.items())],
        [[number(node), delay] for node, delay in sorted(state.loads.delays.items())],
        [[number(node), times] for node, times in sorted(state.loads.heavy.items())],
        sorted(state.loads.resting.items()),
    ]
    ties = [
        [number(node), [[*pair, rate] for pair, rate in sorted(rates.items())]]
        for node, rates in sorted(state.ties.by_node.items())
    ]
    ended = [
        [number(stream), one.frame, list(one.groups)] for stream, one in sorted(state.ended.items())
    ]
    streams = known.numbered(sorted(state.streams))
    head = [
        FORMAT,
        state.k,
        asdict(state.options),
        None if state.view is None else encode_value(state.view, View),
        state.groups_given,
        state.moves_given,
        sorted(state.draining),
    ]
    observers = [[number(p.node), p.number, groups] for p, groups in state.observers.entries()]
    tenures = [
        [group, [[one.epoch, number(one.owner), one.last] for one in former]]
        for group, former in sorted(state.tenures.items())
    ]
    rest = [columns, moves, pending, overlap, loads, ties, ended, streams, observers, tenures]
    rest.append(known.numbered(sorted(state.arriving)))
    packed: bytes = packb([*head, list(known.numbers), *rest], use_bin_type=True)
    return packed


def unpack(data: bytes) -> DirectoryState:
    """The directory in a snapshot; WireError `bad_snapshot` when it is none."""
    *_, state = reading(data)
    assert state is not None, "the last one is the directory"
    return state


def reading(data: bytes) -> Iterator[DirectoryState | None]:
    """The same in parts of some groups: None after each of them, then the directory."""
    try:
        value = unpackb(data, raw=False, max_ext_len=0)
        yield None
        yield from _read(value)
    except (UnpackException, ValueError, TypeError, KeyError, IndexError, WireError) as error:
        raise WireError("bad_snapshot", str(error)[:80]) from None


def _read(value: list[Any]) -> Iterator[DirectoryState | None]:
    (kind, k, options, view, groups_given, moves_given, draining, addresses, *tables) = value
    if BEFORE_OBSERVERS <= kind < FORMAT:
        tables += [[]] * (FORMAT - kind)
    elif kind != FORMAT:
        raise ValueError("another format")
    if set(options) != {field.name for field in fields(PlacementOptions)}:
        raise ValueError("other options")
    state = DirectoryState(k, PlacementOptions(**options))
    if view is not None:
        state.install(decode_value(view, View))
    state.groups_given, state.moves_given = groups_given, moves_given
    state.draining = dict.fromkeys(draining)
    known = [Address(name, incarnation) for name, incarnation in addresses]
    columns, moves, pending, overlap, loads, ties, ended, streams, *later = tables
    observers, tenures, arriving = later
    _read_loads(state, loads, known)
    _read_moves(state, moves, known)
    yield from _read_entries(state, columns, known)
    state.pending = [
        PendingEntry(group, Process(known[node], number), known[by], request)
        for group, node, number, by, request in pending
    ]
    for table, rows in ((state.overlap, overlap), (state.observers, observers)):
        for node, number, groups in rows:
            for group, request in groups if kind > BEFORE_TENURES else [(one, 0) for one in groups]:
                table.enter(Process(known[node], number), group, request)
    state.ties.by_node = {
        known[node]: {(group, other): rate for group, other, rate in rates} for node, rates in ties
    }
    state.ended = {
        known[stream]: Ended(frame, dict.fromkeys(groups)) for stream, frame, groups in ended
    }
    state.tenures = {
        group: tuple(Tenure(epoch, known[owner], last) for epoch, owner, last in former)
        for group, former in tenures
    }
    state.streams = dict.fromkeys(known[stream] for stream in streams)
    state.arriving = dict.fromkeys(known[node] for node in arriving)
    yield state


def _read_entries(
    state: DirectoryState, columns: list[Any], known: list[Address]
) -> Iterator[None]:
    groups, names, orders, owners, epochs, floors, moves = columns
    kinds = list(Order)
    rows = zip(groups, names, orders, owners, epochs, floors, moves, strict=True)
    for group, name, order, owner, epoch, floor, move in rows:
        state.add(group, Entry(name, kinds[order], known[owner], epoch, floor, move))
        if not len(state.entries) % SLICE:
            yield None


def _read_moves(state: DirectoryState, moves: list[Any], known: list[Address]) -> None:
    for key, groups, source, target, reason, *requested in moves:
        asked = (known[requested[0]], requested[1]) if requested else None
        state.moves[key] = MoveState(tuple(groups), known[source], known[target], reason, asked)


def _read_loads(state: DirectoryState, loads: list[Any], known: list[Address]) -> None:
    busy, delays, heavy, resting = loads
    state.loads.busy = {group: Busy(load, sender, share) for group, load, sender, share in busy}
    state.loads.delays = {known[node]: delay for node, delay in delays}
    state.loads.heavy = {known[node]: times for node, times in heavy}
    state.loads.resting = dict(resting)
