"""One node's copy of a shared object, for all processes of the node that have it open.

Idea. The service delivers the same messages in the same order at all replicas; a machine does
them, once a node. Each process that has the object open here has a `Replica`, which knows what is
its own: who waits for which result, who follows the changes, and what its principal may see.

Invariants.
  B1  What was delivered up to the position of an installed state is not done again.
  B2  A state that does not fit this class is never installed, and nothing is done on top of it.
  B3  Whatever is done is told to all that have the object open here, before the next is done.
  B4  Who follows is told of another state when it has caught up: when one of this node's processes
      is in, with its JOIN. What a log or another node's archive tells from before that is no news.
  B5  Readers are judged by states from there on alone: the ones before are older than what their
      rights follow from. Until then who is judged reads what it read before; then all are judged
      before anybody is told of the new state.
  B6  Who attends is in when its node's member is: that one's JOIN has its place in the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from groupcore.sequencing.events import (
    Delivered,
    Departed,
    Enrolled,
    Joined,
    Released,
    Saved,
    ServiceEvent,
    StateInstalled,
)
from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.checking import Checker
from groupcore.shared.clock import OrderClock
from groupcore.shared.errors import ClosedError, MisfitError, SharedError
from groupcore.shared.events import MessageRejected, OperationDenied, OperationFailed, SharedEvent
from groupcore.shared.group import GroupPort
from groupcore.shared.machine import Done, Entry, Machine
from groupcore.shared.messages import pack, unpack
from groupcore.shared.object import SharedObject

if TYPE_CHECKING:
    from groupcore.shared.replica import Replica

T = TypeVar("T")


@dataclass(slots=True)
class Counters:
    """What a copy has seen: entries done, failed, denied and rejected, and states taken."""

    done: int = 0
    failed: int = 0
    denied: int = 0
    rejected: int = 0
    states: int = 0


class Observer(Protocol):
    """Who is told of what is done to an object at this node, whoever has it open.

    Each position is told once; guests that depart there are in `done.ended`.
    """

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone."""

    def on_replaced(self) -> None:
        """The state was taken from another node, or begins anew."""


class Body(Generic[T]):
    """A node's copy of an object of class `kind`; `port`: the first process that opens it."""

    def __init__(self, kind: type[T], port: GroupPort) -> None:
        self.counters = Counters()
        self.clock = OrderClock(port.now_s)
        self.error: Exception | None = None
        self.observers: list[Observer] = []
        self._kind = kind
        self._port = port
        self._is_behind = False
        self._is_current = False
        self._faces: dict[Process, Replica[T]] = {}
        self._processes: dict[Replica[T], Process] = {}
        self._early: dict[Process, list[Replica[T]]] = {}
        self._following: dict[Replica[T], None] = {}
        self._readers: dict[str, dict[Replica[T], None]] = {}
        self.machine = self.fresh_machine()
        self.judges_readers = type(self._target).may_read is not SharedObject.may_read
        self._checker = Checker(self.fresh_machine, self._target.check_every, self)
        self._checker.begin(self.machine)

    @property
    def _target(self) -> SharedObject:
        return cast("SharedObject", self.machine.target)

    @property
    def origin(self) -> T:
        """The object itself, which the processes' views show."""
        return cast("T", self.machine.target)

    def fresh_machine(self) -> Machine:
        """A machine at the very beginning."""
        return Machine(cast("SharedObject", self._kind()), self._port.group)

    # --- who has it open ------------------------------------------------------------------------

    @property
    def faces(self) -> list[Replica[T]]:
        """The replicas of the processes that have the object open here, oldest first."""
        return list(self._faces.values())

    def attach(self, face: Replica[T], process: Process) -> None:
        """This process opens the object, or does so again as another one."""
        self.detach(face)
        self._faces[process] = face
        self._processes[face] = process
        self._readers.setdefault(face.port.principal, {})[face] = None
        self._choose_speaker()

    def detach(self, face: Replica[T]) -> None:
        """This process has it open no more."""
        process = self._processes.pop(face, None)
        if process is not None and self._faces.get(process) is face:
            del self._faces[process]
        principal = face.port.principal
        readers = self._readers.get(principal)
        if readers is not None:
            readers.pop(face, None)
            if not readers:
                del self._readers[principal]
        self._choose_speaker()

    def note_following(self, face: Replica[T]) -> None:
        """Somebody follows the object's changes through this replica."""
        self._following[face] = None

    def _watched(self) -> list[Replica[T]]:
        """Those through which the object is followed: few of all that have it open."""
        if self._is_behind or not self._following:
            return []
        following = [face for face in self._following if face.watchers.watched]
        if len(following) < len(self._following):
            self._following = dict.fromkeys(following)
        return [face for face in following if self._faces.get(face.process) is face]

    def _observing(self) -> tuple[Observer, ...]:
        """Those of now: one that is told may end, or have others begin."""
        return () if self._is_behind else (*self.observers,)

    def _check_readers(self) -> None:
        """Let go of whose principal may not read any more: asked once for each (B5)."""
        if not self._is_current:
            return
        for readers in list(self._readers.values()):
            first, *others = readers
            if not first.check_reading():
                for face in others:
                    face.check_reading()

    def _choose_speaker(self) -> None:
        """The oldest one speaks for the node, and stands behind the object itself."""
        for face in self._faces.values():
            self._port = face.port
            self._target._shared.caller = face
            return

    @property
    def group(self) -> GroupId:
        """The group's number."""
        return self._port.group

    @property
    def process(self) -> Process:
        """As whom this node compares states with others."""
        return self._port.process

    def send(self, payload: bytes) -> int:
        """Send a message about states."""
        return self._port.send(payload)

    # --- what is delivered ----------------------------------------------------------------------

    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        """Take what the service says of the group, in its order; what that has changed here."""
        if self.error is not None:
            return []
        match event:
            case Delivered():
                return self._deliver(event)
            case Enrolled():
                return self._on_joined(event.seqno, event.process)
            case Joined() if event.process.node != self.process.node:
                return self._on_joined(event.seqno, event.process)
            case Joined():
                self._on_in(event.process)
            case Departed():
                return self._on_departed(event)
            case StateInstalled():
                self._install(event)
            case Saved():
                caller = self._faces.get(event.message.process)
                if caller is not None:
                    caller.on_saved(event.message.number)
            case Released():
                self._on_released()
            case _:
                return []
        return []

    def _deliver(self, run: Delivered) -> list[SharedEvent]:
        events: list[SharedEvent] = []
        machine = self.machine
        position, number = run.seqno, run.first
        for payload in run.payloads:
            if position > machine.position:  # B1
                entry = Entry(position, run.process, number, payload)
                done = machine.apply(entry)
                for observer in self._observing():
                    observer.on_done(position, run.process, done)
                for face in self._watched():  # B3
                    face.watchers.operated(position, run.process, done)
                caller = self._faces.get(run.process)
                if caller is not None:
                    caller.answer(number, done)
                events += self._finish(entry, done)
                if self.judges_readers and done.calls and done.error is None:
                    self._check_readers()
            position += 1
            number += 1
        self.clock.saw(machine.time_ms)
        return events

    def _membership(self, position: int, process: Process, joined: bool) -> list[SharedEvent]:
        if position <= self.machine.position:
            return []  # B1
        entry = Entry(position, process, 0, None, joined)
        done = self.machine.apply(entry)
        for observer in self._observing():
            observer.on_member(position, process, done)
        for face in self._watched():
            face.watchers.member(position, process, joined, done)
        return self._finish(entry, done)

    def _finish(self, entry: Entry, done: Done) -> list[SharedEvent]:
        """Count the entry, tell of a failure, and take part in comparing states."""
        events = self._checker.applied(self.machine, entry, done)
        if done.error is None:
            self.counters.done += done.message is None
            return events
        group, position, process = self.group, entry.position, entry.process
        if done.failed is None:
            self.counters.rejected += 1
            return [*events, MessageRejected(group, position, process, str(done.error))]
        if done.denied is not None:
            self.counters.denied += 1
            denied = OperationDenied(group, position, process, done.denied, done.failed)
            return [*events, denied]
        self.counters.failed += 1
        return [*events, OperationFailed(group, position, process, done.failed, done.error)]

    def _on_joined(self, position: int, process: Process) -> list[SharedEvent]:
        """A JOIN has its place: `Enrolled` for this node's processes, `Joined` for the others'."""
        events = self._membership(position, process, True)
        face = self._faces.get(process)
        if face is not None:
            self._catch_up(face)
            face.enter()
        for early in self._early.pop(process, ()):  # B6
            if early in self._processes:
                self._catch_up(early)
                early.enter()
        return events

    def _catch_up(self, face: Replica[T]) -> None:
        """B4, B5, B6."""
        if not face.told_in or face.port.member not in self.machine.members:
            return
        if not self._is_current:
            self._is_current = True
            if self.judges_readers:
                self._check_readers()
                for one in self._judged():
                    one.go_on_reading()
        self._tell_replaced()

    def _judged(self) -> list[Replica[T]]:
        """Those who have read the object here on somebody's behalf."""
        return [one for one in self._faces.values() if one.port.principal and one.ready.done]

    def _fall_behind(self) -> None:
        """A state is told that is not of now, unless a process of this node is in."""
        self._is_current = any(face.is_in for face in self._faces.values())
        if self._is_current or not self.judges_readers:
            return
        judged = [one for one in self._judged() if not one.is_held_back]
        if judged:
            kept = self.fresh_machine()
            kept.load(self.machine.packed())
            for one in judged:
                one.hold_back(cast("T", kept.target))

    def _tell_replaced(self) -> None:
        if self._is_behind:
            self._is_behind = False
            for observer in self.observers:
                observer.on_replaced()
            for face in self.faces:
                face.on_replaced(self.machine.position)

    def _on_in(self, process: Process) -> None:
        """The service says that a process of this node is in."""
        face = self._faces.get(process)
        if face is not None:
            face.told_in = True
            self._catch_up(face)
            face.enter()
            if not face.is_in and face.port.member != process:
                self._early.setdefault(face.port.member, []).append(face)

    def _on_departed(self, event: Departed) -> list[SharedEvent]:
        events: list[SharedEvent] = []
        position, process = event.seqno, event.process
        # The last one of this node is told early that it is out, as nothing follows.
        if position <= self.machine.position + 1 or process.node != self.process.node:
            events = self._membership(position, process, False)
        face = self._faces.get(process)
        if face is not None and not event.past:
            face.end(ClosedError("this process has left the object's group"))
        return events

    def _on_released(self) -> None:
        """Nobody of this node is in: what comes for those who are about to be begins anew."""
        self._is_current = False
        self._early.clear()
        self.machine = self.fresh_machine()
        self._checker.begin(self.machine)
        self._choose_speaker()
        for face in self.faces:
            if face.is_in:
                face.end(ClosedError("the object is closed at this node"))
            else:
                face.show(self.origin)

    def _install(self, event: StateInstalled) -> None:
        """B1, B2: go on from another replica's state."""
        self._fall_behind()
        self.machine.group = event.group
        if event.state is None and event.seqno >= self.machine.position:
            self._is_behind = not self._is_current and any(one.ready.done for one in self.faces)
            self.machine.go_on_alone(event.seqno)
            self._checker.begin(self.machine)
            return
        try:
            # Without a state it is told from its beginning again, to a node that had been further.
            match (
                [0, self.fresh_machine().packed()] if event.state is None else unpack(event.state)
            ):
                case [int(time_ms), bytes(packed)]:
                    self.machine.load(packed)
                case _:
                    raise MisfitError("not the state of a replica")
            if self.machine.position != event.seqno:
                raise MisfitError("a state of another position than the one it comes with")
        except SharedError as error:
            self.fail(error)
            return
        self.clock.saw(time_ms)
        self._checker.begin(self.machine)
        self.counters.states += 1
        self._is_behind = True
        if any(face.is_in for face in self.faces):
            self._tell_replaced()

    def fail(self, error: Exception) -> None:
        """Nothing more is done here: everybody leaves, and is told why."""
        self.error = error
        for face in self.faces:
            face.leave()
            face.end(error)

    def state(self) -> bytes:
        """What `StateInstalled` carries at another node."""
        return pack([self.clock.now_ms(), self.machine.packed()])
