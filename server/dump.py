"""What a node's log says, message by message, for people and for programs that audit.

The log is read in its own order: views and commands tell the groups' names and epochs as of each
place, frames hold the messages with their numbers. What a checkpoint stands for comes first, as the
messages that the groups' archives still have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgpack import unpackb

from groupcore.batch import unpack_messages
from groupcore.errors import GroupcoreError
from groupcore.sequencing.commands import decode_command
from groupcore.sequencing.headers import Accept, Change, processes_of, unpack_column
from groupcore.sequencing.log import COMMAND, FRAMES, STATE, VIEW
from groupcore.sequencing.logged_frames import logged_frame
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.node_state import take_node_state
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import GONE, JOINED
from groupcore.shared.errors import MisfitError
from groupcore.shared.messages import Operate, decode
from groupcore.shared.plain import who
from groupcore.shared.rebuilding import Logged, LoggedState
from groupcore.view import Address, View
from groupcore.wire import decode_value

Row = dict[str, object]

READER = Address("reader", 0)
"""As whom the log is read; no node is called so in incarnation 0."""


class LogReader:
    """Reads the parts of one log, oldest first."""

    def __init__(self) -> None:
        self._plane = Plane(READER, ServiceOptions(durable=True))

    def rows(self, parts: Iterable[bytes]) -> Iterator[Row]:
        """A row for each message and each process that came or went."""
        return (row_of(one) for one in self.entries(parts) if isinstance(one, Logged))

    def entries(self, parts: Iterable[bytes]) -> Iterator[Logged | LoggedState]:
        """What the log says of each group; a state begins a group anew."""
        for at, part in enumerate(parts):
            for kind, *entry in unpackb(part, strict_map_key=False):
                if kind == VIEW:
                    self._on_view(decode_value(entry[0], View), entry[2])
                elif kind == COMMAND:
                    self._on_command(Address(*entry[0]), entry[1])
                elif kind == FRAMES:
                    yield from self._frames(Address(*entry[0]), entry[2])
                elif kind == STATE and at == 0:  # a later one has not become the beginning
                    self._plane = Plane(READER, ServiceOptions(durable=True))
                    take_node_state(self._plane, entry[0])
                    yield from self._archived()

    def _on_view(self, view: View, ends: list[Any] | None) -> None:
        directory = self._plane.directory
        former = directory.view
        gone = [one for one in (former.members if former else ()) if one not in view.members]
        directory.on_view(view, gone)
        if ends is not None:
            holder, streams = ends
            cut = {Address(*address): end for address, end in streams}
            directory.end_streams(cut, Address(*holder))

    def _on_command(self, by: Address, payload: bytes) -> None:
        try:
            self._plane.directory.apply(decode_command(payload), by)
        except GroupcoreError:
            return  # it changed nothing then, either

    def _archived(self) -> Iterator[Logged | LoggedState]:
        archive = self._plane.archive
        for group, archived in ({} if archive is None else archive.groups).items():
            name, epoch = self._place(group)
            yield LoggedState(group, name, archived.seqno, archived.state)
            for run in archived.runs():
                if run.size == 0:
                    said = (group, name, epoch, run.seqno, run.process)
                    yield Logged(*said, 0, None, run.first)
                for place, payload in enumerate(run.payloads):
                    said = (group, name, epoch, run.seqno + place, run.process)
                    yield Logged(*said, run.first + place, payload)

    def _frames(self, stream: Address, packets: list[bytes]) -> Iterator[Logged]:
        for packet in packets:
            batch = logged_frame(packet, stream)
            header = batch.headers[-1]
            if isinstance(header, Change):
                process = Process(header.node, header.process)
                place = (header.group, *self._place(header.group))
                yield Logged(*place, header.seqno, process, 0, None, header.what)
            elif isinstance(header, Accept):
                yield from self._accepted(header, unpack_messages(batch.body))

    def _accepted(self, header: Accept, payloads: list[bytes]) -> Iterator[Logged]:
        size = len(header.groups) // 8
        columns = (header.groups, header.seqnos, header.firsts, header.counts)
        runs = zip(*(unpack_column(column, size) for column in columns), strict=True)
        rest = iter(payloads)
        for (group, seqno, first, count), process in zip(runs, processes_of(header), strict=True):
            name, epoch = self._place(group)
            for place in range(count):
                said = (group, name, epoch, seqno + place, process)
                yield Logged(*said, first + place, next(rest, b""))

    def _place(self, group: GroupId) -> tuple[str, int]:
        """The group's name and epoch, as of this place of the log."""
        entry = self._plane.directory.entries.get(group)
        return ("", 0) if entry is None else (entry.name, entry.epoch)


def row_of(one: Logged) -> Row:
    """As `dump-log` shows it."""
    row: Row = {
        "group": one.name or str(one.group),
        "epoch": one.epoch,
        "sequence_number": one.position,
        "process": who(one.process),
    }
    if one.payload is None:
        came_or_went = {JOINED: "joined", GONE: "gone"}
        return row | {"verdict": came_or_went.get(one.what, "left")}
    try:
        message = decode(one.payload)
    except MisfitError as error:
        return row | {"verdict": f"no operation: {error}"}
    if not isinstance(message, Operate):
        return row | {"verdict": "a comparison of states"}
    call = message.call
    return row | {
        "subject": message.principal,
        "client_operation_id": None if call is None else f"{call.client}:{call.number}",
        "operation": [[name, arguments] for name, arguments in message.calls],
        "verdict": "ordered",
    }
