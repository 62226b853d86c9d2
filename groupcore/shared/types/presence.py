"""Presence: who is here, and where their pointers are. May be lost, and is gone by itself.

Idea. Each process says its value now and then; only the last one of each counts. Nothing is
ordered or repaired, so a lost value is made good by the next one. Whoever has not been heard for
`expiry_s`, or has departed, is here no more.

Source. Design, 4.2 (volatile groups) and section 5.
"""

from __future__ import annotations

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


class Presence(GroupUser, Generic[T]):
    """`Presence[T]`: a value of type T of each process, seen by all that have it open.

    A value is sent at most every `interval_s` (the last one counts), and again every `refresh_s`.
    One that was not heard for `expiry_s` is forgotten. Subclass it to choose other times.
    """

    group_order: ClassVar[Order] = Order.VOLATILE
    interval_s: ClassVar[float] = 0.05
    refresh_s: ClassVar[float] = 5.0
    expiry_s: ClassVar[float] = 12.0

    def __init__(self, port: GroupPort, codec: Codec) -> None:
        self._port = port
        self._codec = codec
        self._opened: Pending[object] = Pending(port.wait)
        self.closed = Pending(port.wait)
        self._is_in = False
        self._mine: T | None = None
        self._others: dict[Process, _Seen[T]] = {}
        self._streams: list[Stream[PresenceChanged[T]]] = []
        self._send_at_s: float | None = None
        self._sent_s = -self.interval_s
        self._is_planned = False

    def open(self) -> Pending[object]:
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
            self._plan()

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
        return {process: seen.value for process, seen in self._others.items()}

    def changes(self, waiting_max: int = WAITING_MAX) -> Stream[PresenceChanged[T]]:
        """What the others show from now on, for `async for`."""
        stream: Stream[PresenceChanged[T]] = Stream(self._port.wait, waiting_max)
        self._streams.append(stream)
        return stream

    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        mine = self._port.process
        match event:
            case Volatile():
                return self._hear(event)
            case Joined() if event.process == mine:
                self._is_in = True
                if not self._opened.done:
                    self._opened.resolve(self)
                elif self._mine is not None:
                    self._send()
            case Joined():
                if self._mine is not None:  # whoever is new has heard nothing yet
                    self._send_at_s = self._port.now_s() + self.interval_s
                    self._plan()
            case Departed() if event.process != mine:
                self._forget(event.process)
            case Departed(past=True):
                pass
            case Departed() | Released():
                self.end(ClosedError("the presence is closed here"))
            case StateWanted():
                self._port.give_state(event.token, b"")  # there is none
            case _:
                pass
        return []

    def _hear(self, event: Volatile) -> list[SharedEvent]:
        process = event.process
        if process == self._port.process:
            return []
        try:
            match unpack(event.payload):
                case [wire]:
                    value = cast("T", self._codec.from_wire(wire))
                case []:
                    self._forget(process)
                    return []
                case _:
                    raise MisfitError("no value of a presence")
        except MisfitError as error:
            return [MessageRejected(event.group, 0, process, str(error))]
        seen = self._others.get(process)
        self._others[process] = _Seen(value, self._port.now_s())
        if not self._is_planned:  # it expires later than what is planned
            self._plan()
        if seen is None or seen.value != value:
            self._tell(PresenceChanged(process, value))
        return []

    def _forget(self, process: Process) -> None:
        if self._others.pop(process, None) is not None:
            self._tell(PresenceChanged(process, None))

    def _tell(self, change: PresenceChanged[T]) -> None:
        self._streams = [stream for stream in self._streams if not stream.ended]
        for stream in self._streams:
            stream.push(change)

    def _send(self) -> None:
        if not self._is_in:
            return
        value = self._mine
        self._port.send(pack([] if value is None else [self._codec.to_wire(value)]))
        self._sent_s = self._port.now_s()
        self._send_at_s = None if value is None else self._sent_s + self.refresh_s
        self._plan()

    def _plan(self) -> None:
        """Be called when a value is to be sent, or forgotten."""
        times = [seen.heard_s + self.expiry_s for seen in self._others.values()]
        if self._send_at_s is not None:
            times.append(self._send_at_s)
        self._is_planned = bool(times) and not self.closed.done
        if self._is_planned:
            self._port.wake_at(min(times))

    def on_time(self) -> None:
        self._is_planned = False
        now_s = self._port.now_s() + GRAIN_S
        if self._send_at_s is not None and now_s >= self._send_at_s:
            self._send()
        for process, seen in list(self._others.items()):
            if now_s >= seen.heard_s + self.expiry_s:
                self._forget(process)
        self._plan()

    def interrupt(self) -> None:
        self._is_in = False
        for process in list(self._others):
            self._forget(process)

    def restart(self) -> None:
        if not self.closed.done:
            self._port.join()

    def end(self, error: Exception) -> None:
        if not self._opened.done:
            self._opened.fail(error)
        for stream in self._streams:
            stream.end()
        self._others = {}
        if not self.closed.done:
            self.closed.resolve(None)
