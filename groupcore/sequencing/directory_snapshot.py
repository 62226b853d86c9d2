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
from groupcore.sequencing import columns
from groupcore.sequencing.directory_state import (
    DirectoryState,
    Ended,
    Entry,
    MoveState,
    PendingEntry,
    Tenure,
)
from groupcore.sequencing.load import Busy
from groupcore.sequencing.names import SEQNO_MAX, GroupId, Order, Process
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
OPTION_MAX = 1 << 48
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
    table = [
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
    rest = [table, moves, pending, overlap, loads, ties, ended, streams, observers, tenures]
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
    except (UnpackException, ValueError, TypeError, LookupError, RecursionError) as error:
        raise WireError("bad_snapshot", repr(error)[:80]) from None
    except WireError as error:
        raise WireError("bad_snapshot", str(error)[:80]) from None


def _read(value: list[Any]) -> Iterator[DirectoryState | None]:
    (kind, k, options, view, groups_given, moves_given, draining, addresses, *tables) = (
        columns.items(value)
    )
    if BEFORE_OBSERVERS <= kind < FORMAT:
        tables += [[]] * (FORMAT - kind)
    elif kind != FORMAT:
        raise ValueError("another format")
    state = DirectoryState(columns.number(k), _options(options))
    if view is not None:
        state.install(decode_value(view, View))
    state.groups_given, state.moves_given = columns.counted(groups_given, moves_given)
    state.draining = dict.fromkeys(columns.texts(draining))
    known = _Known(map(columns.address, columns.items(addresses)))
    entries, moves, pending, overlap, loads, ties, ended, streams, *later = tables
    observers, tenures, arriving = later
    _read_loads(state, loads, known)
    _read_moves(state, moves, known)
    yield from _read_entries(state, entries, known)
    state.pending = [_pending(row, known) for row in columns.items(pending)]
    for table, rows in ((state.overlap, overlap), (state.observers, observers)):
        for node, number, groups in map(_three, columns.items(rows)):
            process = Process(known.at(node), columns.number(number))
            if kind <= BEFORE_TENURES:
                groups = [(one, 0) for one in columns.numbers(groups)]
            for group, request in columns.items(groups):
                table.enter(process, columns.number(group), columns.number(request))
    for node, rates in columns.items(ties):
        rows = [columns.numbers(row, 3) for row in columns.items(rates)]
        state.ties.by_node[known.at(node)] = {(one, other): rate for one, other, rate in rows}
    for stream, frame, groups in map(_three, columns.items(ended)):
        left = dict.fromkeys(columns.numbers(groups))
        state.ended[known.at(stream)] = Ended(columns.counted(frame)[0], left)
    for group, former in columns.items(tenures):
        held = tuple(_tenure(row, known) for row in columns.items(former))
        state.tenures[columns.number(group)] = held
    state.streams = dict.fromkeys(known.at(stream) for stream in columns.items(streams))
    state.arriving = dict.fromkeys(known.at(node) for node in columns.items(arriving))
    _check(state)
    yield state


def _options(options: object) -> PlacementOptions:
    known = {field.name for field in fields(PlacementOptions)}
    if type(options) is not dict or set(options) != known:
        raise ValueError("other options")
    defaults = asdict(PlacementOptions())
    for name, value in options.items():
        if type(value) is not type(defaults[name]) or not 0 <= value <= OPTION_MAX:
            raise ValueError(f"not a value of option {name}")
    if not options["smoothing"]:
        raise ValueError("loads are smoothed by nothing")
    return PlacementOptions(**options)


class _Known(list[Address]):
    """The addresses of a snapshot, by their numbers."""

    def at(self, number: object) -> Address:
        return columns.chosen(self, number)


def _three(row: object) -> list[Any]:
    return columns.items(row, 3)


def _pending(row: object, known: _Known) -> PendingEntry:
    group, node, number, by, request = columns.items(row, 5)
    process = Process(known.at(node), columns.number(number))
    request = columns.number(request)
    return PendingEntry(columns.number(group), process, known.at(by), request)


def _tenure(row: object, known: _Known) -> Tenure:
    epoch, owner, last = _three(row)
    columns.counted(epoch)
    return Tenure(epoch, known.at(owner), columns.counted_or_none(last))


def _check(state: DirectoryState) -> None:
    """The tables name each other's rows only: what is applied to them looks these up."""
    entries, moves = state.entries, state.moves
    for number, move in moves.items():
        if not move.groups or any(entries[group].move != number for group in move.groups):
            raise ValueError("a move and its groups do not name each other")
        if any(entries[group].owner != move.source for group in move.groups):
            raise ValueError("a move of another's groups")
    if sum(len(move.groups) for move in moves.values()) != sum(
        1 for e in entries.values() if e.move
    ):
        raise ValueError("a group is in a move that does not name it")
    pending = [one.group for one in state.pending]
    strict = [group for group, _ in _attended(state)]
    for group in (*pending, *strict):
        if entries[group].order is not Order.STRICT:
            raise ValueError("a process counts in a group that is not strict")
    if max(entries, default=0) > state.groups_given or max(moves, default=0) > state.moves_given:
        raise ValueError("a number that has not been given yet")
    for stream, one in state.ended.items():
        if any(entries[group].owner != stream for group in one.groups):
            raise ValueError("a group waits for the end of another's stream")


def _attended(state: DirectoryState) -> Iterator[tuple[GroupId, int]]:
    for table in (state.overlap, state.observers):
        for _, groups in table.entries():
            yield from groups


def _read_entries(state: DirectoryState, table: list[Any], known: _Known) -> Iterator[None]:
    groups, names, orders, owners, epochs, floors, moves = columns.items(table, 7)
    kinds = list(Order)
    rows_count = len(columns.numbers(groups))
    columns.texts(names, rows_count)
    columns.numbers(orders, rows_count, most=len(kinds) - 1)
    columns.numbers(owners, rows_count, most=len(known) - 1)
    for column in (epochs, floors, moves):
        columns.numbers(column, rows_count, SEQNO_MAX)
    if len(set(groups)) != rows_count:
        raise ValueError("a group stands twice")
    rows = zip(groups, names, orders, owners, epochs, floors, moves, strict=True)
    for group, name, order, owner, epoch, floor, move in rows:
        state.add(group, Entry(name, kinds[order], known[owner], epoch, floor, move))
        if not len(state.entries) % SLICE:
            yield None


def _read_moves(state: DirectoryState, moves: object, known: _Known) -> None:
    for key, groups, source, target, reason, *requested in columns.items(moves):
        ends = known.at(source), known.at(target)
        asked = None
        if requested:
            by, request = columns.items(requested, 2)
            asked = (known.at(by), columns.number(request))
        moved = tuple(columns.numbers(groups))
        state.moves[columns.number(key)] = MoveState(moved, *ends, columns.text(reason), asked)


def _read_loads(state: DirectoryState, loads: object, known: _Known) -> None:
    busy, delays, heavy, resting = columns.items(loads, 4)
    for row in columns.items(busy):
        group, load, sender, share = columns.items(row, 4)
        columns.numbers([group, load, share])
        state.loads.busy[group] = Busy(load, columns.text(sender), share)
    state.loads.delays = {known.at(node): columns.number(delay) for node, delay in delays}
    state.loads.heavy = {known.at(node): columns.number(times) for node, times in heavy}
    state.loads.resting = {columns.number(group): columns.number(n) for group, n in resting}
