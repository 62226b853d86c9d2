"""The service: one node's communication module, for all processes that it hosts.

Its host (the endpoint's driver) feeds in packets, the control plane's ordered commands and views,
and the calls of its processes, ends the turn, and takes what that has caused. `docs/sequencing.md`
says how it works; each rule is in the module that is named after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from random import Random

from groupcore.batch import Batch
from groupcore.digest import Digest
from groupcore.events import Event, FetchCut, PrimaryLost, PrimaryRegained, Synced, ViewInstalled
from groupcore.events import Saved as OrderSaved
from groupcore.sequencing import headers as h
from groupcore.sequencing.archiving import Archiving
from groupcore.sequencing.arriving import Progress
from groupcore.sequencing.balancing import Balancing
from groupcore.sequencing.calls import ProcessCalls
from groupcore.sequencing.conductor import Conductor
from groupcore.sequencing.creating import Creating
from groupcore.sequencing.cut import Cut
from groupcore.sequencing.ending import Ending
from groupcore.sequencing.expected import Expected
from groupcore.sequencing.figures import Figures
from groupcore.sequencing.idle import Idle
from groupcore.sequencing.inheriting import Inheriting
from groupcore.sequencing.joining import Joining
from groupcore.sequencing.keeper import Keeper
from groupcore.sequencing.log import Position
from groupcore.sequencing.migration import Migration
from groupcore.sequencing.names import Place, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.output import ServiceOutput
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.planning import Planning
from groupcore.sequencing.receiver import Receiver
from groupcore.sequencing.record import JOINED, Record
from groupcore.sequencing.requests import DirectoryRequests
from groupcore.sequencing.restoring import Restoring
from groupcore.sequencing.saving import Saving
from groupcore.sequencing.sender import Sender
from groupcore.sequencing.sequencer import Sequencer
from groupcore.sequencing.shelf import Shelf
from groupcore.sequencing.tracing import Recorder
from groupcore.sequencing.volatile import Volatiles
from groupcore.sequencing.watch import Watch
from groupcore.view import Address


class Service(ProcessCalls, DirectoryRequests, Figures):
    """One life of one node's communication module. `now` is monotonic seconds."""

    def __init__(
        self,
        me: Address,
        options: ServiceOptions,
        random: Random,
        log: Iterable[bytes] = (),
        shelf: Shelf | None = None,
    ) -> None:
        """`log`: what former lives of this node have put out, oldest first. `shelf`: a new one."""
        del random  # nothing here needs chance
        self.plane = Plane(me, options, shelf)
        self.sequencer = Sequencer(self.plane)
        self.sender = Sender(self.plane)
        self.receiver = Receiver(self.plane, self.sender.on_frame, self._on_change, self._on_left)
        self.keeper = Keeper(self.plane)
        self.joining = Joining(self.plane, self.receiver, self.sender)
        self.expected = Expected(self.plane, self.joining)
        self.migration = Migration(self.plane, self.sequencer)
        self.ending = Ending(self.plane)
        self.balancing = Balancing(self.plane, self.sequencer.meter, self.sender.tie_meter)
        self.cut = Cut(self.plane, self.keeper)
        self.volatiles = Volatiles(self.plane)
        self.planning = Planning(self.plane)
        self.creating = Creating(self.plane)
        self.inheriting = Inheriting(
            self.plane,
            lambda: chain(self.joining.wanted(), self.sender.groups_under_way()),
        )
        self.conductor = Conductor(
            self.plane,
            self.sequencer,
            self.sender,
            self.keeper,
            self.joining,
            self.migration,
            self.ending,
            self.cut,
            self.volatiles,
            self.planning,
            self.inheriting,
            self.creating,
        )
        self._now = 0.0
        self._processes = 0
        self._seen_progress = 0
        self._began = (0, 0, 0, 0)
        self.idle = Idle()
        self.archiving = Archiving(self.plane, self.joining.states, self.conductor.place)
        self.saving = Saving(self.plane, self.archiving)
        self._restored = Place(0, 0)
        for _ in self.restore(log):
            pass

    def restore(self, log: Iterable[bytes]) -> Iterator[None]:
        """Take over `log` (as in the constructor) a step at a time; before anything is fed in.

        Nothing else may be done with this service until all steps have been taken. WireError.
        """
        restoring = Restoring(self.plane, self.receiver)
        yield from restoring.steps(log)
        self._restored = restoring.place
        self.conductor.restored(self._restored)

    def trace(self, recorder: Recorder) -> None:
        """Write down from here on what happens; to be called before anything is fed in."""
        self.plane.trace = recorder
        recorder.begin(self.plane)

    def watch(self, watch: Watch) -> None:
        """Keep in mind there what happens from here on; to be called before anything is fed in."""
        self.plane.watch = watch
        watch.begin(self.plane.me)

    @property
    def held(self) -> Position:
        """How much of the control plane's order the log that was taken over holds."""
        return self.plane.place

    @property
    def progress(self) -> Progress | None:
        """How far this node is that takes the others' state; None when it takes none."""
        return self.conductor.arriving.progress()

    # --- the host's calls -----------------------------------------------------------------------

    def give_state(self, token: int, state: bytes | None) -> None:
        """The answer to `StateWanted`; None: it is not to be had here, another node is asked."""
        self.idle.end()
        self.joining.give(token, state)

    # --- packets --------------------------------------------------------------------------------

    def receive(self, batch: Batch, now: float) -> None:
        """A packet of the data plane; nothing in it makes this raise."""
        self._now = now
        header = batch.headers[-1]
        node = batch.sender
        if type(header) is h.Digest:
            if self.keeper.on_digest(node, header):
                self.idle.end()
            return
        self.idle.end()
        match header:  # what comes most first
            case h.Accept() | h.Change():
                self.keeper.on_frame(node, header.frame, batch)
            case h.Send() | h.Forward() | h.Join() | h.Leave():
                self.sequencer.intake.take(batch, now)
            case h.Fetch():
                self.keeper.on_fetch(node, header)
            case h.Repair():
                self.keeper.on_repair(header)
            case h.Missing():
                self.sender.again.on_missing(header.process, header.chain, node, now)
            case h.Repeated():
                process = Process(self.plane.me, header.process)
                self.sender.on_repeated(process, header.group, header.number)
            case h.Redirect():
                self.sender.redirect(header.group, header.owner, header.epoch)
            case h.Refusal():
                detail = header.detail.decode(errors="replace")
                self.joining.on_refusal(header.request, header.code, detail)
            case h.VolatileMessage():
                self.volatiles.receive(batch, header)
            case h.StateRequest():
                self.joining.states.on_request(node, header)
                self.joining.handing.on_request(node, header, now)
            case h.StatePiece():
                self.joining.states.on_piece(node, header, now)
            case h.Level():
                self.ending.on_level(node, header)
            case h.Reached():
                self.ending.on_reached(node, header)

    # --- the control plane ----------------------------------------------------------------------

    def on_order(self, by: Address, payload: bytes, now: float, position: int = 0) -> None:
        """An ordered command; `position`: its place in the epoch of the control plane's order."""
        self.idle.end()
        self._now = self.plane.watch.now = now
        if self.plane.trace is not None:
            self.plane.trace.at(now)
        self.conductor.on_order(by, payload, now, position)

    def on_event(self, event: Event, now: float) -> None:
        """What the control plane says of views and their cuts."""
        self.idle.end()
        self._now = self.plane.watch.now = now
        if self.plane.trace is not None:
            self.plane.trace.at(now)
        match event:
            case ViewInstalled():
                self.conductor.install(event, now)
            case PrimaryLost():
                self.plane.primary = False
            case PrimaryRegained():
                self.plane.primary = True
            case FetchCut():
                self.cut.fetch(event)
            case OrderSaved(epoch, position):
                self.plane.place_saved = max((epoch, position), self.plane.place_saved)
                self.plane.progress += 1

    def stored(self, mark: int, now: float) -> None:
        """Everything up to this part of the log is safely on disk."""
        self.idle.end()
        log = self.plane.log
        if log is not None:
            if log.stored(mark):
                self.plane.control.append(Synced(*log.place))
            self.keeper.on_stored(now)

    def stop_acknowledging(self, view: int) -> Digest:
        """The stack stops view number `view`: how far each stream is here, finally."""
        self.idle.end()
        return self.cut.stop(view)

    def known_streams(self, position: int) -> Digest:
        """Of which of these streams the order up to there knows less, and how much."""
        return self.cut.known(position)

    def has_streams(self, streams: Digest) -> bool:
        """Whether the frames of a view's cut are here."""
        return self.cut.has(streams)

    def stored_streams(self) -> Digest:
        """How far a life that begins with its log has the streams that have not ended."""
        return self.cut.stored()

    def stored_view(self) -> int:
        """The last view in the log with which this life has begun; 0 without one."""
        return self._restored.view

    def disk_mark(self) -> int:
        """Grows with what is on disk of the log; 0 without one."""
        return 0 if self.plane.log is None else self.plane.log.stored_mark

    @property
    def is_logged(self) -> bool:
        """Whether the groups are on disk as well."""
        return self.plane.log is not None

    def _on_change(self, record: Record, process: Process, what: int, seqno: int) -> None:
        self.sequencer.ownership.on_recorded(record.group, process, what == JOINED)
        self.joining.on_change(record, process, what, seqno, self._now)

    def hands_over(self, now: float) -> bool:
        """Whether others still take states that may be nowhere but here: who leaves waits."""
        self.idle.end()  # it may have to be woken for them
        return self.joining.handing.owes_any(now)

    def _on_left(self, record: Record) -> None:
        self.joining.let_go(record)

    # --- the turn -------------------------------------------------------------------------------

    def wake(self, now: float) -> None:
        """Run what is due."""
        if self.idle.lasts(now):
            return
        self._now = now
        self.sender.again.wake(now)
        self.joining.states.wake(now)
        self.joining.handing.wake(now)

    def next_wake(self) -> float | None:
        """When `wake` has something to do; None when nothing is planned."""
        if self.idle.is_on:
            return self.idle.wake_at
        times = (
            self.sender.again.next_wake(),
            self.joining.next_wake(),
            self.joining.states.next_wake(),
            self.joining.handing.next_wake(),
            self.expected.next_wake(),
            self.conductor.next_wake(),
            self.saving.next_wake(),
            self.keeper.next_wake(),
            self.ending.next_wake(),
            self.balancing.next_wake(),
            self.inheriting.next_wake(),
            self.creating.next_wake(),
        )
        return min([time for time in times if time is not None], default=None)

    def end_turn(self, now: float) -> None:
        """What has come in this turn is recorded and delivered, what is due is said."""
        self._now = self.plane.watch.now = now
        plane = self.plane
        if plane.trace is not None:
            plane.trace.at(now)
        if self.idle.lasts(now):
            self.conductor.now = self.joining.now = now
            return
        self._began = self._marks()
        self.conductor.proceed(now)
        self.sequencer.start()
        self.sender.flush(now)
        self._serve_own_requests()
        keeper = self.keeper
        before, self._seen_progress = self._seen_progress, plane.progress
        moved = {plane.me: plane.own, **keeper.touched}
        keeper.settle()
        log = plane.log if plane.ready else None
        for address, stream in plane.streams.items():
            if address in moved or plane.progress != before:
                plane.reaches.note(plane.me, address, plane.acknowledged(stream), 0)
                if log is not None:
                    log.frames(stream)
                self.receiver.record(stream)
        self.joining.states.proceed(now)
        if plane.progress != before:
            self._seen_progress = plane.progress
            self.receiver.release()
            self.joining.settle()
            self.joining.states.retry()
            self.sequencer.start()
            self.sequencer.number()
            self.conductor.send_again(now)
            self.sender.again.go_on(now)
        self.conductor.giving.end_turn(now)
        self.expected.retry(now)
        self.joining.states.give_owed()
        self.joining.ask(now)
        self.ending.wake(now)
        self.migration.proceed()
        self.planning.proceed()
        self.creating.proceed(now)
        self.inheriting.end_turn(now)
        self.balancing.wake(now)
        self.cut.end_turn()
        if plane.view is not None:
            keeper.ask(now)
            keeper.telling.tell(now, self.conductor.news)
            self.conductor.news = False
            if log is not None:
                self.saving.end_turn(now)
            keeper.collect(now)
            self.sequencer.intake.resume()
        elif plane.log is not None:
            keeper.ask(now)  # what the first view's cut contains

    def _serve_own_requests(self) -> None:
        """What goes to this node itself does not travel."""
        me = self.plane.me
        self.sequencer.number()
        while self.plane.sends and any(batch.destination == me for batch in self.plane.sends):
            sends, self.plane.sends = self.plane.sends, []
            self.plane.sends += [batch for batch in sends if batch.destination != me]
            for batch in [batch for batch in sends if batch.destination == me]:
                self.receive(batch, self._now)
            self.sequencer.number()

    def take(self) -> ServiceOutput:
        """What the turn has caused.

        A new node says nothing in the order before it has the directory: what that holds already
        is not applied again, so it would not hear what became of it.
        """
        plane = self.plane
        if self.idle.is_on:
            return ServiceOutput([], [], [], [], [])
        self._serve_own_requests()
        output = ServiceOutput(plane.sends, [], plane.events, plane.control, [])
        plane.sends, plane.events, plane.control = [], [], []
        if plane.ready:
            output.commands, plane.commands = plane.commands, output.commands
        if plane.log is not None:
            if plane.has_log_only:
                plane.log.more(plane.streams.values())
            output.log = plane.log.take(plane.streams.values() if plane.ready else ())
        if plane.trace is not None:
            plane.trace.end_turn()
        if not self._goes_on(output):
            self.idle.begin(self.next_wake(), self.balancing.look_at())
        return output

    def _goes_on(self, output: ServiceOutput) -> bool:
        """Whether another turn may have something to do, though nothing has come.

        A digest leaves nothing to do, nor do commands that wait until this node is ready.
        """
        archive = self.plane.archive
        said = output.events or output.control or output.commands or output.log
        sent = any(type(batch.headers[-1]) is not h.Digest for batch in output.sends)
        moved = self._marks() != self._began or self.keeper.touched
        waits = self.sequencer.intake.waits or self.joining.is_put_off()
        archives = archive is not None and (archive.large or archive.runs_bytes > archive.total_max)
        return bool(said or sent or moved or waits or archives)

    def _marks(self) -> tuple[int, int, int, int]:
        """What changes with what is here: it is the same behind a turn that has moved nothing."""
        plane = self.plane
        return plane.progress, plane.reaches.news, len(plane.streams), len(plane.commands)
