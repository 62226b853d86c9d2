"""Topics: who publishes need not subscribe, who subscribes need not publish.

Source. Sequencing service paper, section 2 (subscription groups) and 3.3 (open groups): the
notifier of an event does not normally expect its own notification.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Generic, TypeVar, cast

from groupcore.sequencing.events import (
    Accepted,
    Delivered,
    Departed,
    Joined,
    Released,
    ServiceEvent,
    StateWanted,
)
from groupcore.sequencing.names import Order, Process
from groupcore.shared.errors import ArgumentsError, ClosedError, MisfitError, OutcomeUnknownError
from groupcore.shared.events import MessageRejected, SharedEvent
from groupcore.shared.group import GroupPort, GroupUser
from groupcore.shared.messages import pack, unpack
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.scalars import Codec
from groupcore.shared.streams import WAITING_MAX, Stream

T = TypeVar("T")

HELD_MAX = 10_000
"""Most events that wait while the topic is opened again after an `interrupt`."""


@dataclass(frozen=True, slots=True)
class Published(Generic[T]):
    """An event: `process` published `value`, as number `position` of the topic."""

    value: T
    process: Process
    position: int


class Subscription(Generic[T]):
    """Events from when the subscriber is a member of the topic's group, for `async for`.

    ```
    async with topic.subscribe() as events:
        async for event in events:
            ...
    ```

    `await subscription.ready` where something is to be published that it must not miss.
    """

    def __init__(self, topic: Topic[T], stream: Stream[Published[T]]) -> None:
        self.ready: Pending[None] = Pending(topic.wait)
        self.stream = stream
        self._topic = topic

    def take(self) -> list[Published[T]]:
        """The events that wait, without waiting."""
        return self.stream.take()

    def close(self) -> None:
        """Unsubscribe."""
        self.stream.close()
        self._topic.unsubscribe(self)

    def __aiter__(self) -> Stream[Published[T]]:
        return self.stream

    async def __aenter__(self) -> Subscription[T]:
        await self.ready
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.close()


class _Membership(Enum):
    OUT = 0
    JOINING = 1
    IN = 2
    LEAVING = 3
    AWAY = 4


class Topic(GroupUser, Generic[T]):
    """`Topic[T]`: events of type T, in one order for all subscribers, causal across groups.

    Opening a topic joins nothing: the first subscription does, and the last one that is closed
    leaves again. What is published while nobody subscribes is gone.
    """

    group_order: ClassVar[Order] = Order.CAUSALLY_TOTAL

    def __init__(self, port: GroupPort, codec: Codec) -> None:
        self._port = port
        self._codec = codec
        self._subscriptions: list[Subscription[T]] = []
        self._membership = _Membership.OUT
        self._published: dict[int, Pending[None]] = {}
        self._held: list[tuple[bytes, Pending[None]]] = []
        self._closing = False
        self.closed = Pending(port.wait)

    @property
    def wait(self) -> Wait:
        """How to wait here."""
        return self._port.wait

    def open(self) -> Pending[object]:
        opened: Pending[object] = Pending(self._port.wait)
        opened.resolve(self)
        return opened

    def close(self) -> Pending[None]:
        self._closing = True
        for subscription in list(self._subscriptions):
            subscription.close()
        self._proceed()
        return self.closed

    def publish(self, value: T) -> Pending[None]:
        """Send an event to all subscribers; done when it has its place in the order.

        Raises ArgumentsError at once when `value` is not of the topic's type.
        """
        self._require_open()
        try:
            payload = pack(self._codec.to_wire(value))
        except MisfitError as error:
            raise ArgumentsError(f"publish: {error}") from None
        pending: Pending[None] = Pending(self._port.wait)
        if self._membership is not _Membership.AWAY:
            self._published[self._port.send(payload)] = pending
        elif len(self._held) < HELD_MAX:
            self._held.append((payload, pending))
        else:
            raise ClosedError(f"{HELD_MAX} events wait for the topic to be open again")
        return pending

    def read(self, wire: object) -> T:
        """A value that has come as `Codec.to_wire` gives it; ArgumentsError when it is none."""
        try:
            return cast("T", self._codec.from_wire(wire))
        except MisfitError as error:
            raise ArgumentsError(f"publish: {error}") from None

    def subscribe(self, waiting_max: int = WAITING_MAX) -> Subscription[T]:
        """Follow the topic's events, from when the subscription is `ready`."""
        self._require_open()
        stream: Stream[Published[T]] = Stream(self._port.wait, waiting_max)
        subscription = Subscription(self, stream)
        self._subscriptions.append(subscription)
        if self._membership is _Membership.IN:
            subscription.ready.resolve(None)
        self._proceed()
        return subscription

    def unsubscribe(self, subscription: Subscription[T]) -> None:
        """The subscription wants no more."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            self._proceed()

    def _proceed(self) -> None:
        """Join while somebody subscribes, leave while nobody does."""
        if self._subscriptions and self._membership is _Membership.OUT:
            self._membership = _Membership.JOINING
            self._port.join()
        elif not self._subscriptions and self._membership is _Membership.IN:
            self._membership = _Membership.LEAVING
            self._port.leave(comes_back=True)
        elif self._closing and self._membership in (_Membership.OUT, _Membership.AWAY):
            self.end(ClosedError("the topic is closed here; open it again"))

    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        match event:
            case Delivered():
                return self._deliver(event)
            case Accepted() if event.message.process == self._port.process:
                for number in [n for n in self._published if n <= event.message.number]:
                    self._published.pop(number).resolve(None)
            case Joined() if event.process == self._port.process:
                self._on_joined()
            case Departed(past=False) if event.process == self._port.process:
                self._on_left()
            case Released() if self._membership is _Membership.LEAVING:
                self._on_left()
            case StateWanted():
                self._port.give_state(event.token, b"")  # there is none
            case _:
                pass
        return []

    def _deliver(self, run: Delivered) -> list[SharedEvent]:
        said: list[SharedEvent] = []
        for place, payload in enumerate(run.payloads):
            position = run.seqno + place
            try:
                value = cast("T", self._codec.from_wire(unpack(payload)))
            except MisfitError as error:
                said.append(MessageRejected(run.group, position, run.process, str(error)))
                continue
            for subscription in self._subscriptions:
                if subscription.ready.done:
                    subscription.stream.push(Published(value, run.process, position))
        for subscription in [one for one in self._subscriptions if one.stream.ended]:
            self.unsubscribe(subscription)
        return said

    def _on_joined(self) -> None:
        if self._membership is _Membership.JOINING:
            self._membership = _Membership.IN
            for subscription in self._subscriptions:
                if not subscription.ready.done:
                    subscription.ready.resolve(None)
            self._proceed()

    def _on_left(self) -> None:
        self._membership = _Membership.OUT
        self._proceed()

    def interrupt(self) -> None:
        published, self._published = self._published, {}
        error = OutcomeUnknownError("the cluster went on without this node meanwhile")
        for pending in published.values():
            pending.fail(error)
        self._membership = _Membership.AWAY

    def restart(self) -> None:
        self._membership = _Membership.OUT
        held, self._held = self._held, []
        for payload, pending in held:
            self._published[self._port.send(payload)] = pending
        self._proceed()

    def end(self, error: Exception) -> None:
        pendings = [*self._published.values(), *(pending for _, pending in self._held)]
        self._published, self._held = {}, []
        for pending in pendings:
            pending.fail(error)
        for subscription in self._subscriptions:
            subscription.stream.end(error)
            if not subscription.ready.done:
                subscription.ready.fail(error)
        self._subscriptions = []
        if not self.closed.done:
            self.closed.resolve(None)

    def _require_open(self) -> None:
        if self._closing or self.closed.done:
            raise ClosedError("the topic is closed here; open it again")


class FifoTopic(Topic[T]):
    """`FifoTopic[T]`: as a topic, without an order across groups, so nothing waits for others."""

    group_order: ClassVar[Order] = Order.FIFO
