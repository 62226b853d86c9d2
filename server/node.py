"""The node: from the channel to the replicas, the journal and the sessions, in that order.

The channel's receiver hands over what a loop turn has delivered. Each ordered operation is
applied to the replica, queued for the journal and published to the hub; nothing here waits. The
journal calls back when a group is on disk, the channel is told (`synced`), and its `Saved` event
says up to where a quorum has it: that becomes `saved` frames.

On a fresh view (this member did not live through the former one) the node either holds exactly
the group's position, or it holds deliveries back, takes the state from a holder, replays what was
held and only then serves (design, section 4, rule 11).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from groupcore.endpoint import Delivery
from groupcore.events import (
    Congested,
    Event,
    Excluded,
    PrimaryLost,
    PrimaryRegained,
    Refused,
    Saved,
    ViewInstalled,
)
from groupcore.view import Address, View
from server.errors import (
    BadMessageError,
    DamagedStoreError,
    ServerError,
    refusal,
)
from server.frames import Message, pack
from server.hub import Hub, Position, Subscriber
from server.journal import Journal
from server.metrics import Metrics
from server.neighbours import Neighbours
from server.operations import Create, Operation, encode_operation
from server.ports import GroupChannel, Receiver
from server.recovery.catch_up import CatchUp
from server.recovery.joiner import Joiner
from server.recovery.provider import Order, Provider
from server.replica import Created, Effect, Rejected, Replica, Updated
from server.replication import Replication
from server.settings import Settings
from server.state import State
from server.store import Record
from server.submissions import Key, Submissions
from server.waiters import Waiters

logger = logging.getLogger("server")

HELD_BYTES_MAX = 256 * 2**20
"""Deliveries held back while the state comes; above it the node gives up and starts again."""

PROVIDE_WAIT_S = 2.0
"""How long a holder waits to reach what a joiner needs."""


MakeChannel = Callable[[Receiver, Journal], GroupChannel]


class Node:
    """One node's service. Made on the loop; `start` connects, `close` leaves."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        make_channel: MakeChannel,
        *,
        cluster_key: bytes,
        public_url: str,
        admin_url: str,
    ) -> None:
        self.settings = settings
        self.public_url = public_url
        self.journal = journal
        self.metrics = Metrics()
        self.hub = Hub(
            flush_s=settings.flush_ms / 1000,
            outbox_bytes=settings.outbox_kib * 1024,
            lag_s=settings.lag_s,
            resume=self.resume_messages,
            position=lambda doc: self.replica.version_of(doc),
        )
        self.channel = make_channel(self.receive, journal)
        self.order = Replication(settings, journal, self._publish, self.channel.synced)
        self.neighbours = Neighbours(
            settings.node_id, public_url, self.hub, self.metrics, self._on_bug
        )
        self.joiner = joiner = Joiner(cluster_key, self.neighbours.tell_one)
        self.provider = Provider(
            journal, cluster_key, admin_url, self._what_may_be_given, self._wait_for_position
        )
        self.neighbours.connect(self.channel, self.provider, self.joiner)
        self.submissions = Submissions(self.channel.multicast_nowait, settings.submits_max)
        self.view: View | None = None
        self.primary = False
        self.state = State.REBUILDING
        self.me = Address(settings.node_id, 0)
        self.subscribers: dict[str, Subscriber] = {}
        self.on_state: Callable[[State], None] = lambda state: None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held: list[Delivery] = []
        self._held_bytes = 0
        self._congested = False
        self._catch_up = CatchUp(joiner, self.order, self._others, self._on_caught_up, self._on_bug)
        self.waiters = Waiters()

    @property
    def replica(self) -> Replica:
        """The documents; a transfer puts a new one in its place."""
        return self.order.replica

    # --- life -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Replay the journal and join the group; returns when the first view is installed."""
        self.order.restore()
        self.journal.start(
            lambda _, position: self.order.on_synced(position), self._on_journal_trouble
        )
        await self.channel.connect(self.order.epoch, self.order.position)

    async def close(self) -> None:
        """Leave the group, then close the journal."""
        self._set_state(State.DRAINING)
        self._catch_up.stop()
        await self.channel.close()
        self.neighbours.close()
        self.hub.close()
        await self.journal.close()

    def fail(self, error: ServerError) -> None:
        """End the program with this error."""
        if not self.ended.done():
            self.ended.set_exception(error)

    def _on_bug(self, error: BaseException) -> None:
        logger.error("internal error", exc_info=error)
        self.fail(ServerError(f"internal error: {error!r}"))

    @property
    def ready(self) -> bool:
        """Whether sessions may be sent here."""
        return self.state is State.SERVING

    def _set_state(self, state: State) -> None:
        if state is not self.state and self.state is not State.DRAINING:
            self.state = state
            logger.info("node %s is %s", self.settings.node_id, state)
            self.on_state(state)
        self._gate()

    def _serve(self) -> None:
        """Serving or stale, as the primary view says; a full disk stays read only."""
        if self.state is State.READONLY and self.journal.full:
            return
        self._set_state(State.SERVING if self.primary else State.STALE)

    def _gate(self) -> None:
        """Operations go out while this node is whole, in the primary view and not congested."""
        self.submissions.set_open(
            self.state is State.SERVING and self.primary and not self._congested
        )

    # --- from the channel -----------------------------------------------------------------------

    def receive(self, items: list[Delivery | Event]) -> None:
        """The channel's receiver: what one loop turn has delivered."""
        try:
            self._receive(items)
        except Exception as error:
            # A replica that has failed on an operation must not go on with the next.
            self._on_bug(error)

    def _receive(self, items: list[Delivery | Event]) -> None:
        records: list[Record] = []
        for item in items:
            if isinstance(item, Delivery):
                if item.position == 0:
                    self.neighbours.receive(item)
                elif self.order.whole:
                    self.order.apply(item, records)
                else:
                    self._hold(item)
                continue
            # What an event says about positions includes what was delivered before it.
            self._log(records)
            records = []
            self._on_event(item)
        self._log(records)

    def _log(self, records: list[Record]) -> None:
        if records:
            self.order.log(records)
            self.metrics.ordered.inc(len(records))
            self.waiters.wake()

    def _hold(self, delivery: Delivery) -> None:
        self._held.append(delivery)
        self._held_bytes += sum(map(len, delivery.payloads))
        if self._held_bytes > HELD_BYTES_MAX:
            self.fail(ServerError("the state comes more slowly than others write; start again"))

    def _publish(self, record: Record, effect: Effect | None) -> None:
        """Tell sessions and callers what an operation has done."""
        match effect:
            case Updated(doc, client, op, message, position):
                self._on_ordered((doc, client, op))
                self.order.saved.note(record.position, doc, position[1])
                if effect.again:
                    self._send_to_client(client, doc, message)
                else:
                    self.hub.publish(doc, message, position)
            case Rejected(doc, client, op):
                self._on_ordered((doc, client, op))
                self.metrics.rejected.labels(effect.code).inc()
                self._send_to_client(client, doc, effect.message)
            case Created(doc, version):
                self._on_ordered((doc, "", 0))
                self.order.saved.note(record.position, doc, version)

    def _on_ordered(self, key: Key) -> None:
        waited_s = self.submissions.delivered(key, asyncio.get_running_loop().time())
        if waited_s is not None:
            self.metrics.order_latency.observe(waited_s)

    def _send_to_client(self, client: str, doc: str, message: Message) -> None:
        subscriber = self.subscribers.get(client)
        if subscriber is not None and doc in subscriber.docs:
            self.hub.send(subscriber, [pack(message)])

    def _on_event(self, event: Event) -> None:
        match event:
            case ViewInstalled():
                self._on_view(event)
            case PrimaryLost():
                self._on_primary(False)
            case PrimaryRegained():
                self._on_primary(True)
            case Excluded(reason):
                self._on_excluded(reason)
            case Saved(epoch, position):
                self._tell_saved(self.order.on_saved(epoch, position))
            case Congested(on):
                self._congested = on
                self._gate()
            case Refused(code, detail):
                self.fail(refusal(code, detail))

    def _on_view(self, event: ViewInstalled) -> None:
        self.view, self.primary, self.me = event.view, True, self.channel.address
        logger.info("view %s", event.view)
        self.neighbours.on_view(event, self.me)
        if event.fresh:
            self._congested = False
            self._catch_up.stop()
            if self._holds(event):
                self._become_whole(event.view)
            else:
                self._become_joiner(event)
        elif self.order.whole:
            records: list[Record] = []
            self.order.fill_gap(event.position, records)
            self._log(records)
            self.order.begin_epoch(event.view.epoch, event.view.floor)
            self.order.report_synced()
            self._serve()

    def _holds(self, event: ViewInstalled) -> bool:
        """Whether this node has everything up to the view's position, and nothing else."""
        if event.position != self.order.position:
            return False
        if event.position == 0:
            return True
        mine = self.order.epoch == event.view.epoch or event.view.floor == event.position
        return mine and (not event.holders or self.me in event.holders)

    def _on_primary(self, primary: bool) -> None:
        self.primary = primary
        if self.order.whole:
            self._serve()

    def _on_excluded(self, reason: str) -> None:
        logger.warning("excluded by the primary view: %s; joining again", reason)
        self.primary = False
        self._catch_up.stop()
        # The next deliveries come after a fresh view, which says what they follow.
        self._forget_held()
        self._set_state(State.STALE)

    def _tell_saved(self, grown: dict[str, int]) -> None:
        for doc, version in grown.items():
            epoch = self.replica.version_of(doc)[0]
            message: Message = {"t": "saved", "doc": doc, "epoch": epoch, "version": version}
            self.hub.publish(doc, message, lazy=True)
        self.waiters.wake()

    # --- taking and giving the state ------------------------------------------------------------

    def _become_joiner(self, event: ViewInstalled) -> None:
        """Hold deliveries back and fetch what is missing."""
        self._forget_held()
        if event.view.members == (self.me,):
            self.fail(
                DamagedStoreError(
                    f"the group is at position {event.position} and nobody else has its state; "
                    f"this node's journal holds {self.order.position}. Start the others first"
                )
            )
            return
        self._set_state(State.REBUILDING)
        self._catch_up.start(event)

    def _forget_held(self) -> None:
        self.order.set_whole(False)
        self._held, self._held_bytes = [], 0

    def _on_caught_up(self, view: View, replaced: bool) -> None:
        self.metrics.catchup.labels("snapshot" if replaced else "stream").inc()
        if replaced:
            self.hub.resume_all()
        self._become_whole(view)

    def _others(self) -> list[Address]:
        members = () if self.view is None else self.view.members
        return [member for member in members if member != self.me]

    def _become_whole(self, view: View) -> None:
        """Everything up to the view is here: apply what was held, and serve."""
        self.order.begin_epoch(view.epoch, view.floor)
        held, self._held, self._held_bytes = self._held, [], 0
        records: list[Record] = []
        for delivery in held:
            self.order.apply(delivery, records)
        self._log(records)
        self._tell_saved(self.order.set_whole(True))
        # Before the gate opens: what waited is sent once, not as waiting and then again.
        self.submissions.send_all_again()
        self._serve()

    def _what_may_be_given(self) -> tuple[Order, Replica] | None:
        order = self.order
        if not order.whole or not self.primary:
            return None
        return Order(order.epoch, order.position, dict(order.epochs)), order.replica

    async def _wait_for_position(self, position: int) -> bool:
        return await self.waiters.until(lambda: self.order.position >= position, PROVIDE_WAIT_S)

    # --- the journal calls back -----------------------------------------------------------------

    def _on_journal_trouble(self, kind: str, detail: str) -> None:
        match kind:
            case "full":
                logger.error("the disk of %s is full; read only: %s", self.settings.data, detail)
                self._set_state(State.READONLY)
            case "recovered":
                if self.state is State.READONLY:
                    self._serve()
            case _:
                self.fail(DamagedStoreError(f"the journal cannot be written: {detail}"))

    # --- for sessions and routes ----------------------------------------------------------------

    def submit(self, operation: Operation) -> None:
        """Take an operation; it comes back in the order.

        BadMessageError `too_large`, `busy`, `not_primary` when it cannot be taken.
        """
        if self.state in (State.READONLY, State.DRAINING):
            raise BadMessageError("busy", f"this node is {self.state}; try another")
        payload = encode_operation(operation)
        key = (operation.doc, "", 0)
        if not isinstance(operation, Create):
            key = (operation.doc, operation.client, operation.op)
        if not self.submissions.add(key, payload, asyncio.get_running_loop().time()):
            if self.ready:
                raise BadMessageError("busy", "too many operations wait; try again")
            raise BadMessageError("not_primary", "this node is outside the primary view")
        self.metrics.submitted.inc()

    def resume_messages(self, subscriber: Subscriber, doc: str, position: Position) -> list[bytes]:
        """What brings a session from a position to the present: updates, or a snapshot."""
        return self.replica.resume(doc, position, subscriber.client, self.order.saved.version(doc))
