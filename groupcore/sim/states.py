"""How a node's application comes to its state: by STATE_TRANSFER in the group, or beside it.

In a share of the schedules a fresh member asks the layer for the state, and gives its own to others
by it; now and then its copy cannot be read to the end. In the others the state is handed over at
once, as if over a connection between two servers, at a moment of chance. Who is not given any
gives up its life; where components go on alone, all who have none agree on one
(`groupcore.sim.beginning`).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from msgpack import packb, unpackb

from groupcore.events import Event, ViewInstalled
from groupcore.layers.membership import Membership
from groupcore.layers.state_transfer import StateTransfer
from groupcore.sim.beginning import SEEKING, Beginning, nothing
from groupcore.sim.clock import MILLISECOND, Clock
from groupcore.sim.disk import Entry
from groupcore.sim.messages import SIZE_MIN, read_word
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Mid
from groupcore.transfer.events import (
    BUSY,
    TAKEN,
    GetApplicationState,
    GetState,
    GetStateOk,
    ReturnedState,
    ServeState,
    SetState,
)
from groupcore.transfer.sources import BytesSource, StateSource
from groupcore.view import Address

if TYPE_CHECKING:
    from groupcore.sim.node import Node

RETRY_NS = 20 * MILLISECOND
PATIENCE_NS = 4_000 * MILLISECOND
"""How long a life looks for its state before it gives up and begins anew."""
RESIGN_NS = 1_000 * MILLISECOND
"""How long a life looks for its state before it says that it was given none; then a pause."""
TIMEOUTS_S = (0.3, 1.0, 3.0)
STUMBLE_NS = 3 * MILLISECOND
"""Mean time from the beginning of a transfer to what happens to one of the two."""
UNREADABLE = 0.05
"""Share of copies that cannot be read to their end."""

FindState = Callable[["Node", ViewInstalled], bool]
"""Looks for the state at the holders, and hands it over; False when nobody has it for now."""


class TornSource(BytesSource):
    """A copy whose end cannot be read."""

    def __init__(self, state: bytes, readable_bytes: int) -> None:
        super().__init__(state)
        self._readable_bytes = readable_bytes

    def read(self, offset: int, size: int) -> bytes:
        """See `StateSource`; OSError behind what is readable."""
        if offset + size > self._readable_bytes:
            raise OSError("a bad sector")
        return super().read(offset, size)


class States:
    """One node's part. `scenario` says whether it goes by the layer, where the stack has it."""

    def __init__(
        self, node: Node, clock: Clock, random: Random, find_state: FindState, scenario: Scenario
    ) -> None:
        self._node = node
        self._clock = clock
        self._random = random
        self._find_state = find_state
        self._by_group = scenario.state_chunk_bytes > 0
        self._trouble = scenario.state_trouble
        self._trouble_until_ns = scenario.safety_ns
        self._looking_since = 0
        self._agrees = False
        self._beginning = Beginning()

    def begin_life(self) -> None:
        """A life begins: it serves its state."""
        endpoint = self._node.endpoint
        layers = () if endpoint is None else endpoint.stack.layers
        self._agrees = any(
            isinstance(layer, Membership) and layer.options.partitionable for layer in layers
        )
        self._beginning = Beginning()
        if self.in_group:
            self._node.tell(ServeState(True), self._node.address)

    @property
    def in_group(self) -> bool:
        """Whether this life transfers its state by the layer."""
        endpoint = self._node.endpoint
        return (
            self._by_group
            and endpoint is not None
            and any(isinstance(layer, StateTransfer) for layer in endpoint.stack.layers)
        )

    def ask(self) -> None:
        """The application needs its state: now, or after a while."""
        self._looking_since = self._clock.now_ns
        delay = self._random.choice((0, MILLISECOND, 30 * MILLISECOND, 300 * MILLISECOND))
        self._clock.after(delay, self._look, self._node.address)

    def _look(self, life: Address) -> None:
        node = self._node
        application = node.application
        if life != node.address or application is None or application.wanted is None:
            return
        if self._beginning.resigned:
            return  # until that is taken back
        if self.in_group and not node.paused:
            wish = GetState(timeout_s=self._random.choice(TIMEOUTS_S), medium="group")
            node.tell(wish, life)
            self._stumble()
            return
        if not node.paused and self._find_state(node, application.wanted):
            return
        self._look_again()

    def _look_again(self) -> None:
        waited_ns = self._clock.now_ns - self._looking_since
        patience_ns = RESIGN_NS if self._agrees else PATIENCE_NS
        if waited_ns < patience_ns or self._node.paused:
            self._clock.after(RETRY_NS, self._look, self._node.address)
        elif self._agrees:
            self._resign()
        else:
            self._node.begin_anew("stranded", "nobody has the state")

    # --- where all agree on a state that nobody has ----------------------------------------------

    def _resign(self) -> None:
        """Say that this member was given no state, and ask again after a pause."""
        node = self._node
        assert node.application is not None
        journal = node.application.journal
        if not node.may_multicast:
            self._clock.after(RETRY_NS, self._look, node.address)
            return
        self._clock.after(RESIGN_NS, self._take_back, node.address)
        self._beginning.resign()  # first: a word can come to its place while it is sent
        node.send([SIZE_MIN], None, nothing((journal.epoch, journal.position)))

    def _take_back(self, life: Address) -> None:
        node = self._node
        if node.address != life or not node.alive or not self._beginning.resigned:
            return
        if node.paused or not node.may_multicast:
            self._clock.after(RETRY_NS, self._take_back, life)
            return
        self._beginning.take_back()
        node.send([SIZE_MIN], None, SEEKING)

    def on_view(self, event: ViewInstalled) -> None:
        """A view: who still waits looks for the state among its members."""
        application = self._node.application
        assert application is not None
        self._beginning.on_view(event.view.members)
        if self._agrees and application.wanted is not None and not event.fresh:
            same = event.view.epoch == application.wanted.view.epoch
            place = application.wanted.position if same else event.position
            application.wait_further(event.view, place)

    def on_ordered(self, member: Address, payload: bytes, position: int) -> None:
        """A message at its place: what it says of its sender's state, if anything."""
        word = read_word(payload)
        node, application = self._node, self._node.application
        if not word or not self._agrees or application is None:
            return
        chosen = self._beginning.on_word(member, word)
        if chosen is not None and application.wanted is not None:
            self._begin_anew(chosen, position)
        elif word == SEEKING and member == node.address and self._beginning.on_own_seeking():
            self._clock.after(0, self._look, node.address)

    def _begin_anew(self, chosen: Address, position: int) -> None:
        """All are without the state: it is the journal of the chosen one, and what follows here."""
        node, application = self._node, self._node.application
        assert application is not None
        assert node.view is not None
        if chosen == node.address:
            entries = tuple(application.journal.entries)
            application.take(node.name, entries, self._clock.now_ns)
            return
        application.wait_further(node.view, position)
        self._looking_since = self._clock.now_ns
        self._clock.after(RETRY_NS, self._look, node.address)

    def on_event(self, event: Event) -> None:
        """What the layer tells the application, in its place among the deliveries."""
        application = self._node.application
        assert application is not None
        match event:
            case GetApplicationState(version):
                source = self._copy() if application.ready else None
                self._node.tell(ReturnedState(version, source), self._node.address)
                self._stumble()
            case SetState(epoch=epoch, position=position, provider=provider, state=bytes(state)):
                if application.wanted is not None and not self._beginning.resigned:
                    entries = decode_state(state)
                    now = self._clock.now_ns
                    application.take(provider.name, entries, now, (epoch, position))
            case GetStateOk(outcome) if outcome not in (TAKEN, BUSY):
                if application.wanted is not None:
                    self._look_again()

    def _stumble(self) -> None:
        """Messages come in the midst of it; in a share, this node crashes, leaves or stops then."""
        life = self._node.address
        for _ in range(self._random.randint(0, 4)):
            moment = int(self._random.expovariate(1 / STUMBLE_NS))
            if self._clock.now_ns + moment < self._trouble_until_ns:
                self._clock.after(moment, self._speak, life)
        if self._random.random() >= self._trouble:
            return
        moment = int(self._random.expovariate(1 / STUMBLE_NS))
        if self._clock.now_ns + moment < self._trouble_until_ns:
            kind = self._random.choice(("crash", "leave", "pause"))
            self._clock.after(moment, self._fall, self._node.address, kind)

    def _speak(self, life: Address) -> None:
        if self._node.address == life:
            self._node.send([self._random.randint(24, 200)], None)

    def _fall(self, life: Address, kind: str) -> None:
        node = self._node
        if node.address != life or not node.alive or node.paused:
            return
        back_ns = self._random.randint(20, 1_500) * MILLISECOND
        if kind == "pause":
            node.pause()
            self._clock.after(back_ns, node.resume)
            return
        if kind == "leave":
            node.leave()
        else:
            node.crash(keep_all=self._random.random() < 0.5)
        self._clock.after(back_ns, node.start)

    def _copy(self) -> StateSource:
        application = self._node.application
        assert application is not None
        state = encode_state(application.journal.entries)
        if self._random.random() < UNREADABLE:
            return TornSource(state, self._random.randint(0, len(state)))
        return BytesSource(state)


def encode_state(entries: list[Entry]) -> bytes:
    """The state as bytes."""
    packed: bytes = packb([[*mid, content] for mid, content in entries])
    return packed


def decode_state(state: bytes) -> tuple[Entry, ...]:
    """The state in these bytes."""
    return tuple((Mid(*mid), content) for *mid, content in unpackb(state))
