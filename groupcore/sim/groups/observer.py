"""The service under observation: what a sequencer decides is written into the trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from groupcore.batch import Batch
from groupcore.events import Event, PrimaryLost, PrimaryRegained, ViewInstalled
from groupcore.sequencing.commands import Command
from groupcore.sequencing.directory_changes import Change as Changed
from groupcore.sequencing.directory_changes import MoveBegan
from groupcore.sequencing.events import Saved, ServiceEvent
from groupcore.sequencing.headers import Accept, Change, processes_of, unpack_column
from groupcore.sequencing.judging import COUNTER, judged
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.output import ServiceOutput
from groupcore.sequencing.receiving import groups_of
from groupcore.sequencing.record import JOINED
from groupcore.sequencing.service import Service
from groupcore.sim.clock import Clock
from groupcore.sim.groups.promises import Promise, Teller
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupDisowned,
    GroupOwned,
    GroupPrimary,
    GroupRecord,
    GroupStamped,
    flatten_process,
)
from groupcore.sim.trace_moves import MoveStarted
from groupcore.sim.trace_set_aside import OrderApplied
from groupcore.sim.trace_streams import StreamKept
from groupcore.view import Address

Watcher = Callable[[Address, str, Command | ServiceEvent], None]
"""Told of what a node has `asked` for in the control plane, was told in order (`ordered`), and
what its service has `said`."""


class ObservedService(Service):
    """One life's service, as it is: what it puts into its stream and what it owns is noted.

    What it does on behalf of a view waits until the node has written the view down.
    """

    def __init__(
        self,
        me: Address,
        options: ServiceOptions,
        random: Random,
        clock: Clock,
        trace: Trace,
        watchers: list[Watcher],
        log: Sequence[bytes] = (),
        promise: Promise | None = None,
    ) -> None:
        super().__init__(me, options, random, log)
        self._me = me
        self._clock = clock
        self._trace = trace
        self._watchers = watchers
        self._records: list[GroupRecord] | None = None
        self._epochs: dict[GroupId, int] = {}
        self._append = self.plane.own.append
        self.plane.own.append = self._stamped  # type: ignore[method-assign]
        ownership = self.sequencer.ownership
        self._start, self._disown = ownership.start, ownership.disown
        ownership.start = self._started  # type: ignore[method-assign]
        ownership.disown = self._disowned  # type: ignore[method-assign]
        self._planned = self.planning.note
        self.planning.note = self._changed  # type: ignore[method-assign]
        self._teller = Teller(self.plane, promise) if promise is not None else None
        kept = self._teller.kept() if self._teller is not None else {}
        for stream, (promised, here) in kept.items():
            trace.add(StreamKept(clock.now_ns, *me, stream, promised, here))

    # --- what is handed in and put out ----------------------------------------------------------

    def on_order(self, by: Address, payload: bytes, now: float, position: int = 0) -> None:
        """See `Service`."""
        super().on_order(by, payload, now, position)
        command = judged(payload)[0] if self._watchers else None
        if command is not None:
            self._tell("ordered", command)

    def note_order(self) -> None:
        """Write down what this life makes of each command of the order from here on."""
        apply, plane = self.conductor.apply, self.plane

        def noted(by: Address, payload: bytes, place: tuple[int, int]) -> None:
            before = {n: c for n, c in plane.counters.items() if n.startswith(COUNTER)}
            apply(by, payload, place)
            aside = [
                name.removeprefix(COUNTER)
                for name, count in plane.counters.items()
                if name.startswith(COUNTER) and count > before.get(name, 0)
            ]
            directory = plane.directory.fingerprint()
            now, made = self._clock.now_ns, "".join(aside)
            self._add(OrderApplied(now, *self._me, *plane.ordered, made, directory))

        self.conductor.apply = noted  # type: ignore[method-assign]

    def on_event(self, event: Event, now: float) -> None:
        """See `Service`."""
        if isinstance(event, PrimaryRegained | ViewInstalled | PrimaryLost):
            primary = not isinstance(event, PrimaryLost)
            if primary != self.plane.primary:
                self._add(GroupPrimary(self._clock.now_ns, *self._me, primary))
        if isinstance(event, ViewInstalled) and self._records is None:
            self._records = []
        super().on_event(event, now)

    def write(self) -> None:
        """Write down what has waited for a view."""
        records, self._records = self._records, None
        for record in records or ():
            self._trace.add(record)

    def _add(self, record: GroupRecord) -> None:
        if self._records is None:
            self._trace.add(record)
        else:
            self._records.append(record)

    def take(self) -> ServiceOutput:
        """See `Service`."""
        output = super().take()
        if self._teller is not None:
            self._note_saved(self._teller, output)
        for payload in output.commands if self._watchers else ():
            if (command := judged(payload)[0]) is not None:
                self._tell("asked", command)
        for event in output.events if self._watchers else ():
            self._tell("said", event)
        return output

    def _note_saved(self, teller: Teller, output: ServiceOutput) -> None:
        teller.say()
        for event in output.events:
            if isinstance(event, Saved):
                teller.tell(event.group, event.message)

    def _tell(self, happened: str, what: Command | ServiceEvent) -> None:
        for watcher in self._watchers:
            watcher(self._me, happened, what)

    # --- what the sequencer does ----------------------------------------------------------------

    def _stamped(self, batch: Batch) -> None:
        """A frame of its own stream."""
        header = batch.headers[-1]
        if isinstance(header, Change) and header.group:
            what = JOIN if header.what == JOINED else LEAVE
            process = Process(header.node, header.process)
            self._note(header.group, header.seqno, process, what, header.request)
        elif isinstance(header, Accept) and groups_of(header, batch.count):
            count = len(header.groups) // 8
            columns = [header.groups, header.seqnos, header.firsts, header.counts]
            numbers = [unpack_column(column, count) for column in columns]
            runs = zip(processes_of(header), *numbers, strict=True)
            for process, group, seqno, first, size in runs:
                for offset in range(size):
                    self._note(group, seqno + offset, process, first + offset)
        self._append(batch)

    def _note(
        self, group: GroupId, seqno: int, process: Process, number: int, request: int = 0
    ) -> None:
        now, flat = self._clock.now_ns, flatten_process(process)
        epoch = self.plane.directory.entries[group].epoch
        self._add(GroupStamped(now, *self._me, group, epoch, seqno, flat, number, request))

    def _started(self) -> list[GroupId]:
        """Groups that it sequences from now on."""
        started = self._start()
        for group in started:
            epoch = self._epochs[group] = self.plane.directory.entries[group].epoch
            floor = self.sequencer.ownership.owned[group].seqno
            self._add(GroupOwned(self._clock.now_ns, *self._me, group, epoch, floor))
        return started

    def _changed(self, change: Changed) -> None:
        """What the order has changed in the directory."""
        if isinstance(change, MoveBegan):
            now, source, target = self._clock.now_ns, str(change.source), str(change.target)
            move, groups, reason = change.move, change.groups, change.reason
            self._add(MoveStarted(now, *self._me, move, groups, source, target, reason))
        self._planned(change)

    def _disowned(self, group: GroupId) -> None:
        """A group that it sequences no longer."""
        owned = self.sequencer.ownership.owned.get(group)
        epoch = self._epochs.pop(group, None)
        if owned is not None and epoch is not None:
            now = self._clock.now_ns
            self._add(GroupDisowned(now, *self._me, group, epoch, owned.seqno))
        self._disown(group)


SPINS_MAX = 200
"""So many turns in which nothing is said may end, one after the other, with something to do at
once. Who gives a large state has that to do for longer."""


class RestingService(ObservedService):
    """One that must not want to be woken for nothing, again and again."""

    _spins = 0
    _ended_at = 0.0
    _has_said = False

    def end_turn(self, now: float) -> None:
        """See `Service`."""
        super().end_turn(now)
        self._ended_at = now

    def take(self) -> ServiceOutput:
        """See `Service`."""
        output = super().take()
        self._has_said = bool(output.sends)
        return output

    def next_wake(self) -> float | None:
        """See `Service`; asked once behind each turn."""
        wake = super().next_wake()
        is_due = wake is not None and wake <= self._ended_at and not self._has_said
        self._spins = self._spins + 1 if is_due else 0
        assert self._spins < SPINS_MAX, f"{self._me} spins: it has nothing to do and wants to"
        return wake
