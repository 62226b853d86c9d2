"""How a node's application comes to its state: by STATE_TRANSFER in the group, or beside it.

In a share of the schedules a fresh member asks the layer for the state, and gives its own to others
by it; now and then its copy cannot be read to the end. In the others the state is handed over at
once, as if over a connection between two servers, at a moment of chance.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from msgpack import packb, unpackb

from groupcore.events import Event, ViewInstalled
from groupcore.layers.state_transfer import StateTransfer
from groupcore.sim.clock import MILLISECOND, Clock
from groupcore.sim.disk import Entry
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

    def begin_life(self) -> None:
        """A life begins: it serves its state."""
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
        if waited_ns < PATIENCE_NS or self._node.paused:
            self._clock.after(RETRY_NS, self._look, self._node.address)
        else:
            self._node.begin_anew("stranded", "nobody has the state")

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
                if application.wanted is not None:
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
