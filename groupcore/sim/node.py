"""One simulated node: its lives, the pump that drives an endpoint, its pauses and crashes.

The pump is that of the asyncio node: what has arrived since the last turn is fed in, due timers
run, the turn ends, and what it caused is sent, delivered and stored. A turn takes time, so inputs
gather while one runs; a slow node takes longer, a paused one gathers them until its buffer is full.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from groupcore.awake import AwakeClock
from groupcore.effects import Persist
from groupcore.endpoint import Delivery, Endpoint, Turn
from groupcore.events import (
    Congested,
    Connect,
    Event,
    Excluded,
    Leave,
    Left,
    Persisted,
    PrimaryLost,
    PrimaryRegained,
    Refused,
    Saved,
    Slept,
    Synced,
    ViewInstalled,
    WaiverGiven,
)
from groupcore.layers.membership import Membership
from groupcore.sim.application import Application
from groupcore.sim.clock import MICROSECOND, MILLISECOND, SECOND, Clock, LocalClock, WallClock
from groupcore.sim.disk import Disk
from groupcore.sim.guest import Guest, NoGuest
from groupcore.sim.messages import compose_message, content_hash, identify
from groupcore.sim.network import Network, SocketAddress
from groupcore.sim.recording import Recorder
from groupcore.sim.scenario import Scenario
from groupcore.sim.states import FindState, States
from groupcore.sim.trace import (
    DISK_LOST,
    Acked,
    Delivered,
    Mid,
    Sent,
    Trace,
)
from groupcore.stacks import read_record
from groupcore.view import Address, View

INBOX_MAX = 4_096
"""Datagrams that wait for a paused or slow node; more are dropped, as a socket buffer does."""
RESTART_NS = 300 * MILLISECOND
"""After a disk error somebody starts the node again this much later."""

MakeEndpoint = Callable[[Address, bytes, Random, bytes | None], Endpoint]
"""Composes the endpoint of a life from its address, boot id, chance and the last life's record."""


class Node:
    """A machine with a disk; each life counts in the trace as a process `(name, incarnation)`.

    `outstanding` is shared by all nodes: what live processes have sent and not yet seen to arrive.
    `multicasts`: all that this node ever sent to the group; `unplaced`: what it has delivered in
    this view without a place in the order.
    `closed` is called with this node when a life of it ends; `guest` has a part in every life.
    """

    def __init__(
        self,
        name: str,
        socket_address: SocketAddress,
        clock: Clock,
        network: Network,
        trace: Trace,
        disk: Disk,
        random: Random,
        make_endpoint: MakeEndpoint,
        find_state: FindState,
        outstanding: dict[Mid, Address | None],
        scenario: Scenario,
    ) -> None:
        self.name = name
        self.socket_address = socket_address
        self.disk = disk
        self.address = Address(name, 0)
        self.endpoint: Endpoint | None = None
        self.application: Application | None = None
        self.view: View | None = None
        self.primary = False
        self.congested = False
        self.leaving = False
        self.paused = False
        self.slowness = 1
        self.refused = False
        self.wall_clock = WallClock()
        self.closed: Callable[[Node], None] | None = None
        self.guest: Guest = NoGuest()
        disk.on_error = self._on_disk_error
        self.multicasts: set[Mid] = set()
        self.unplaced: set[Mid] = set()
        self._clock = clock
        self._network = network
        self.trace = trace
        self._record = Recorder(trace, clock)
        self._random = random
        self._local = LocalClock(random.uniform(1.0, 10_000.0), random.uniform(0.995, 1.005))
        self._awake = AwakeClock()
        self._make_endpoint = make_endpoint
        self.states = States(self, clock, random, find_state, scenario)
        self._inbox: list[tuple[bytes, SocketAddress] | Event] = []
        self._outbox: list[tuple[Address | None, list[bytes]]] = []
        self._turn_planned = False
        self._busy_until = 0
        self._wake_at: int | None = None
        self._lseq = 0
        self._outstanding = outstanding
        self._waived_after: View | None = None
        self._turn_ns = scenario.turn_us * MICROSECOND
        network.attach(socket_address, self.receive)

    # --- life -----------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether a process runs, paused or not."""
        return self.endpoint is not None

    @property
    def ready(self) -> bool:
        """Whether the application could send now."""
        return self.view is not None and not self.leaving and self.alive

    @property
    def may_multicast(self) -> bool:
        """Whether a multicast that the application sends now goes out."""
        return self.ready and not self.congested

    def start(self) -> None:
        """Begin a life from what is on the disk; nothing happens while one goes on."""
        if self.alive or not self.guest.may_start():
            return
        self._read_log()
        if self.disk.damaged:
            self._record.lived(self.address, "unreadable", "the record on disk is damaged")
            return
        journal = self.disk.start(self.wall_clock.read())
        self.address = Address(self.name, self.disk.incarnation)
        boot = self._random.randbytes(16)
        random = Random(self._random.getrandbits(64))
        self.endpoint = self._make_endpoint(self.address, boot, random, self.disk.lineage)
        self.application = Application(self.address, journal, self.disk, self.trace, self)
        self.view, self.primary, self.congested = None, False, False
        self.leaving, self.refused, self._lseq = False, False, 0
        self._record.lived(
            self.address, "start", f"epoch {journal.epoch} position {journal.position}"
        )
        self._record.secured(self.address, journal.epoch, journal.position)
        held = self.guest.begin_life(self.endpoint) or (journal.epoch, journal.position)
        self._input(Connect(*held))
        self.states.begin_life()

    def crash(self, keep_all: bool) -> None:
        """The process and the machine stop at once; of unsafe writes a prefix stays."""
        if self.alive:
            self._record.lived(self.address, "crash", "all kept" if keep_all else "")
            self.disk.crash(keep_all)
            self._end_life()
        self.paused = False

    def start_empty(self) -> None:
        """Somebody has moved a damaged record away: begin with an empty disk."""
        if not self.alive:
            self._read_log()
        if self.disk.damaged:
            self.lose_disk()
        self.start()

    def _read_log(self) -> None:
        self._record.recovered(self.address, self.disk.verify())

    def lose_disk(self) -> None:
        """An empty disk is in the place of the former one."""
        self.disk.wipe()
        self._record.lived(self.address, DISK_LOST)

    def _on_disk_error(self) -> None:
        """An fsync has failed: what it was for is lost, so this life must not go on."""
        if self.alive:
            self._record.lived(self.address, "disk-error")
            self.disk.crash()
            self._end_life()
            self._clock.after(RESTART_NS, self.start)

    def waive(self, names: tuple[str, ...]) -> None:
        """Somebody has this node go on without these, if it waits for a quorum."""
        if self.endpoint is None:
            return
        layers = self.endpoint.stack.layers
        (layer,) = (one for one in layers if isinstance(one, Membership))
        awaiting = layer.awaiting(self._local.seconds(self._clock.now_ns))
        if awaiting is not None and awaiting.reason in ("quorum", "bound"):
            self._waived_after = awaiting.view
        basis = self._waived_after
        if awaiting is not None and basis is not None:
            self._input(WaiverGiven(basis.lineage, basis.number, names))

    def _asked_ns_ago(self) -> str:
        """How long the others have been asked to let this node go; empty: not at all."""
        assert self.endpoint is not None
        layers = self.endpoint.stack.layers
        asked_at = next(one.leaver.asked_at for one in layers if isinstance(one, Membership))
        if asked_at is None:
            return ""
        return str(round((self._local.seconds(self._clock.now_ns) - asked_at) * SECOND))

    def leave(self) -> None:
        """Ask for a graceful leave; the life ends with `Left`."""
        if self.ready:
            self.leaving = True
            self._record.lived(self.address, "leave")
            self._input(Leave())

    def pause(self) -> None:
        """Stop running without noticing it; inputs gather."""
        self.paused = True

    def resume(self) -> None:
        """Go on: everything that gathered, and every timer, is handled at once."""
        self.paused = False
        self.plan()

    def _end_life(self, goes_on: bool = False) -> None:
        if self.closed is not None:
            self.closed(self)
        for mid in [mid for mid in self._outstanding if mid.origin == self.name]:
            del self._outstanding[mid]
        self.guest.end_life(goes_on)
        self.endpoint = self.application = self.view = None
        self.primary = self.leaving = False
        self._inbox.clear()
        self._outbox.clear()
        self._wake_at = None
        self._awake.end_turn(None)

    # --- inputs ---------------------------------------------------------------------------------

    def receive(self, data: bytes, source: SocketAddress) -> None:
        """A datagram has come off the network."""
        if self.endpoint is not None and len(self._inbox) < INBOX_MAX:
            self._inbox.append((data, source))
            self.plan()

    def send(self, sizes: list[int], to: Address | None, word: bytes = b"") -> None:
        """The application sends messages of these sizes, if it may; they say `word`."""
        if not self.ready or (self.congested and to is None):
            return
        payloads = []
        for size in sizes:
            self._lseq += 1
            mid = Mid(self.name, self.address.incarnation, self._lseq)
            payload = compose_message(mid, size, word)
            payloads.append(payload)
            content = content_hash(payload)
            self.trace.add(Sent(self._clock.now_ns, *self.address, mid, content, to))
            self._outstanding[mid] = to
            if to is None:
                self.multicasts.add(mid)
        self._outbox.append((to, payloads))
        self.plan()

    def tell(self, event: Event, life: Address) -> None:
        """Something outside has happened that concerns this life; it hears unless it is over."""
        if self.alive and self.address == life:
            self._input(event)

    def notify_synced(self, event: Synced) -> None:
        """The application's journal is safe up to there."""
        self._record.secured(self.address, event.epoch, event.position)
        if not self.guest.keeps_state:
            self._input(event)

    def ask_for_state(self) -> None:
        """The application needs its state."""
        self.states.ask()

    def _input(self, event: Event) -> None:
        self._inbox.append(event)
        self.plan()

    # --- the pump -------------------------------------------------------------------------------

    def plan(self) -> None:
        """Let a turn happen as soon as the last one is over: at once when it is."""
        if self._turn_planned or self.paused or self.endpoint is None:
            return
        if self._clock.now_ns >= self._busy_until:
            self._turn()
        else:
            self._turn_planned = True
            self._clock.at(self._busy_until, self._turn)

    def _turn(self) -> None:
        self._turn_planned = False
        endpoint = self.endpoint
        if endpoint is None or self.paused:
            return
        self._busy_until = self._clock.now_ns + self._turn_ns * self.slowness
        monotonic_s = self._local.seconds(self._clock.now_ns)
        slept_s = self._awake.begin_turn(monotonic_s)
        now = self._awake.seconds(monotonic_s)
        if slept_s:
            endpoint.notify(Slept(slept_s), now)
        inbox, self._inbox = self._inbox, []
        outbox, self._outbox = self._outbox, []
        for item in inbox:
            if type(item) is tuple:
                endpoint.receive(item[0], item[1], now)
            else:
                assert isinstance(item, Event)
                endpoint.notify(item, now)
        for to, payloads in outbox:
            if to is None:
                endpoint.multicast(payloads, now)
            else:
                endpoint.unicast(to, payloads, now)
        self.guest.feed(now)
        endpoint.wake(now)
        self._carry_out(endpoint.end_turn(now))
        if self.endpoint is endpoint:
            self._arm(endpoint, now)

    def _carry_out(self, turn: Turn) -> None:
        life = self.address
        for datagram in turn.datagrams:
            self._network.send(self.socket_address, datagram.destination, datagram.data)
        self.guest.store(turn)
        for persist in turn.persists:
            self.disk.store(persist.record, self._persisted(life, persist))
        for item in turn.deliveries:
            if self.address != life or self.endpoint is None:
                return
            if isinstance(item, Delivery):
                self._deliver(item)
            else:
                self._on_event(item)
        if self.address == life and self.endpoint is not None:
            self.guest.hear(turn)

    def _persisted(self, life: Address, persist: Persist) -> Callable[[], None]:
        token = persist.token
        accepted = read_record(persist.record).accepted

        def done() -> None:
            if accepted is not None:
                self._record.accepted(life, accepted)
            if self.address == life and self.endpoint is not None:
                self._input(Persisted(token))

        return done

    def _arm(self, endpoint: Endpoint, now: float) -> None:
        wake = endpoint.next_wake()
        self._awake.end_turn(wake, now)
        if wake is None:
            self._wake_at = None
            return
        wake = self._awake.monotonic(wake)
        moment, soonest = self._local.moment(wake), self._clock.now_ns + MICROSECOND
        moment = moment if moment > soonest else soonest
        if moment != self._wake_at:
            self._wake_at = moment
            self._clock.at(moment, self._wake, moment)

    def _wake(self, moment: int) -> None:
        if moment == self._wake_at:
            self._wake_at = None
            self.plan()

    # --- outputs --------------------------------------------------------------------------------

    def _deliver(self, delivery: Delivery) -> None:
        application, now = self.application, self._clock.now_ns
        assert application is not None
        view, epoch = (self.view.number, self.view.epoch) if self.view is not None else (0, 0)
        (n, inc), position = self.address, delivery.position
        for payload in delivery.payloads:
            mid, content = identify(payload), content_hash(payload)
            self.trace.add(Delivered(now, n, inc, epoch, position, mid, content, view))
            if position:
                application.deliver(epoch, position, (mid, content))
                self.states.on_ordered(Address(mid.origin, mid.inc), payload, position)
                position += 1
            else:
                self.unplaced.add(mid)
            if not position or mid.origin == n:
                self._outstanding.pop(mid, None)

    def _on_event(self, event: Event) -> None:
        match event:
            case ViewInstalled():
                self._install(event)
            case PrimaryLost():
                self.primary = False
            case PrimaryRegained():
                self.primary = True
            case Congested(on):
                self.congested = on
            case Saved(epoch, position) if self.view is not None:
                now, view = self._clock.now_ns, self.view
                self.trace.add(
                    Acked(now, *self.address, epoch, position, view.members, view.voters)
                )
            case Excluded(reason):
                self.begin_anew("excluded", reason)
            case Refused("gone_on_without", _):  # what is on the disk is put aside
                self._stop("refused", "gone on without")
                self.lose_disk()
                self._clock.after(RESTART_NS, self.start)
            case Refused(code, _):
                self.refused = True
                self._stop("refused", code)
            case Left():
                self._stop("left", self._asked_ns_ago())
            case _:
                self.states.on_event(event)

    def _install(self, event: ViewInstalled) -> None:
        self.view, self.primary, self.unplaced = event.view, True, set()
        self._record.viewed(self.address, event)
        self.guest.view()
        assert self.application is not None
        self.states.on_view(event)
        self.application.install(event, self._clock.now_ns)

    def begin_anew(self, what: str, detail: str) -> None:
        """This life is over, the process goes on: a new incarnation connects at once."""
        self._stop(what, detail, goes_on=True)
        self.start()

    def _stop(self, what: str, detail: str, goes_on: bool = False) -> None:
        self._record.lived(self.address, what, detail)
        self.disk.crash(keep_all=True)  # nobody pulled the plug: what was written gets to the disk
        self._end_life(goes_on)
