"""The conductor: this node's part in what the control plane's order says.

Idea. Commands and views change the directory, at every node alike; what that changes for this node
is done here. A new node takes directory and records of another one first, and what has been
ordered meanwhile then.

Invariants.
  I1  Every command is applied once, in the order, behind the view in which it was ordered; what a
      state contains that was taken over is not applied again, however late this node is told of it.
      What is no command is set aside at its place (`judging`).
  I2  A new node's records and streams fit together: nothing between them is missing.
  I3  A node that has joined has no vote before it has the node's state: behind the cut of the view
      that has let it in it has the frames, as anybody has.
"""

from __future__ import annotations

from collections import deque

from groupcore.events import Synced, ViewInstalled
from groupcore.sequencing.arriving import Arriving
from groupcore.sequencing.commands import Arrived, Command, Tell
from groupcore.sequencing.creating import Creating
from groupcore.sequencing.cut import Cut
from groupcore.sequencing.directory_changes import (
    Change,
    CommandRefused,
    EntryAllowed,
    GroupCreated,
    GroupDeleted,
    Inherited,
    MoveBegan,
    MoveCancelled,
    OwnerMoved,
    StreamEnded,
)
from groupcore.sequencing.ending import Ending
from groupcore.sequencing.events import (
    Created,
    Deleted,
    MembersChanged,
    OwnerChanged,
    Refused,
    Told,
)
from groupcore.sequencing.giving import Giving
from groupcore.sequencing.inheriting import Inheriting
from groupcore.sequencing.joining import Joining
from groupcore.sequencing.judging import applied, judged, set_aside
from groupcore.sequencing.keeper import Keeper
from groupcore.sequencing.log import Position
from groupcore.sequencing.migration import Migration
from groupcore.sequencing.names import GroupId, Place
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.planning import Planning
from groupcore.sequencing.record import Record
from groupcore.sequencing.restoring import forget_records, forget_streams
from groupcore.sequencing.sender import Sender
from groupcore.sequencing.sequencer import Sequencer
from groupcore.sequencing.volatile import Volatiles
from groupcore.view import Address


class Conductor:
    """`news`: something has changed that all should hear of in this turn, which is at `now`."""

    def __init__(
        self,
        plane: Plane,
        sequencer: Sequencer,
        sender: Sender,
        keeper: Keeper,
        joining: Joining,
        migration: Migration,
        ending: Ending,
        cut: Cut,
        volatiles: Volatiles,
        planning: Planning,
        inheriting: Inheriting,
        creating: Creating,
    ) -> None:
        self._plane = plane
        self._sequencer = sequencer
        self._sender = sender
        self._keeper = keeper
        self._joining = joining
        self._migration = migration
        self._ending = ending
        self._cut = cut
        self._volatiles = volatiles
        self._planning = planning
        self._inheriting = inheriting
        self._creating = creating
        self.news = False
        self.now = 0.0
        self._heard = Place(0, 0)
        self._ordered: deque[tuple[Address, bytes, Position] | ViewInstalled] = deque()
        self._send_after: list[tuple[Address, int, tuple[GroupId, ...]]] = []
        self._joins = False
        self._position = 0
        self.arriving = Arriving(plane, joining.states, self._on_arrived)
        self.giving = Giving(plane, joining.states, self.place)
        joining.copy_node_state = self.giving.copy

    def on_order(self, by: Address, payload: bytes, now: float, position: int) -> None:
        """An ordered command; `position` is its place in the epoch."""
        self.now = now
        plane = self._plane
        place = (plane.view.epoch if plane.view is not None else 0, position)
        self._heard = Place(self._heard.view, self._heard.commands + 1)
        if not plane.ready:
            self._ordered.append((by, payload, place))
        elif self._heard > self._plane.ordered:
            self.apply(by, payload, place)

    def install(self, event: ViewInstalled, now: float) -> None:
        """A view."""
        self.now = now
        plane, view = self._plane, event.view
        first = plane.view is None
        plane.view, plane.primary = view, view.primary
        if plane.trace is not None:
            plane.trace.viewed(event)
        plane.watch.viewed(event)
        self._heard = Place(view.number, 0)
        plane.reaches.install(view, list(event.lacking))
        self._cut.on_view(view.number)
        self._joining.states.leave_gone()
        self.news = True
        joins = first and bool(event.holders) and plane.me not in event.holders
        if joins:
            forget_streams(plane)
        self._start_streams(event, joins)
        self._keeper.on_view()
        self._position = event.position
        if plane.ready:
            if view.number > plane.ordered.view:
                self._apply_view(event)
            self._say_synced()
            self._say_arrived()
            return
        self._ordered.append(event)
        if joins:
            self._take_over()
        elif first:
            self._go_on()  # its log goes as far as that of any who is asked for the state

    def proceed(self, now: float) -> None:
        """The turn ends: more may be here."""
        self.now = now
        self.arriving.proceed(now)

    def _take_over(self) -> None:
        """Others hold more: take it from them, and keep the frames that are here."""
        self._joins = True
        forget_records(self._plane)
        self.arriving.ask(self.now)

    def restored(self, place: Place) -> None:
        """A log has been taken over, which ends here."""
        self._plane.ordered = place

    def _start_streams(self, event: ViewInstalled, joins: bool) -> None:
        """Where the streams begin for this node that it does not know yet.

        What a view's cut contains all its members have but those that join, who get it with the
        node's state. Where there is none, the stream begins with what is heard first.
        """
        former = () if event.previous is None else event.previous.members
        begun = {member: 0 for member in event.view.members if member not in former}
        if joins:
            begun = begun | event.streams if self._has_cut(event) else {}
        for address, before in begun.items():
            self._plane.stream(address).start(before)

    def _has_cut(self, event: ViewInstalled) -> bool:
        """Whether the view says where the streams end: not if it is recovered without logs."""
        return not event.recovered or self._plane.log is not None

    def _say_synced(self) -> None:
        """This node's vote may count. Said in every view: membership takes it in the newest."""
        synced = self._synced()
        if synced is not None:
            self._plane.control.append(synced)

    def _say_arrived(self) -> None:
        """This node may be given groups. Said again in a view: what was said may be lost."""
        if self._plane.me in self._plane.directory.state.arriving:
            self._plane.propose(Arrived())

    def _synced(self) -> Synced | None:
        """What a node that has joined says once it has got everything (I3); a log says it later."""
        plane, view = self._plane, self._plane.view
        if not self._joins or view is None or not plane.ready or plane.log is not None:
            return None
        return Synced(view.epoch, self._position)

    def _apply_view(self, event: ViewInstalled) -> None:
        plane, view = self._plane, event.view
        former = plane.directory.view
        members = former.members if former is not None else ()
        gone = [member for member in members if member not in view.members]
        plane.ordered = Place(view.number, 0)
        plane.place = (view.epoch, event.position)
        if plane.log is not None:
            plane.log.view(event, plane.place)
        plane.gone.update(gone)
        plane.events.append(MembersChanged(view.members))
        changes = plane.directory.on_view(view, gone, event.lacking)
        for node in gone:
            self._sequencer.enrolment.close_books(node)
        self._act(changes)
        if self._has_cut(event):
            # Whoever is in the view has them up to there, and nothing behind that was delivered.
            holder = (event.holders or view.members)[0]
            self._act(plane.directory.end_streams(event.streams, holder))
        self._ending.on_view(self.now)
        self._migration.on_view()
        plane.chains.forget([key for node in gone for key in plane.senders.keys_of(node)])
        self._sequencer.waiting.forget_gone()
        self._volatiles.forget_gone()
        self._planning.look_again()
        self._inheriting.on_view()
        self._joining.states.forget_gone()
        plane.progress += 1

    def apply(self, by: Address, payload: bytes, place: Position) -> None:
        """The command whose turn it is: do it, or set it aside."""
        plane = self._plane
        plane.ordered = Place(plane.ordered.view, plane.ordered.commands + 1)
        plane.place = place
        command, logged, error = judged(payload)
        if plane.log is not None:
            plane.log.command(by, logged, place)
        if command is not None:
            self._do(command, by)
        elif error is not None:
            set_aside(plane, by, plane.ordered, error)

    def _do(self, command: Command, by: Address) -> None:
        plane = self._plane
        changes, error = applied(plane.directory, command, by)
        if error is not None:
            set_aside(plane, by, plane.ordered, error)
            return
        if isinstance(command, Tell):
            plane.events.append(Told(by, command.topic, command.body))
        plane.watch.ordered(by, command)
        self._act(changes)
        if isinstance(command, Arrived):
            self._planning.look_again()

    def _act(self, changes: list[Change]) -> None:
        """Do this node's part of what the directory has changed."""
        for change in changes:
            of_a_plan = isinstance(change, CommandRefused) and self._planning.asked(change.request)
            self._planning.note(change)
            match change:
                case GroupCreated():
                    self._on_created(change)
                case GroupDeleted():
                    self._on_deleted(change)
                case CommandRefused():
                    if change.by == self._plane.me and not of_a_plan:
                        self._on_refused(change)
                case EntryAllowed():
                    if change.by == self._plane.me:
                        self._joining.allow(change.process, change.group, change.request)
                case MoveBegan():
                    self._migration.on_began(change)
                case OwnerMoved():
                    self._migration.on_moved(change)
                    self._sender.forget_redirects(change.groups)
                    self._joining.hurry(change.groups)
                case MoveCancelled():
                    self._migration.on_cancelled(change)
                case StreamEnded():
                    self._on_stream_ended(change)
                case Inherited():
                    self._plane.counters["inherited_later"] += len(change.groups)
                    self._on_inherited(change)

    def _on_created(self, change: GroupCreated) -> None:
        plane, group = self._plane, change.group
        if group not in plane.records:
            plane.records[group] = Record(group, change.order)
            plane.progress += 1  # frames with runs of it may be here already
            if change.owner == plane.me:
                self._sequencer.own({group: 0}, {}, "created")
            else:
                self._sequencer.enrolment.disowned(group)  # what came here before the group did
            plane.events.append(OwnerChanged(group, change.owner.name, 1))
        if change.by == plane.me:
            self._creating.answered(change.request)
            plane.events.append(Created(change.request, group, change.order, change.again))

    def _on_deleted(self, change: GroupDeleted) -> None:
        if self._plane.trace is not None and change.group in self._sequencer.ownership.owned:
            self._plane.trace.owns_no_more((change.group,), "deleted", "deleted")
        record = self._plane.records.pop(change.group, None)
        if self._plane.archive is not None:
            self._plane.archive.forget(change.group)
        self._sequencer.disown((change.group,))
        request = change.request if change.by == self._plane.me else 0
        self._plane.events.append(Deleted(change.group, request))
        if self._plane.log is not None:
            self._plane.log.doom()
        if record is not None:
            self._joining.delete(record)
        self._plane.progress += 1  # frames that name this place may be here already

    def _on_refused(self, change: CommandRefused) -> None:
        self._creating.answered(change.request)
        if not self._joining.refuse_request(change.request, change.code, change.detail):
            self._plane.counters[f"refused.{change.code}"] += 1
            self._plane.events.append(Refused(change.request, change.code, change.detail))

    def _on_stream_ended(self, change: StreamEnded) -> None:
        stream = self._plane.streams.get(change.stream)
        if stream is None:
            stream = self._plane.stream(change.stream)
        stream.finish(change.frame)
        if change.holder != self._plane.me:
            self._plane.reaches.note(change.holder, change.stream, change.frame, 0)
        self._keeper.touched[change.stream] = stream
        self._on_inherited(change)

    def _on_inherited(self, change: StreamEnded | Inherited) -> None:
        """Groups of a node that is gone have new sequencers."""
        self._migration.on_inherited(change)
        self._sender.forget_redirects(change.groups)
        self._send_after.append((change.stream, change.frame, change.groups))
        self._joining.hurry(change.groups)
        self._plane.progress += 1

    # --- a new node -----------------------------------------------------------------------------

    def _on_arrived(self, state: bytes, place: Place) -> None:
        """This node is what the state says."""
        plane, view = self._plane, self._plane.directory.view
        plane.ordered = place
        if plane.log is not None:
            plane.log.state(state, plane.place)
        if view is not None:
            plane.events.append(MembersChanged(view.members))
        self._go_on()

    def _go_on(self) -> None:
        """What is here is the cluster's: catch up with what has been ordered behind it."""
        plane = self._plane
        plane.ready = True
        plane.progress += 1
        self._take_office()
        waiting, self._ordered = self._ordered, deque()
        view, commands = 0, 0
        for item in waiting:
            if isinstance(item, ViewInstalled):
                view, commands = item.view.number, 0
                if view > plane.ordered.view:
                    self._apply_view(item)
                continue
            commands += 1
            if (view, commands) > plane.ordered:
                self.apply(*item)
        self._say_synced()
        self._say_arrived()
        self._ending.on_view(self.now)
        self._keeper.touched.update(plane.streams)
        self._keeper.receiving.look_again()

    def _take_office(self) -> None:
        """Groups may have been given to this node while it did not know of them yet."""
        plane = self._plane
        directory = plane.directory
        mine = {g: one.floor for g, one in directory.entries.items() if one.owner == plane.me}
        behind = {
            address: stream.end
            for address, stream in plane.streams.items()
            if stream.end is not None
        }
        if mine:
            self._sequencer.own(mine, behind, "state")
        for number, move in directory.moves.items():
            if move.source == plane.me:
                began = MoveBegan(number, move.groups, move.source, move.target, move.reason)
                self._migration.on_began(began)

    def next_wake(self) -> float | None:
        """At once, while a node's state is being packed or opened."""
        giving, arriving = self.giving.next_wake(), self.arriving.next_wake()
        if giving is None or arriving is None:
            return arriving if giving is None else giving
        return min(giving, arriving)

    def place(self) -> Place:
        """Which command of which view the directory is behind."""
        return self._plane.ordered

    def send_again(self, now: float) -> None:
        """A stream has ended: what is not in it goes to the groups' new sequencers."""
        left = []
        for stream, frame, groups in self._send_after:
            known = self._plane.streams.get(stream)
            if known is not None and known.recorded < frame:
                left.append((stream, frame, groups))
                continue
            self._sender.again.send_again(groups, now)
        self._send_after = left
