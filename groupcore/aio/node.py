"""The pump: the one place that drives an endpoint with sockets, the loop's clock and a disk.

Every input (datagrams, sends, events, a timer, a record that is stored) is handed to the endpoint,
and then the turn ends: send, store, deliver, set the one timer. The end of the turn is the
bundler's clock (hot path, rule 7): what one turn of the loop has caused goes out together.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from groupcore.aio.drop_log import DropLog
from groupcore.aio.lineage import Lineage
from groupcore.aio.log_store import LogStorage
from groupcore.aio.udp import UdpSockets
from groupcore.aio.unread import BACKLOG_STEP_BYTES
from groupcore.awake import AwakeClock
from groupcore.effects import Persist
from groupcore.endpoint import Delivery, Endpoint
from groupcore.events import Backlog, Event, Persisted, Slept
from groupcore.peers import SocketAddress
from groupcore.sequencing.events import ServiceEvent
from groupcore.view import Address

log = logging.getLogger(__name__)

STORE_RETRY_S = 1.0
"""Pause before a record that could not be stored is written again, to a fresh file."""

TIMER_GRAIN_S = 0.001

Receiver = Callable[[list[Delivery | Event]], None]


def nothing() -> int:
    """The backlog of an application that consumes what it is given at once."""
    return 0


class Node:
    """One life of one node on a running asyncio loop (uvloop or another).

    `deliver` is called once a turn with everything that the turn has delivered, in order. It may
    send and notify; that is handled in a turn of its own. It must not raise. `backlog_bytes` says
    how much of it is not consumed. `on_service_events` is given what the data plane has to say.
    `storage` keeps its log; it is written before the records that come with it. `awake` is the
    clock of all lives of a process, which leaves out of every time-out what it slept. `drop_log`
    says what bad input came, over all lives as well.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        sockets: UdpSockets,
        lineage: Lineage,
        deliver: Receiver,
        backlog_bytes: Callable[[], int] = nothing,
        on_service_events: Callable[[list[ServiceEvent]], None] | None = None,
        storage: LogStorage | None = None,
        awake: AwakeClock | None = None,
        drop_log: DropLog | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.unsent_bytes = 0
        self._sockets = sockets
        self._lineage = lineage
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._backlog_bytes = backlog_bytes
        self._on_service_events = on_service_events
        self._storage = storage
        self._awake = awake or AwakeClock()
        self._awake.end_turn(None)
        self._drop_log = drop_log or DropLog(endpoint.address.name)
        self._told_backlog = 0
        self._outbox: dict[Address | None, list[bytes]] = {}
        self._events: list[Event] = []
        self._records: asyncio.Queue[Persist] = asyncio.Queue()
        self._storing: asyncio.Task[None] | None = None
        self._soon: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._running = False

    def start(self, event: Event) -> None:
        """Watch the sockets, and begin with this event (`Connect`)."""
        self._running = True
        self._storing = self._loop.create_task(self._store_records())
        for watched in self._sockets.sockets:
            self._loop.add_reader(watched.fileno(), self._on_readable)
        self.notify(event)

    def halt(self) -> None:
        """Let go of the sockets and the timer at once; nothing is sent or delivered any more."""
        if not self._running:
            return
        self._running = False
        for watched in self._sockets.sockets:
            self._loop.remove_reader(watched.fileno())
        for handle in (self._soon, self._timer):
            if handle is not None:
                handle.cancel()

    async def stop(self) -> None:
        """Halt; a record that is being written is written whole."""
        self.halt()
        if self._storing is not None:
            self._storing.cancel()
            await asyncio.wait([self._storing])

    # --- inputs ---------------------------------------------------------------------------------

    def send(self, destination: Address | None, payload: bytes) -> None:
        """Send a message, to the group when `destination` is None, at the end of this loop turn.

        `unsent_bytes` grows until then: who sends much should let the loop turn.
        """
        self.unsent_bytes += len(payload)
        if destination in self._outbox:
            self._outbox[destination].append(payload)
            return
        self._outbox[destination] = [payload]
        self._soon = self._soon or self._loop.call_soon(self._on_soon)

    def send_all(self, payloads: Sequence[bytes]) -> None:
        """Send messages to the group in this order, when the turn ends."""
        self.unsent_bytes += sum(map(len, payloads))
        self._outbox.setdefault(None, []).extend(payloads)
        self._soon = self._soon or self._loop.call_soon(self._on_soon)

    def notify(self, event: Event) -> None:
        """Tell the stack of an event at the end of this loop turn, after what was sent before."""
        self._events.append(event)
        self._soon = self._soon or self._loop.call_soon(self._on_soon)

    def _on_soon(self) -> None:
        self._soon = None
        now = self._begin_turn()
        self._tell_backlog(now)
        self._turn(now)

    def _on_readable(self) -> None:
        now = self._begin_turn()
        self._tell_backlog(now)
        receive = self.endpoint.receive

        def on_datagram(datagram: memoryview, source: SocketAddress) -> None:
            receive(datagram, source, now)

        self._sockets.drain(on_datagram)
        self._turn(now)

    def _on_timer(self) -> None:
        self._timer = None
        now = self._begin_turn()
        self._tell_backlog(now)
        self.endpoint.wake(now)
        self._turn(now)

    # --- the turn -------------------------------------------------------------------------------

    def _begin_turn(self) -> float:
        """The time for this turn; the stack is told first if the process has slept before it."""
        monotonic_s = self._loop.time()
        slept_s = self._awake.begin_turn(monotonic_s)
        now = self._awake.seconds(monotonic_s)
        if slept_s and self._running:
            name = self.endpoint.address.name
            log.warning("%s was not scheduled for %.2f s; it blames nobody for it", name, slept_s)
            self.endpoint.notify(Slept(slept_s), now)
        return now

    def _turn(self, now: float) -> None:
        if not self._running:
            return
        endpoint = self.endpoint
        if self._outbox:
            outbox, self._outbox, self.unsent_bytes = self._outbox, {}, 0
            for destination, payloads in outbox.items():
                if destination is None:
                    endpoint.multicast(payloads, now)
                else:
                    endpoint.unicast(destination, payloads, now)
        if self._events:
            events, self._events = self._events, []
            for event in events:
                endpoint.notify(event, now)
        turn = endpoint.end_turn(now)
        if turn.datagrams:
            self._sockets.send(turn.datagrams)
        if turn.log and self._storage is not None:
            self._storage.append(turn.log, self._on_log_stored)
        for record in turn.persists:
            self._records.put_nowait(record)
        if endpoint.dropped:
            self._drop_log.tell(endpoint.dropped.take(), now)
        if turn.service_events and self._on_service_events is not None:
            self._on_service_events(turn.service_events)
        if turn.deliveries:
            self._deliver(turn.deliveries)
        self._set_timer(now)

    def _on_log_stored(self, mark: int) -> None:
        """The service's log is on disk up to there."""
        if self._running and self.endpoint.service is not None:
            self.endpoint.service.stored(mark, self._begin_turn())
            self.wake_soon()

    def _tell_backlog(self, now: float) -> None:
        """Tell flow control what the application has not consumed, before anything else happens.

        Otherwise what the last turn delivered would count as consumed.
        """
        backlog = self._backlog_bytes()
        if backlog < BACKLOG_STEP_BYTES:
            backlog = 0
        if backlog != self._told_backlog:
            self._told_backlog = backlog
            self.endpoint.notify(Backlog(backlog), now)

    def wake_soon(self) -> None:
        """Let a turn happen soon: the application has consumed much of what it had."""
        self._soon = self._soon or self._loop.call_soon(self._on_soon)

    def _set_timer(self, now: float) -> None:
        """One loop timer. One that is early is left alone: waking for nothing is cheaper."""
        due = self.endpoint.next_wake()
        self._awake.end_turn(due, now)
        if due is None or not self._running:
            return
        wake = self._awake.monotonic(due)
        if self._timer is not None:
            if self._timer_at <= wake:
                return
            self._timer.cancel()
        # Not asked of the handle: uvloop gives a plain one, without a time, for what is due.
        self._timer_at = wake
        # uvloop counts whole milliseconds and may come early: a little later finds work to do.
        self._timer = self._loop.call_at(wake + TIMER_GRAIN_S, self._on_timer)

    async def _store_records(self) -> None:
        """Store the records one after the other, off the loop's thread, and report each."""
        while True:
            record = await self._records.get()
            await self._store(record)
            self.notify(Persisted(record.token))

    async def _store(self, record: Persist) -> None:
        """Store a record; as long as the disk refuses it, this member takes no further part.

        A failed write is never believed afterwards: every attempt writes a fresh file.
        """
        while True:
            storing = self._loop.run_in_executor(None, self._lineage.store, record.record)
            try:
                await asyncio.shield(storing)
            except OSError as error:
                log.error("cannot store the membership record (%s); trying again", error.strerror)
                await asyncio.sleep(STORE_RETRY_S)
            except asyncio.CancelledError:
                await asyncio.wait([storing])
                raise
            else:
                return
