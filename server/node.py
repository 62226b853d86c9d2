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
from collections.abc import Callable, Coroutine
from enum import StrEnum

from groupcore.endpoint import Delivery
from groupcore.errors import GroupcoreError
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
from server.checkpoint import Checkpointer
from server.errors import (
    BadMessageError,
    DamagedStoreError,
    IdInUseProblem,
    ServerError,
    SettingsProblem,
    VersionProblem,
)
from server.frames import Message, pack
from server.hub import Hub, Position, Subscriber
from server.journal import Journal
from server.metrics import Metrics
from server.operations import Create, Operation, encode_operation
from server.peers import (
    EVERYTHING,
    Info,
    PeerMessage,
    People,
    PersonLeft,
    StateDenied,
    StateOffer,
    StateRequest,
    decode_peer,
    encode_peer,
)
from server.ports import GroupChannel, Receiver
from server.presence import Presence
from server.recovery.joiner import Joiner, Received
from server.recovery.provider import Order, Provider
from server.replica import Created, Effect, Rejected, Replica, Updated
from server.saved import SavedVersions
from server.settings import Settings
from server.store import Record
from server.submissions import Submissions

logger = logging.getLogger("server")

HELD_BYTES_MAX = 256 * 2**20
"""Deliveries held back while the state comes; above it the transfer begins again."""

PROVIDE_WAIT_S = 2.0
"""How long a holder waits to reach what a joiner needs."""


class State(StrEnum):
    """What `/admin/status` calls the node's condition."""

    REBUILDING = "rebuilding"
    SERVING = "serving"
    STALE = "stale"
    READONLY = "readonly"
    DRAINING = "draining"


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
        self.replica = Replica()
        self.metrics = Metrics()
        self.hub = Hub(
            flush_s=settings.flush_ms / 1000,
            outbox_bytes=settings.outbox_kib * 1024,
            lag_s=settings.lag_s,
            resume=self.resume_messages,
            position=lambda doc: self.replica.version_of(doc),
        )
        self.saved = SavedVersions()
        self.presence = Presence(self.hub, self.tell)
        self.joiner = Joiner(cluster_key, self._tell_one)
        self.provider = Provider(
            journal, cluster_key, admin_url, self._order, self._wait_for_position
        )
        self.checkpointer = Checkpointer(settings, journal, lambda: self.replica)
        self.channel = make_channel(self.receive, journal)
        self.submissions = Submissions(self.channel.multicast_nowait, settings.submits_max)
        self.view: View | None = None
        self.primary = False
        self.state = State.REBUILDING
        self.me = Address(settings.node_id, 0)
        self.epoch = 0
        self.epochs: dict[int, int] = {}
        self.synced_position = self.saved_position = 0
        self.urls: dict[str, str] = {settings.node_id: public_url}
        self.subscribers: dict[str, Subscriber] = {}
        self.on_state: Callable[[State], None] = lambda state: None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held: list[Delivery] | None = []
        self._held_bytes = 0
        self._congested = False
        self._recovery: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiters: set[asyncio.Event] = set()

    # --- life -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Replay the journal and join the group; returns when the first view is installed."""
        found = self.journal.recovered
        self.replica.restore(found.documents)
        for record in found.records:
            self.replica.apply(record)
        self.replica.position = found.position
        self.epochs = dict(found.epochs)
        # An epoch whose beginning the log does not reach is one that this node does not hold.
        reached = [epoch for epoch, floor in self.epochs.items() if floor <= found.position]
        self.epoch = max([found.epoch, *reached])
        self.synced_position = found.position
        self.saved.reset(found.position, self.replica.versions())
        self.journal.start(self._on_synced, self._on_journal_trouble)
        await self.channel.connect(self.epoch, found.position)

    async def close(self) -> None:
        """Leave the group, then close the journal."""
        self._set_state(State.DRAINING)
        self._stop_recovery()
        for task in self._tasks:
            task.cancel()
        await self.channel.close()
        self.presence.close()
        self.hub.close()
        await self.journal.close()

    def fail(self, error: ServerError) -> None:
        """End the program with this error."""
        if not self.ended.done():
            self.ended.set_exception(error)

    @property
    def ready(self) -> bool:
        """Whether sessions may be sent here."""
        return self.state is State.SERVING

    def _set_state(self, state: State) -> None:
        if state is self.state or self.state is State.DRAINING:
            return
        self.state = state
        logger.info("node %s is %s", self.settings.node_id, state)
        self._gate()
        self.on_state(state)

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
            logger.exception("a delivery could not be applied")
            self.fail(ServerError(f"internal error: {error!r}"))

    def _receive(self, items: list[Delivery | Event]) -> None:
        records: list[Record] = []
        for item in items:
            if isinstance(item, Delivery):
                if item.position == 0:
                    self._on_unicast(item)
                elif self._held is not None:
                    self._hold(item)
                else:
                    self._apply(item, records)
                continue
            # What an event says about positions includes what was delivered before it.
            self._log(records)
            records = []
            self._on_event(item)
        self._log(records)

    def _apply(self, delivery: Delivery, records: list[Record]) -> None:
        """Apply what is new of a delivery, and note it for the journal."""
        self._fill_gap(delivery.position - 1, records)
        for position, payload in enumerate(delivery.payloads, delivery.position):
            if position > self.replica.position:
                record = Record(position, self.epoch, payload)
                records.append(record)
                self._publish(record, self.replica.apply(record))

    def _fill_gap(self, position: int, records: list[Record]) -> None:
        """Places whose bodies did not open hold nothing, at every member alike."""
        if position > self.replica.position:
            record = Record(position, self.epoch, b"")
            records.append(record)
            self.replica.apply(record)

    def _log(self, records: list[Record]) -> None:
        if records:
            self.journal.append(records)
            self.metrics.ordered.inc(len(records))
            self.checkpointer.count(len(records))
            self._wake_waiters()

    def _hold(self, delivery: Delivery) -> None:
        assert self._held is not None, "called while the state is coming"
        self._held.append(delivery)
        self._held_bytes += sum(map(len, delivery.payloads))
        if self._held_bytes > HELD_BYTES_MAX:
            self.fail(ServerError("the state comes more slowly than others write; start again"))

    def _publish(self, record: Record, effect: Effect | None) -> None:
        """Tell sessions and callers what an operation has done."""
        match effect:
            case Updated(doc, client, op, message, position):
                self.saved.note(record.position, doc, position[1])
                self.submissions.delivered((doc, client, op))
                if not effect.again:
                    self.hub.publish(doc, message, position)
                else:
                    self._send_to_client(client, doc, pack(message))
            case Rejected(doc, client, op):
                self.submissions.delivered((doc, client, op))
                self.metrics.rejected.labels(effect.code).inc()
                self._send_to_client(client, doc, pack(effect.message))
            case Created(doc, version):
                self.submissions.delivered((doc, "", 0))
                self.saved.note(record.position, doc, version)

    def _send_to_client(self, client: str, doc: str, message: bytes) -> None:
        subscriber = self.subscribers.get(client)
        if subscriber is not None and doc in subscriber.docs:
            self.hub.send(subscriber, [message])

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
                self._on_saved(epoch, position)
            case Congested(on):
                self._congested = on
                self._gate()
            case Refused(code, detail):
                self.fail(refusal(code, detail))

    def _on_view(self, event: ViewInstalled) -> None:
        self.view, self.primary, self.me = event.view, True, self.channel.address
        logger.info("view %s", event.view)
        self.presence.keep_members(event.view.members)
        new = set(event.view.members) - set(event.previous.members if event.previous else ())
        for member in event.view.members if event.fresh else new:
            if member != self.me:
                self._spawn(self._greet(member))
        if not event.fresh:
            if self._held is None:
                records: list[Record] = []
                self._fill_gap(event.position, records)
                self._log(records)
                self._begin_epoch(event.view.epoch, event.view.floor)
                self._report_synced()
                self._set_state(State.SERVING)
            self._gate()
        elif self._holds(event):
            self._stop_recovery()
            self._begin_epoch(event.view.epoch, event.view.floor)
            self._become_whole()
        else:
            self._become_joiner(event)

    def _holds(self, event: ViewInstalled) -> bool:
        """Whether this node has everything up to the view's position, and nothing else."""
        if event.position != self.replica.position:
            return False
        if event.position == 0:
            return True
        mine = self.epoch == event.view.epoch or event.view.floor == event.position
        return mine and (not event.holders or self.me in event.holders)

    def _begin_epoch(self, epoch: int, floor: int) -> None:
        if epoch not in self.epochs:
            self.epochs[epoch] = floor
            self.journal.put_epoch(epoch, floor)
        self.epoch = epoch

    def _on_primary(self, primary: bool) -> None:
        self.primary = primary
        if self._held is None:
            self._set_state(State.SERVING if primary else State.STALE)
        self._gate()

    def _on_excluded(self, reason: str) -> None:
        logger.warning("excluded by the primary view: %s; joining again", reason)
        self.primary = False
        self._stop_recovery()
        # The next deliveries come after a fresh view, which says what they follow.
        self._held, self._held_bytes = [], 0
        self._set_state(State.STALE)

    def _on_saved(self, epoch: int, position: int) -> None:
        if epoch != self.epoch or self._held is not None:
            return
        self.saved_position = max(self.saved_position, position)
        for doc, version in self.saved.advance(position).items():
            where = self.replica.version_of(doc)
            message: Message = {"t": "saved", "doc": doc, "epoch": where[0], "version": version}
            self.hub.publish(doc, message)
        self._wake_waiters()

    # --- taking the state -----------------------------------------------------------------------

    def _become_joiner(self, event: ViewInstalled) -> None:
        """Hold deliveries back and fetch; a transfer that runs for an older view ends."""
        self._stop_recovery()
        self._held, self._held_bytes = [], 0
        if not any(holder != self.me for holder in event.holders):
            self.fail(
                DamagedStoreError(
                    f"the group is at position {event.position} and nobody gives its state; this "
                    f"node's journal holds {self.replica.position}. Start the other nodes first"
                )
            )
            return
        self._set_state(State.REBUILDING)
        self._recovery = asyncio.get_running_loop().create_task(self._recover(event))
        self._recovery.add_done_callback(self._on_task_end)

    def _stop_recovery(self) -> None:
        if self._recovery is not None:
            self._recovery.cancel()
            self._recovery = None

    async def _recover(self, event: ViewInstalled) -> None:
        _, position, chain = await self.journal.flushed()
        ahead = position > event.position
        received = await self.joiner.fetch(
            lambda: self._holders(event),
            self.epoch,
            EVERYTHING if ahead else position,
            chain,
            event.position,
            lambda holder, why: logger.warning("no state from %s: %s", holder, why),
        )
        self.metrics.catchup.labels("snapshot" if received.full else "stream").inc()
        if received.full:
            self._take_over(received)
        else:
            self._replay(received)
        self._begin_epoch(event.view.epoch, event.view.floor)
        self._become_whole()

    def _holders(self, event: ViewInstalled) -> list[Address]:
        """The holders that are still in the view; all its members when none of them is."""
        view = self.view or event.view
        others = [member for member in view.members if member != self.me]
        return [member for member in others if member in event.holders] or others

    def _replay(self, received: Received) -> None:
        """The log behind this node's place: apply it as if it had been delivered."""
        for record in received.state.records:
            assert record.position > self.replica.position, "a log goes on where this one ends"
            self._publish(record, self.replica.apply(record))
        self.replica.position = received.state.position
        self._log(received.state.records)
        # Behind the records: who claims an epoch must hold everything up to its beginning.
        for epoch, floor in sorted(received.state.epochs.items()):
            self._begin_epoch(epoch, floor)

    def _take_over(self, received: Received) -> None:
        """A whole state in place of this node's: replica, journal, and what sessions see."""
        state = received.state
        replica = Replica()
        replica.restore(state.documents)
        for record in state.records:
            replica.apply(record)
        replica.position = state.position
        state.documents = [replica.dump(doc) for doc in sorted(replica.documents)]
        state.records = []
        self.journal.replace(state)
        self.replica = replica
        self.epochs, self.epoch = dict(state.epochs), state.epoch
        self.synced_position = 0
        self.saved.reset(state.position, replica.versions())
        self.checkpointer.reset()
        self.hub.resume_all()

    def _become_whole(self) -> None:
        """Everything up to the view is here: apply what was held, and serve."""
        held, self._held = self._held, None
        self._recovery = None
        records: list[Record] = []
        for delivery in held or []:
            self._apply(delivery, records)
        self._log(records)
        self._report_synced()
        self._set_state(State.SERVING if self.primary else State.STALE)
        self._gate()
        self.submissions.send_all_again()
        self._wake_waiters()

    # --- giving the state -----------------------------------------------------------------------

    def _order(self) -> tuple[Order, Replica] | None:
        if self._held is not None or not self.primary:
            return None
        return Order(self.epoch, self.replica.position, dict(self.epochs)), self.replica

    async def _wait_for_position(self, position: int) -> bool:
        return await self.wait_until(lambda: self.replica.position >= position, PROVIDE_WAIT_S)

    # --- unicasts -------------------------------------------------------------------------------

    def tell(self, message: PeerMessage, member: Address | None) -> None:
        """Send to one member, or to every other one."""
        others = self.view.members if self.view is not None else ()
        for other in others if member is None else (member,):
            if other != self.me:
                self._spawn(self._tell_one(other, message))

    async def _tell_one(self, member: Address, message: PeerMessage) -> None:
        try:
            await self.channel.unicast(member, encode_peer(message))
        except GroupcoreError as error:
            logger.debug("not told to %s: %s", member, error)

    async def _greet(self, member: Address) -> None:
        await self._tell_one(member, Info(self.public_url))
        self.presence.tell_all(member)

    def _on_unicast(self, delivery: Delivery) -> None:
        for payload in delivery.payloads:
            match decode_peer(payload):
                case None:
                    self.metrics.drop("bad_peer_message")
                case Info(url):
                    self.urls[delivery.origin.name] = url
                case (People() | PersonLeft()) as message:
                    self.presence.receive(delivery.origin, message)
                case StateRequest() as request:
                    self._spawn(self._give(delivery.origin, request))
                case (StateOffer() | StateDenied()) as answer:
                    self.joiner.receive(answer)

    async def _give(self, member: Address, request: StateRequest) -> None:
        await self._tell_one(member, await self.provider.answer(request))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a task has failed: %r", error)
            self.fail(ServerError(f"internal error: {error!r}"))

    # --- the journal calls back -----------------------------------------------------------------

    def _on_synced(self, epoch: int, position: int) -> None:
        self.synced_position = position
        self._report_synced()

    def _report_synced(self) -> None:
        """Tell the group what is on disk here, once that reaches into the present epoch."""
        position = self.synced_position
        if self._held is None and position >= self.epochs.get(self.epoch, 0):
            self.channel.synced(self.epoch, position)

    def _on_journal_trouble(self, kind: str, detail: str) -> None:
        match kind:
            case "full":
                logger.error("the disk of %s is full; read only: %s", self.settings.data, detail)
                self._set_state(State.READONLY)
            case "recovered":
                if self.state is State.READONLY:
                    self._set_state(State.SERVING if self.primary else State.STALE)
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
        if not self.submissions.add(key, payload):
            if self.primary and self.state is State.SERVING:
                raise BadMessageError("busy", "too many operations wait; try again")
            raise BadMessageError("not_primary", "this node is outside the primary view")
        self.metrics.submitted.inc()

    def resume_messages(self, subscriber: Subscriber, doc: str, position: Position) -> list[bytes]:
        """What brings a session from a position to the present: updates, or a snapshot."""
        return self.replica.resume(doc, position, subscriber.client, self.saved.version(doc))

    async def wait_until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until something applied, saved or installed makes the condition true."""
        if condition():
            return True
        event = asyncio.Event()
        self._waiters.add(event)
        try:
            async with asyncio.timeout(timeout_s):
                while not condition():
                    event.clear()
                    await event.wait()
        except TimeoutError:
            return False
        finally:
            self._waiters.discard(event)
        return True

    def _wake_waiters(self) -> None:
        for event in self._waiters:
            event.set()


def refusal(code: str, detail: str) -> ServerError:
    """The error of a membership that was refused."""
    match code:
        case "id_in_use":
            return IdInUseProblem(f"{detail}; give this node another --node-id")
        case "version":
            return VersionProblem(f"{detail}; run the same version on all nodes")
        case _:
            return SettingsProblem(f"--data belongs to another cluster: {detail}")
