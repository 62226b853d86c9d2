"""One node's replica of a shared object, fed by the sequencing service.

Idea. The service delivers the same messages in the same order at all replicas; a machine does
them. Here are the parts that differ from node to node: who waits for which result, who follows
the changes, and the state given and taken.

Invariants.
  R1  Each call of this process gets one result: from its message's place in the order, or an
      error that says why it has none.
  R2  What was delivered up to the position of an installed state is not done again.
  R3  A state that does not fit this class is never installed, and nothing is done on top of it.
  R4  What is behind the place where the port's principal has lost the right to read is not shown;
      the replica goes on beneath until the process has left, as others may need its state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from groupcore.sequencing.events import (
    Delivered,
    Departed,
    Enrolled,
    Joined,
    Released,
    ServiceEvent,
    StateInstalled,
    StateWanted,
)
from groupcore.sequencing.names import Process
from groupcore.shared.changes import Change
from groupcore.shared.checking import Checker
from groupcore.shared.clock import OrderClock
from groupcore.shared.errors import (
    ClosedError,
    ForbiddenError,
    MisfitError,
    OutcomeUnknownError,
    ResultLostError,
    SharedError,
)
from groupcore.shared.events import MessageRejected, OperationDenied, OperationFailed, SharedEvent
from groupcore.shared.group import GroupPort, GroupUser
from groupcore.shared.handle import Call
from groupcore.shared.machine import Done, Entry, Machine, detached
from groupcore.shared.messages import Verify, encode, encode_operate, pack, unpack
from groupcore.shared.object import SharedObject, part, view_of
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.streams import Stream
from groupcore.shared.watching import Watchers

T = TypeVar("T")

HELD_MAX = 10_000
"""Most operations that wait while the object is opened again after a `restart`."""


@dataclass(slots=True)
class Counters:
    """What a replica has seen: entries done, failed, denied and rejected, and states taken."""

    done: int = 0
    failed: int = 0
    denied: int = 0
    rejected: int = 0
    states: int = 0


class Replica(GroupUser, Generic[T]):
    """A shared object of class `kind` in the group of `port`.

    `ready` is resolved with the object once its state is here; `target` is that object.
    """

    __slots__ = (
        "_checker",
        "_clock",
        "_error",
        "_forbidden",
        "_held",
        "_is_in",
        "_kind",
        "_machine",
        "_port",
        "_told_in",
        "_waiting",
        "_watchers",
        "closed",
        "counters",
        "ready",
        "target",
    )

    def __init__(self, kind: type[T], port: GroupPort) -> None:
        origin = kind()
        target = cast("SharedObject", origin)
        self.target = view_of(origin, self)
        self.ready: Pending[T] = Pending(port.wait)
        self.closed = Pending(port.wait)
        self.counters = Counters()
        self._kind = kind
        self._port = port
        self._clock = OrderClock(port.now_s)
        self._machine = Machine(target, port.group)
        self._checker = Checker(self._fresh_machine, target.check_every, port)
        self._checker.begin(self._machine)
        self._watchers = Watchers()
        self._waiting: dict[int, Sequence[Pending[object]]] = {}
        self._error: Exception | None = None
        self._forbidden = False
        self._told_in = self._is_in = False
        self._held: list[tuple[bytes, Sequence[Pending[object]]]] = []
        target._shared.caller = self

    def open(self) -> Pending[object]:
        """Join the group; gives `ready`."""
        self._port.join()
        return cast("Pending[object]", self.ready)

    def close(self) -> Pending[None]:
        """Leave the group; operations that are under way are still done, but not waited for."""
        if not self.closed.done:
            self._port.leave()
        return self.closed

    @property
    def process(self) -> Process:
        """The process as which the object is open."""
        return self._port.process

    @property
    def members(self) -> tuple[Process, ...]:
        """The processes in the group, as far as this replica is."""
        return tuple(self._machine.members)

    @property
    def wait(self) -> Wait:
        """How to wait for results here."""
        return self._port.wait

    @property
    def position(self) -> int:
        """Number of the last message that this replica has done."""
        return self._machine.position

    @property
    def time_s(self) -> float:
        """This replica's estimate of the order's time."""
        return self._clock.now_ms() / 1000

    def changes(self, waiting_max: int) -> Stream[Change]:
        """A new stream of what happens to the object."""
        return self._watchers.open(self._port.wait, waiting_max)

    def order(self, calls: Sequence[Call], pendings: Sequence[Pending[object]]) -> None:
        """Send these calls as one message; ClosedError when the object is not open."""
        self._require_open()
        try:
            named = [(spec.name, wire) for spec, wire in calls]
            payload = encode_operate(self._clock.now_ms(), named, self._port.principal)
        except (ValueError, OverflowError) as error:
            raise MisfitError(f"the arguments cannot be packed: {error}") from None
        if self._is_in:
            self._waiting[self._port.send(payload)] = pendings
        elif len(self._held) < HELD_MAX:
            self._held.append((payload, pendings))
        else:
            raise ClosedError(f"{HELD_MAX} operations wait for the object to be open again")

    def verify(self) -> None:
        """Have all replicas compare their states at one place of the order, soon."""
        self._require_open()
        if self._is_in:
            self._port.send(encode(Verify(asked=True)))

    def packed(self) -> bytes:
        """The object's state as it is here."""
        return self._machine.packed()

    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        """Take what the service says of the group, in its order; what that has changed here."""
        if self._error is not None and not self._forbidden:
            return []
        match event:
            case Delivered():
                return self._deliver(event)
            case Joined() | Enrolled():
                return self._on_joined(event)
            case Departed():
                return self._on_departed(event)
            case StateInstalled():
                self._install(event)
            case StateWanted():
                self._port.give_state(event.token, self._state())
            case Released():
                self.end(ClosedError("the object is closed at this node"))
            case _:
                return []
        return []

    def _deliver(self, run: Delivered) -> list[SharedEvent]:
        events: list[SharedEvent] = []
        mine = run.process == self._port.process
        position, number = run.seqno, run.first
        for payload in run.payloads:
            if position > self._machine.position:  # R2
                entry = Entry(position, run.process, number, payload)
                done = self._machine.apply(entry)
                self._watchers.operated(position, run.process, done)
                if mine:
                    self._answer(number, done)
                events += self._finish(entry, done)
                if done.calls and done.error is None and not self._forbidden:
                    self._check_reading()
            position += 1
            number += 1
        self._clock.saw(self._machine.time_ms)
        return events

    def _membership(self, position: int, process: Process, joined: bool) -> list[SharedEvent]:
        if position <= self._machine.position:
            return []  # R2
        entry = Entry(position, process, 0, None, joined)
        done = self._machine.apply(entry)
        self._watchers.member(position, process, joined, done)
        return self._finish(entry, done)

    def _finish(self, entry: Entry, done: Done) -> list[SharedEvent]:
        """Count the entry, tell of a failure, and take part in comparing states."""
        events = self._checker.applied(self._machine, entry, done)
        if done.error is None:
            self.counters.done += done.message is None
            return events
        group, position, process = self._port.group, entry.position, entry.process
        if done.failed is None:
            self.counters.rejected += 1
            return [*events, MessageRejected(group, position, process, str(done.error))]
        if done.denied is not None:
            self.counters.denied += 1
            denied = OperationDenied(group, position, process, done.denied, done.failed)
            return [*events, denied]
        self.counters.failed += 1
        return [*events, OperationFailed(group, position, process, done.failed, done.error)]

    def _answer(self, number: int, done: Done) -> None:
        """R1: the result from the message's place."""
        pendings = self._waiting.pop(number, ())
        if done.error is not None:
            for pending in pendings:
                pending.fail(done.error)
            return
        results = detached(done.results)
        for place, pending in enumerate(pendings):
            pending.resolve(results[place] if results else None)

    def _on_joined(self, event: Joined | Enrolled) -> list[SharedEvent]:
        """A JOIN has its place: `Enrolled` for this node's processes, `Joined` for the others'.

        For this node's, `Joined` says that the process is in.
        """
        events: list[SharedEvent] = []
        mine = event.process == self._port.process
        if isinstance(event, Enrolled) or event.process.node != self._port.process.node:
            events = self._membership(event.seqno, event.process, True)
        elif mine:
            self._told_in = True
        if mine and self._told_in and event.process in self._machine.members:
            self._enter()
        return events

    def _enter(self) -> None:
        """This process is in: what was held back goes out."""
        if not self._check_reading():
            return
        self._is_in = True
        held, self._held = self._held, []
        for payload, pendings in held:
            self._waiting[self._port.send(payload)] = pendings
        if not self.ready.done:
            self.ready.resolve(self.target)

    def _check_reading(self) -> bool:
        """Whether who has the object open here may read it as it is now; R4 if not."""
        target, principal = cast("SharedObject", self._machine.target), self._port.principal
        try:
            if target.may_read(principal):
                return True
            detail = f"may not read this object as of position {self.position}"
        except Exception as raised:  # a judge that fails lets nobody see anything
            detail = f"may not read this object as of position {self.position}: {raised!r}"
        kept = self._fresh_machine()
        kept.load(self._machine.packed())
        part(self.target, kept.target)
        self._forbidden = True
        self._give_up(ForbiddenError(principal, detail))
        self._port.leave()
        return False

    def _on_departed(self, event: Departed) -> list[SharedEvent]:
        events = self._membership(event.seqno, event.process, False)
        if event.process == self._port.process:
            self.end(ClosedError("this process has left the object's group"))
        return events

    def _install(self, event: StateInstalled) -> None:
        """R2, R3: go on from another replica's state."""
        if event.state is None:
            self._machine.go_on_alone(event.seqno)
            self._checker.begin(self._machine)
            return
        try:
            match unpack(event.state):
                case [int(time_ms), bytes(packed)]:
                    self._machine.load(packed)
                case _:
                    raise MisfitError("not the state of a replica")
        except SharedError as error:
            self._port.leave()
            self.end(error)
            return
        assert self._machine.position == event.seqno, "a state is of the position it comes with"
        self._clock.saw(time_ms)
        self._checker.begin(self._machine)
        self.counters.states += 1
        self._watchers.replaced(event.seqno)
        done = self._machine.members.get(self._port.process, 0)
        for number in [number for number in self._waiting if number <= done]:
            for pending in self._waiting.pop(number):  # R1
                pending.fail(ResultLostError(f"the state as of {event.seqno} has it done"))

    def interrupt(self) -> None:
        """R1: what was under way has an unknown outcome. Calls from now on wait until it is in."""
        self._told_in = self._is_in = False
        waiting, self._waiting = self._waiting, {}
        error = OutcomeUnknownError("the cluster went on without this node meanwhile")
        for pendings in waiting.values():
            for pending in pendings:
                pending.fail(error)

    def restart(self) -> None:
        """Join again, in the life that has begun; nothing happens once this has ended."""
        if self._forbidden:
            self.end(ClosedError("the process that had the object open is no more"))
        if self._error is None:
            self._port.join()

    def end(self, error: Exception) -> None:
        """Nothing more is done here: R1 for whoever waits, R3."""
        self._forbidden = False
        self._give_up(error)
        if not self.closed.done:
            self.closed.resolve(None)

    def _give_up(self, error: Exception) -> None:
        """Nothing is shown here any more, and whoever waits is told why."""
        self._error = self._error or error
        waiting = [*self._waiting.values(), *(pendings for _, pendings in self._held)]
        self._waiting, self._held = {}, []
        for pendings in waiting:
            for pending in pendings:
                pending.fail(error)
        self._watchers.end(error if isinstance(error, ForbiddenError) else None)
        if not self.ready.done:
            self.ready.fail(error)

    def _state(self) -> bytes:
        return pack([self._clock.now_ms(), self._machine.packed()])

    def _fresh_machine(self) -> Machine:
        """A machine at the very beginning, for replays."""
        return Machine(cast("SharedObject", self._kind()), self._port.group)

    def _require_open(self) -> None:
        if isinstance(self._error, ForbiddenError):
            raise self._error
        if self._error is not None:
            raise ClosedError(f"the object is not open here: {self._error}") from None
        if not self.ready.done:
            raise ClosedError("the object is not open yet; wait for it first")
