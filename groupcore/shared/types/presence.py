"""Presence: who is here, and where their pointers are. May be lost, and is gone by itself.

Idea. Each process says its value now and then; only the last one of each counts. Nothing is
ordered or repaired, so a lost value is made good by the next one. Whoever has not been heard for
`expiry_s`, or has departed, is here no more. What a node has heard it has once (`Crowd`), for all
its processes that have the presence open: a change costs the same however many these are.

Who is here follows from the values, not from who is a member: sessions of pages attend (decision
184). One that closes the presence takes its value back; where that is lost, it expires.

Source. Design, 4.2 (volatile groups) and section 5.

Invariants.
  P1  Who shows nothing is not here, member or not.
  P2  When a node is gone, all that its processes have shown is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar, cast

from groupcore.sequencing.events import (
    Departed,
    Joined,
    Released,
    ServiceEvent,
    StateWanted,
    Volatile,
)
from groupcore.sequencing.names import Order, Process
from groupcore.shared.errors import ArgumentsError, ClosedError, MisfitError
from groupcore.shared.events import MessageRejected, SharedEvent
from groupcore.shared.group import GroupPort, GroupUser
from groupcore.shared.messages import pack, unpack
from groupcore.shared.pending import Pending
from groupcore.shared.scalars import Codec
from groupcore.shared.streams import WAITING_MAX, Stream

T = TypeVar("T")

GRAIN_S = 0.001
"""How much too early a call may come and still be in time."""


@dataclass(frozen=True, slots=True)
class PresenceChanged(Generic[T]):
    """`process` has this value now; None: it is here no more, or has taken its value back."""

    process: Process
    value: T | None


@dataclass(slots=True)
class _Seen(Generic[T]):
    value: T
    heard_s: float


class Crowd(Generic[T]):
    """What one node knows of who is here, for all its processes that have the presence open.

    `watchers` are told of each change, of this node's own processes, too.
    """

    def __init__(self, codec: Codec, expiry_s: float) -> None:
        self.codec = codec
        self.seen: dict[Process, _Seen[T]] = {}
        self.watchers: list[Callable[[PresenceChanged[T]], None]] = []
        self._expiry_s = expiry_s
        self._faces: dict[Presence[T], None] = {}
        self._of: dict[Process, Presence[T]] = {}

    @property
    def speaker(self) -> Presence[T] | None:
        """The oldest of the processes that have it open: it waits for when a value expires."""
        return next(iter(self._faces), None)

    def attach(self, face: Presence[T]) -> None:
        """Somebody of the node opens it."""
        self._faces[face] = None

    def enter(self, face: Presence[T], process: Process) -> None:
        """It is this process that does, in this life of the node."""
        self.leave(face)
        self._of[process] = face
        face.entered_as = process

    def leave(self, face: Presence[T]) -> None:
        """That process does no more."""
        former = face.entered_as
        if former is not None and self._of.get(former) is face:
            del self._of[former]

    def detach(self, face: Presence[T]) -> None:
        """A process has it open no more."""
        self._faces.pop(face, None)
        self.leave(face)
        if not self._faces:
            self.seen = {}
        elif self.speaker is not None:
            self.speaker.plan()

    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        """Take the group's next event."""
        match event:
            case Volatile():
                return self._hear(event)
            case Departed(past=True):
                pass
            case Joined() | Departed():
                self._on_member(event)
            case Released():
                self.clear()
                for face in list(self._faces):
                    face.on_released()
            case StateWanted() if self.speaker is not None:
                self.speaker.give_no_state(event.token)
        return []

    def _on_member(self, event: Joined | Departed) -> None:
        """A process has come or gone: of this node's that concerns only the one that it is."""
        own = self._of.get(event.process)
        if own is not None:
            own.on_member(event)
        elif isinstance(event, Joined):
            for face in list(self._faces):
                face.on_member(event)
        if isinstance(event, Departed):
            self.forget(event.process)
            if event.gone:
                for process in [one for one in self.seen if one.node == event.process.node]:
                    self.forget(process)  # P2

    def _hear(self, event: Volatile) -> list[SharedEvent]:
        process = event.process
        try:
            match unpack(event.payload):
                case [wire]:
                    value = cast("T", self.codec.from_wire(wire))
                case []:
                    self.forget(process)
                    return []
                case _:
                    raise MisfitError("no value of a presence")
        except MisfitError as error:
            return [MessageRejected(event.group, 0, process, str(error))]
        speaker = self.speaker
        if speaker is None:
            return []
        former = self.seen.pop(process, None)
        self.seen[process] = _Seen(value, speaker.now_s())  # the one heard last stands last
        speaker.plan_if_none()  # it expires later than what is planned
        if former is None or former.value != value:
            self._tell(PresenceChanged(process, value))
        return []

    def forget(self, process: Process) -> None:
        """This process is here no more."""
        if self.seen.pop(process, None) is not None:
            self._tell(PresenceChanged(process, None))

    def clear(self) -> None:
        """Nothing is known of anybody."""
        for process in list(self.seen):
            self.forget(process)

    def _tell(self, change: PresenceChanged[T]) -> None:
        for watcher in list(self.watchers):
            watcher(change)

    def next_expiry_s(self) -> float | None:
        """When the value that was heard longest ago expires."""
        for seen in self.seen.values():
            return seen.heard_s + self._expiry_s
        return None

    def expire(self, now_s: float) -> None:
        """Forget those that were not heard for long."""
        for process, seen in list(self.seen.items()):
            if now_s < seen.heard_s + self._expiry_s:
                return
            self.forget(process)


class Presence(GroupUser, Generic[T]):
    """`Presence[T]`: a value of type T of each process, seen by all that have it open.

    A value is sent at most every `interval_s` (the last one counts), and again every `refresh_s`.
    One that was not heard for `expiry_s` is forgotten. Subclass it to choose other times.
    """

    group_order: ClassVar[Order] = Order.VOLATILE
    interval_s: ClassVar[float] = 0.05
    refresh_s: ClassVar[float] = 5.0
    expiry_s: ClassVar[float] = 12.0

    def __init__(self, port: GroupPort, codec: Codec, crowd: Crowd[T] | None = None) -> None:
        self._port = port
        self._codec = codec
        self.crowd = crowd or Crowd(codec, self.expiry_s)
        self._is_alone = crowd is None
        self.entered_as: Process | None = None
        self._opened: Pending[object] = Pending(port.wait)
        self.closed = Pending(port.wait)
        self._is_in = False
        self._mine: T | None = None
        self._streams: list[Stream[PresenceChanged[T]]] = []
        self._send_at_s: float | None = None
        self._sent_s = -self.interval_s
        self._is_planned = False
        self.crowd.attach(self)

    def open(self) -> Pending[object]:
        self.crowd.enter(self, self._port.process)
        self._port.join()
        return self._opened

    def close(self) -> Pending[None]:
        if not self.closed.done:
            self._mine = None
            self._send()
            self._port.leave()
        return self.closed

    def set(self, value: T | None) -> None:
        """Let the others see this value, soon; None: nothing of this process any more.

        Raises ArgumentsError when it is not of the presence's type.
        """
        if self.closed.done or not self._opened.done:
            raise ClosedError("the presence is not open here; open it")
        try:
            self._mine = None if value is None else cast("T", self._codec.check(value))
        except MisfitError as error:
            raise ArgumentsError(f"set: {error}") from None
        now_s = self._port.now_s()
        due_s = self._sent_s + self.interval_s
        if now_s >= due_s:
            self._send()
        else:
            self._send_at_s = due_s
            self.plan()

    def read(self, wire: object) -> T:
        """A value that has come as `Codec.to_wire` gives it; ArgumentsError when it is none."""
        try:
            return cast("T", self._codec.from_wire(wire))
        except MisfitError as error:
            raise ArgumentsError(f"set: {error}") from None

    @property
    def mine(self) -> T | None:
        """The value that this process shows."""
        return self._mine

    @property
    def others(self) -> dict[Process, T]:
        """The values of the other processes that are here, as far as is known."""
        mine, seen = self._port.process, self.crowd.seen
        return {process: one.value for process, one in seen.items() if process != mine}

    def changes(self, waiting_max: int = WAITING_MAX) -> Stream[PresenceChanged[T]]:
        """What the others show from now on, for `async for`."""
        stream: Stream[PresenceChanged[T]] = Stream(self._port.wait, waiting_max)
        if not self._streams:
            self.crowd.watchers.append(self._on_changed)
        self._streams.append(stream)
        return stream

    def _on_changed(self, change: PresenceChanged[T]) -> None:
        self._streams = [stream for stream in self._streams if not stream.ended]
        if not self._streams:
            self.crowd.watchers.remove(self._on_changed)
        elif change.process != self._port.process:
            for stream in self._streams:
                stream.push(change)

    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        """Take an event, for a process that is alone on its node."""
        return self.crowd.feed(event)

    # --- from the crowd -------------------------------------------------------------------------

    def on_member(self, event: Joined | Departed) -> None:
        """A process has come or gone."""
        mine = self._port.process
        match event:
            case Joined() if event.process == mine:
                self._is_in = True
                if not self._opened.done:
                    self._opened.resolve(self)
                elif self._mine is not None:
                    self._send()
            case Joined() if self._is_alone or event.process.node != mine.node:
                if self._mine is not None:  # whose node is new has heard nothing yet
                    self._send_at_s = self._port.now_s() + self.interval_s
                    self.plan()
            case Departed() if event.process == mine:
                self.end(ClosedError("the presence is closed here"))

    def on_released(self) -> None:
        """Nobody of this node is in; who is about to be begins anew."""
        if self._is_in:
            self.end(ClosedError("the presence is closed here"))

    def give_no_state(self, token: int) -> None:
        """A presence has no state."""
        self._port.give_state(token, b"")

    def now_s(self) -> float:
        """The clock of the node."""
        return self._port.now_s()

    def _send(self) -> None:
        if not self._is_in:
            return
        value = self._mine
        self._port.send(pack([] if value is None else [self._codec.to_wire(value)]))
        self._sent_s = self._port.now_s()
        self._send_at_s = None if value is None else self._sent_s + self.refresh_s
        self.plan()

    def plan(self) -> None:
        """Be called when the own value is to be sent; the speaker also when another's expires."""
        expiry_s = self.crowd.next_expiry_s() if self.crowd.speaker is self else None
        times = [at_s for at_s in (expiry_s, self._send_at_s) if at_s is not None]
        self._is_planned = bool(times) and not self.closed.done
        if self._is_planned:
            self._port.wake_at(min(times))

    def plan_if_none(self) -> None:
        """Something is to expire: be called then, or before."""
        if not self._is_planned:
            self.plan()

    def on_time(self) -> None:
        self._is_planned = False
        now_s = self._port.now_s() + GRAIN_S
        if self._send_at_s is not None and now_s >= self._send_at_s:
            self._send()
        if self.crowd.speaker is self:
            self.crowd.expire(now_s)
        self.plan()

    def interrupt(self) -> None:
        self._is_in = False
        self.crowd.clear()

    def restart(self) -> None:
        if not self.closed.done:
            self.crowd.enter(self, self._port.process)
            self._port.join()

    def end(self, error: Exception) -> None:
        if not self._opened.done:
            self._opened.fail(error)
        for stream in self._streams:
            stream.end()
        if self._on_changed in self.crowd.watchers:
            self.crowd.watchers.remove(self._on_changed)
        self.crowd.detach(self)
        if not self.closed.done:
            self.closed.resolve(None)
