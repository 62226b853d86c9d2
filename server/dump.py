"""What a node's log says of each group: its history, every number once and in its order.

The log is read twice. Views and commands tell, at the end, where each stream ended and which
sequencer had which numbers of a group: so a frame that was lost with its sequencer is left out, and
a number has one epoch, wherever the log says what. Then the frames are put behind each other as
every node records them. What a checkpoint stands for comes first, as the states and runs that the
groups' archives have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgpack import unpackb

from groupcore.sequencing.commands import DeleteGroup
from groupcore.sequencing.directory_changes import Change as Changed
from groupcore.sequencing.directory_changes import GroupCreated, StreamEnded
from groupcore.sequencing.directory_state import Tenure
from groupcore.sequencing.headers import Accept, Change, processes_of, unpack_column
from groupcore.sequencing.judging import applied, judged
from groupcore.sequencing.log import COMMAND, FRAMES, STATE, VIEW
from groupcore.sequencing.logged_frames import logged_frame
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.node_state import take_node_state
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.stream import Frame, Stream
from groupcore.shared.rebuilding import Logged, LoggedState
from groupcore.view import Address, View
from groupcore.wire import decode_value

READER = Address("reader", 0)
"""As whom the log is read; no node is called so in incarnation 0."""
Reaches = Mapping[Address, int]
"""Up to which frame each stream is recorded: held by a quorum."""


class LogReader:
    """Reads the parts of one log, which can be gone through twice, oldest first.

    `recorded`: how far the node that writes the log is, if it runs; the log itself says it a little
    later.
    """

    def __init__(self, recorded: Reaches | None = None) -> None:
        self._plane = Plane(READER, ServiceOptions(durable=True))
        self._names: dict[GroupId, str] = {}
        self._deleted: dict[GroupId, tuple[Tenure, ...]] = {}
        self._ends: dict[Address, int] = {}
        self._recorded: dict[Address, int] = dict(recorded or {})
        self._behind: dict[GroupId, int] = {}
        self._early: dict[GroupId, dict[int, list[Logged]]] = {}

    def entries(self, parts: Iterable[bytes]) -> Iterator[Logged | LoggedState]:
        """What the log says of each group; a state comes before all of its group."""
        for at, part in enumerate(parts):
            for kind, *entry in unpackb(part, strict_map_key=False):
                if kind == VIEW:
                    self._on_view(decode_value(entry[0], View), *entry[2:])
                elif kind == COMMAND:
                    self._on_command(Address(*entry[0]), entry[1])
                elif kind == FRAMES:
                    self._reached(Address(*entry[0]), *entry[3:4])
                elif kind == STATE and at == 0:  # a later one has not become the beginning
                    self._on_state(entry[0])
        yield from self._archived()
        for part in parts:
            for kind, *entry in unpackb(part, strict_map_key=False):
                if kind == FRAMES:
                    yield from self._frames(Address(*entry[0]), entry[1], entry[2])

    # --- who had which numbers ------------------------------------------------------------------

    def _on_state(self, state: bytes) -> None:
        take_node_state(self._plane, state)
        directory = self._plane.directory
        self._names = {group: entry.name for group, entry in directory.entries.items()}
        for address, stream in self._plane.streams.items():
            self._reached(address, stream.recorded)
            if stream.end is not None:
                self._ends[address] = stream.end

    def _on_view(
        self, view: View, ends: list[Any] | None, lacking: Sequence[list[Any]] = ()
    ) -> None:
        directory = self._plane.directory
        former = directory.view
        gone = [one for one in (former.members if former else ()) if one not in view.members]
        self._act(directory.on_view(view, gone, [Address(*one) for one in lacking]))
        if ends is not None:
            holder, streams = ends
            cut = {Address(*address): end for address, end in streams}
            for address, end in cut.items():
                self._reached(address, end)
            self._act(directory.end_streams(cut, Address(*holder)))

    def _on_command(self, by: Address, payload: bytes) -> None:
        directory = self._plane.directory
        command, _, _ = judged(payload)
        if command is None:
            return  # it changed nothing then, either
        if isinstance(command, DeleteGroup) and command.group in directory.entries:
            self._deleted[command.group] = self._tenures(command.group)
        self._act(applied(directory, command, by)[0])

    def _act(self, changes: list[Changed]) -> None:
        for change in changes:
            if isinstance(change, GroupCreated):
                self._names[change.group] = change.name
            elif isinstance(change, StreamEnded):
                self._ends[change.stream] = change.frame

    def _reached(self, stream: Address, frame: int = 0) -> None:
        self._recorded[stream] = max(frame, self._recorded.get(stream, 0))

    def _tenures(self, group: GroupId) -> tuple[Tenure, ...]:
        """The group's epochs so far, the present one last."""
        state = self._plane.directory.state
        entry = state.entries[group]
        return (*state.tenures.get(group, ()), Tenure(entry.epoch, entry.owner, None))

    def _epoch(self, group: GroupId, stream: Address | None, number: int) -> int | None:
        if stream is None:
            return None
        state = self._plane.directory.state
        if group in state.entries:
            return state.epoch_of(group, stream, number)
        return epoch_in(self._deleted.get(group, ()), stream, number)

    # --- messages -------------------------------------------------------------------------------

    def _archived(self) -> Iterator[Logged | LoggedState]:
        archive = self._plane.archive
        for group, archived in ({} if archive is None else archive.groups).items():
            name = self._names.get(group, "")
            self._behind[group] = archived.seqno
            yield LoggedState(group, name, archived.seqno, archived.state)
            for run in archived.runs():
                stream = archived.origin_of(run.seqno)
                epoch = self._epoch(group, stream, run.seqno)
                if run.size == 0:
                    said = (group, name, epoch, run.seqno, run.process)
                    yield Logged(*said, 0, None, run.first)
                for place, payload in enumerate(run.payloads):
                    said = (group, name, epoch, run.seqno + place, run.process)
                    if run.seqno + place > archived.seqno:
                        yield Logged(*said, run.first + place, payload)
                self._behind[group] = run.last

    def _frames(self, stream: Address, first: int, packets: list[bytes]) -> Iterator[Logged]:
        for frame, packet in enumerate(packets, first):
            if frame > self._ends.get(stream, frame):
                return  # it was lost with its sequencer, and delivered nowhere
            batch = logged_frame(packet, stream)
            header = batch.headers[-1]
            settled = stream in self._ends or frame <= self._recorded[stream]
            if isinstance(header, Change):
                process = Process(header.node, header.process)
                place = (header.group, *self._place(header.group, stream, header.seqno))
                one = Logged(*place, header.seqno, process, 0, None, header.what, settled)
                yield from self._in_turn(header.group, header.seqno, [one])
            elif isinstance(header, Accept):
                payloads = Frame(Stream(stream), frame, batch, {}).messages(0, batch.count)
                yield from self._accepted(header, payloads, stream, settled)

    def _accepted(
        self, header: Accept, payloads: list[bytes], stream: Address, settled: bool
    ) -> Iterator[Logged]:
        size = len(header.groups) // 8
        columns = (header.groups, header.seqnos, header.firsts, header.counts)
        runs = zip(*(unpack_column(column, size) for column in columns), strict=True)
        rest = iter(payloads)
        for (group, seqno, first, count), process in zip(runs, processes_of(header), strict=True):
            name, epoch = self._place(group, stream, seqno)
            run = [
                Logged(
                    group,
                    name,
                    epoch,
                    seqno + place,
                    process,
                    first + place,
                    next(rest, b""),
                    0,
                    settled,
                )
                for place in range(count)
            ]
            yield from self._in_turn(group, seqno, run)

    def _in_turn(self, group: GroupId, seqno: int, run: list[Logged]) -> Iterator[Logged]:
        """The run, once the numbers before it were; what has its turn behind it, too."""
        if group not in self._names:
            return  # no node records what is said of a group that it has not heard of
        behind = self._behind.get(group, 0)
        run = run[max(behind + 1 - seqno, 0) :]
        if not run:
            return  # it was there already
        early = self._early.setdefault(group, {})
        early[run[0].position] = run
        while (due := early.pop(self._behind.get(group, 0) + 1, None)) is not None:
            self._behind[group] = due[-1].position
            yield from due

    def _place(self, group: GroupId, stream: Address, seqno: int) -> tuple[str, int | None]:
        """The group's name, and the epoch of the number."""
        return self._names.get(group, ""), self._epoch(group, stream, seqno)


def epoch_in(tenures: Iterable[Tenure], stream: Address, number: int) -> int | None:
    """Whose epoch a number is of that stands in this stream."""
    for one in tenures:
        if one.owner == stream and (one.last is None or number <= one.last):
            return one.epoch
    return None
