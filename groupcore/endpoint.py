"""The endpoint: a transport and a stack, one life of one node, still without I/O.

A driver (the asyncio node, the simulator) feeds inputs, then calls `end_turn` once; then it sends
the datagrams, hands over the deliveries and stores the persists. When a record is stored, it
notifies `Persisted(token)` and ends a turn again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from groupcore.batch import MESSAGES_MAX, Batch, pack_messages, unpack_messages
from groupcore.drops import DropsBySource
from groupcore.effects import Persist
from groupcore.errors import MessageTooLargeError, WireError
from groupcore.events import BadInput, Congested, Event, Heard, Leave, Refused, ViewInstalled
from groupcore.peers import SocketAddress
from groupcore.sequencing.commands import PREFIX
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.headers import DATA_PLANE
from groupcore.sequencing.log import LogPart
from groupcore.sequencing.service import Service
from groupcore.stack import Stack
from groupcore.transport import Datagram, Transport
from groupcore.view import Address

BODY_RESERVE_BYTES = 256
"""What a batch leaves free in its packet for the headers that layers put on it."""
MESSAGE_OVERHEAD_BYTES = 5
"""Largest msgpack header of one message in a body."""
BODY_BYTES = 10
"""What a body adds to the one message in it: two msgpack headers."""

CLONED = "stop the copy, and start this node again"
"""What a person does about it."""

HAND_OVER_S = 1.5
"""So long a node that leaves stays for those who take states that are nowhere else."""


@dataclass(slots=True)
class Delivery:
    """Messages of one sender, for the application.

    `position` is the place of the first one in the total order, 1 for the first of an epoch, the
    others following; 0 when they are not ordered.
    """

    origin: Address
    position: int
    payloads: list[bytes]


@dataclass(slots=True)
class Turn:
    """What one turn has caused: to send, to hand over in this order, to store in this order.

    `service_events` are those of the data plane, when there is one; `log` is to be stored before
    `persists`, and `Service.stored` be told then.
    """

    datagrams: list[Datagram]
    deliveries: list[Delivery | Event]
    persists: list[Persist]
    service_events: list[ServiceEvent] = field(default_factory=list)
    log: list[LogPart] = field(default_factory=list)


class Endpoint:
    """One life of one node. `now` is monotonic seconds.

    `dropped` is the bad input since its owner last took it, by source and reason.
    """

    def __init__(
        self,
        address: Address,
        stack: Stack,
        transport: Transport,
        service: Service | None = None,
    ) -> None:
        assert address == transport.address, "stack and transport are of one life"
        self.address = address
        self.stack = stack
        self.transport = transport
        self.service = service
        self.drops: Counter[str] = Counter()
        self.dropped = DropsBySource()
        stack.sources["transport"] = transport.counters
        stack.drops.recent = self._bad = transport.drops.recent
        self._body_limit_bytes = stack.body_limit_bytes
        self._congested: set[str] = set()
        self._in_view = False
        self._commands: list[bytes] = []
        self._refused = False
        self._leave_by: float | None = None

    # --- inputs ---------------------------------------------------------------------------------

    def receive(self, datagram: bytes | memoryview, source: SocketAddress, now: float) -> None:
        """A datagram has come from `source`; nothing in it makes this raise."""
        service = self.service
        for batch in self.transport.receive(datagram, source, now):
            if type(batch.headers[-1]) not in DATA_PLANE:
                self.stack.receive(batch, now)
            elif service is not None:
                service.receive(batch, now)
            else:
                self.drops["no_service"] += 1
        if self._bad:
            self.dropped.note("{}:{}".format(*source), self._bad)
            self._bad.clear()

    def multicast(self, payloads: list[bytes], now: float) -> None:
        """Send messages to the group, this member included, in the total order."""
        self._send(None, payloads, now)

    def unicast(self, destination: Address, payloads: list[bytes], now: float) -> None:
        """Send messages to one member, in the order of sending."""
        self._send(destination, payloads, now)

    def notify(self, event: Event, now: float) -> None:
        """Tell the stack of an event from outside (`Connect`, `Leave`, `Synced`, `Persisted`).

        A `Leave` waits while others take states that are nowhere else, `HAND_OVER_S` at most.
        """
        if type(event) is Leave and self.service is not None and self.service.hands_over(now):
            self._leave_by = self._leave_by or now + HAND_OVER_S
        else:
            self.stack.notify(event, now)

    def wake(self, now: float) -> None:
        """Run the timers that are due."""
        self.stack.wake(now)
        if self.service is not None:
            self.service.wake(now)

    # --- outputs --------------------------------------------------------------------------------

    def end_turn(self, now: float) -> Turn:
        """Everything that arrived together has been handled: what it has caused."""
        if self._leave_by is not None:
            self._leave_when_due(now)
        deliveries, persists = self._end_stack_turn(now)
        service = self.service
        events: list[ServiceEvent] = []
        log: list[LogPart] = []
        fresh = deliveries
        deliveries = [] if service is not None else deliveries
        while service is not None:
            deliveries += self._feed(service, fresh, now)
            service.end_turn(now)
            output = service.take()
            events += output.events
            for batch in output.sends:
                self.transport.send(batch)
            self._commands += output.commands
            log += output.log
            says = self._in_view and bool(self._commands)
            if not says and not output.control:
                break
            for told in output.control:
                self.stack.notify(told, now)
            if says:
                commands, self._commands = self._commands, []
                self.multicast(commands, now)
            fresh, persisted = self._end_stack_turn(now)
            persists += persisted
        refusal = self._refusal()
        if refusal is not None:
            deliveries.append(refusal)
        return Turn(self.transport.flush(now), deliveries, persists, events, log)

    def _feed(
        self, service: Service, deliveries: list[Delivery | Event], now: float
    ) -> list[Delivery | Event]:
        """Give the service what the control plane has for it; what is left is the application's.

        Commands keep their places in the order: what is left of a delivery has empty ones there.
        """
        left: list[Delivery | Event] = []
        for item in deliveries:
            if isinstance(item, Delivery):
                said = [payload[:1] == PREFIX for payload in item.payloads]
                places = range(item.position, item.position + len(said))
                for payload, is_command, place in zip(item.payloads, said, places, strict=True):
                    if is_command and item.position:
                        service.on_order(item.origin, payload, now, place)
                if all(said):
                    continue
            else:
                service.on_event(item, now)
            left.append(item)
        return left

    def _end_stack_turn(self, now: float) -> tuple[list[Delivery | Event], list[Persist]]:
        """The stack's part of the turn."""
        heard = self.transport.take_heard()
        if heard:
            self.stack.notify(Heard(heard), now)
        self.stack.end_turn(now)
        output = self.stack.take()
        for batch in output.sends:
            self.transport.send(batch)
        if not output.deliveries:
            return [], output.persists
        deliveries: list[Delivery | Event] = []
        for item in output.deliveries:
            if type(item) is Batch:
                delivery = self._delivery(item)
                if delivery is not None:
                    deliveries.append(delivery)
            else:
                assert isinstance(item, Event)
                if type(item) is ViewInstalled:
                    self._in_view = True
                    self.transport.on_members(item.view.members)
                if type(item) is BadInput:
                    self.dropped.note(str(item.source), [item.reason])
                elif type(item) is not Congested:
                    deliveries.append(item)
                elif self._congestion_changes(item):
                    deliveries.append(Congested(item.on))
        return deliveries, output.persists

    def _leave_when_due(self, now: float) -> None:
        """A leave that waits goes on when nobody takes anything more, or after its time."""
        if self._leave_by is None or self.service is None:
            return
        if now >= self._leave_by or not self.service.hands_over(now):
            self._leave_by = None
            self.stack.notify(Leave(), now)

    def next_wake(self) -> float | None:
        """When `wake` has something to do, in monotonic seconds; None when no timer runs."""
        wake = self.stack.next_wake()
        if self.service is None:
            return wake
        for time in (self.service.next_wake(), self._leave_by):
            if time is not None and (wake is None or time < wake):
                wake = time
        return wake

    def counters(self) -> dict[str, int]:
        """The stack's and the transport's counters, and bodies that did not open, by name."""
        result = self.stack.counters()
        if self.service is not None:
            result |= self.service.counters()
        for name, number in self.transport.counters().items():
            result[f"transport.{name}"] = number
        for reason, number in sorted(self.drops.items()):
            result[f"endpoint.drops.{reason}"] = number
        return result

    # --- inside ---------------------------------------------------------------------------------

    def _send(self, destination: Address | None, payloads: list[bytes], now: float) -> None:
        limit = self._body_limit_bytes
        if limit is not None and max(map(len, payloads), default=0) + BODY_BYTES > limit:
            raise MessageTooLargeError(f"a message is above {limit - BODY_BYTES} bytes; split it")
        for part in self._parts(payloads):
            body = pack_messages(part)
            self.stack.send(Batch(self.address, destination, (), body, len(part)), now)

    def _parts(self, payloads: list[bytes]) -> Iterator[list[bytes]]:
        """The payloads, cut into lists that fit into a datagram; a larger one stands alone."""
        room = self.transport.options.packet_bytes_max - BODY_RESERVE_BYTES
        # Where each payload ends, counted in C: per-message work is what decides the speed.
        ends = list(accumulate(map(MESSAGE_OVERHEAD_BYTES.__add__, map(len, payloads))))
        start = used = 0
        while start < len(payloads):
            end = min(bisect_right(ends, used + room), start + MESSAGES_MAX)
            end = max(end, start + 1)
            yield payloads if end - start == len(payloads) else payloads[start:end]
            start, used = end, ends[end - 1]

    def _delivery(self, batch: Batch) -> Delivery | None:
        """The batch, opened; None and counted when its body is not what its sender says.

        Every member drops it alike, and it keeps its place in the order.
        """
        try:
            payloads = unpack_messages(batch.body)
        except WireError as error:
            self._drop(batch.sender, error.reason)
            return None
        if len(payloads) != batch.count:
            self._drop(batch.sender, "bad_body")
            return None
        return Delivery(batch.sender, batch.position, payloads)

    def _drop(self, source: Address, reason: str) -> None:
        self.drops[reason] += 1
        self.dropped.note(str(source), [reason])

    def _congestion_changes(self, said: Congested) -> bool:
        """Whether it is news: the first layer that says so, or the last that takes it back."""
        before = bool(self._congested)
        if said.on:
            self._congested.add(said.source)
        else:
            self._congested.discard(said.source)
        return bool(self._congested) != before

    def _refusal(self) -> Refused | None:
        """Why this life must not go on, once.

        It goes on elsewhere, too; or a living node has its id, and this one is not in a view.
        """
        if self._refused:
            return None
        name = self.address.name
        if self.transport.is_cloned:
            self._refused = True
            return Refused(
                "cloned", f"node {name!r} goes on in a second copy of its machine; {CLONED}"
            )
        if self.transport.same_id_seen is None or self._in_view:
            return None
        self._refused = True
        return Refused("id_in_use", f"another live node is called {name!r}; give this one its own")
