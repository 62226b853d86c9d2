"""The test kit: many nodes in one process, on virtual time, over a network that a seed makes bad.

```
async def main(world: World) -> None:
    a, b = world.node("a"), world.node("b")
    at_a = await a.open(Counter, "clicks")
    at_b = await b.open(Counter, "clicks")
    await at_a.add(1)
    await world.settle()
    assert at_b.value == 1

World(seed=1).run(main)
```

The same seed gives the same run. What a program does here it does on a real network: `WorldNode`
has the verbs of `groupcore.aio`'s node.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TypeVar, cast

from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.comparing import Comparing, difference
from groupcore.shared.errors import ClosedError, RefusedError, SharedError
from groupcore.shared.events import Diverged, MessageRejected, SharedEvent
from groupcore.shared.group import Authorize, GroupUser, authorize_nothing
from groupcore.shared.memory import MemoryOrder
from groupcore.shared.opening import check_name, order_of, user_of
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.replica import Replica
from groupcore.shared.sequences import Seat
from groupcore.shared.tasks import Schedule, wait
from groupcore.view import Address

T = TypeVar("T")
R = TypeVar("R")

EPOCH_S = 1_700_000_000.0
"""What the nodes' clocks show when a world begins, give or take their skew."""
MESSAGE_BYTES_MAX = 60_000
"""Largest message, as with `sequencing.options.ServiceOptions`."""


@dataclass(frozen=True, slots=True)
class Weather:
    """How bad the network is. Times in seconds, `loss` from 0 to 1.

    A lost packet of an ordered message comes `resend_s` later; one of a volatile message never.
    `crash_notice_s` is how long a crash goes unnoticed, `clock_skew_s` how far clocks are apart.
    """

    delay_least_s: float = 0.0005
    delay_most_s: float = 0.01
    loss: float = 0.0
    resend_s: float = 0.05
    crash_notice_s: float = 0.5
    clock_skew_s: float = 0.2


BAD_WEATHER = Weather(delay_most_s=0.2, loss=0.2, resend_s=0.4)
"""A network to be ashamed of."""


class DivergedError(SharedError):
    """Replicas of an object have parted, or could not read each other; the text has the event."""


class World:
    """Nodes, their network and their time, all made from `seed`.

    `strict`: `settle` and the end of `run` compare the copies of every object, and raise
    DivergedError when some have parted, as soon as that can be seen; else look into `events`.
    `lives`: so many lives of nodes have been before.
    """

    def __init__(
        self, seed: int, weather: Weather | None = None, strict: bool = True, lives: int = 0
    ) -> None:
        self.draw = random.Random(f"program {seed}")
        self.weather = weather or Weather()
        self.events: list[tuple[str, SharedEvent]] = []
        self._strict = strict
        self._chance = random.Random(f"network {seed}")
        self._schedule = Schedule(random.Random(f"ties {seed}"))
        self._order = MemoryOrder(self)
        self._nodes: dict[str, WorldNode] = {}
        self._lanes: dict[object, float] = {}
        self._under_way = 0
        self._comparing = Comparing()
        self._settling: list[Pending[None]] = []
        self._lives = lives

    @property
    def now_s(self) -> float:
        """Virtual seconds since the world began."""
        return self._schedule.now_s

    def node(self, name: str, principal: str = "") -> WorldNode:
        """The living node of this name, a new one on behalf of `principal` if there is none."""
        node = self._nodes.get(name)
        if node is None:
            self._lives += 1
            skew_s = self._chance.uniform(0, self.weather.clock_skew_s)
            node = WorldNode(self, Address(name, self._lives), skew_s, principal)
            self._nodes[name] = node
        return node

    @property
    def nodes(self) -> list[WorldNode]:
        """The living nodes."""
        return list(self._nodes.values())

    def store(self, kind: type[object], name: str, number: int, state: bytes) -> None:
        """An object that has been before: who opens it first finds this state, of this number."""
        self._order.store(name, order_of(kind), number, state)

    def trim(self) -> None:
        """Forget messages that everybody has been given; for programs that run for long."""
        self._order.trim()

    def run(self, main: Callable[[World], Coroutine[object, None, R]]) -> R:
        """Run a program to its end; raises what it raises, StuckError when it waits for ever."""
        result = self._schedule.run(main(self))
        self._judge()
        return result

    def advance(self, delay_s: float, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Let so much time go on, or until it is enough; for who has no program to `run`."""
        self._schedule.advance(self.now_s + delay_s, is_enough)
        self._judge_events()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing will happen, however much time goes on."""
        return self._schedule.next_s == math.inf

    def _judge_events(self) -> None:
        if self._strict:
            for name, event in self.events:
                if isinstance(event, Diverged | MessageRejected):
                    raise DivergedError(f"node {name}: {event}")

    def _judge(self) -> None:
        self._judge_events()  # they name the operation
        for name in {name: None for node in self.nodes for name in node.users}:
            found = self._comparing.find(name, self.replicas(name)) if self._strict else None
            if found is not None:
                raise DivergedError(found)

    def spawn(self, coroutine: Coroutine[object, None, R]) -> Pending[R]:
        """Run a coroutine beside the others; gives its outcome, to be awaited."""
        return self._schedule.spawn(coroutine)

    def elapse(self, delay_s: float) -> Pending[None]:
        """Something to await that takes so long."""
        return self._schedule.elapse(delay_s)

    async def settle(self) -> None:
        """Wait until nothing is under way on the network."""
        while self._under_way:
            pending: Pending[None] = Pending(wait)
            self._settling.append(pending)
            await pending
        self._judge()

    def replicas(self, name: str) -> dict[str, Replica[object]]:
        """The open replicas of the object of this name, by node."""
        users = {one.name: one._ports[name].user for one in self.nodes if name in one._ports}
        return {
            node: user
            for node, user in users.items()
            if isinstance(user, Replica) and user.ready.done and not user.closed.done
        }

    def assert_equal(self, name: str) -> None:
        """Fail unless all replicas of the object are at one place of the order, in one state."""
        if found := difference(name, self.replicas(name)):
            raise AssertionError(found)

    def cut_off(self, name: str) -> None:
        """Let nothing reach the node, nor come from it, until `reconnect`."""
        self._nodes[name].held = []

    def reconnect(self, name: str) -> None:
        """What was held back by `cut_off` arrives, in its order."""
        node = self._nodes[name]
        held, node.held = node.held or [], None
        for deliver, _ in held:
            deliver()

    def crash(self, name: str) -> None:
        """The node is gone at once, with what it has not sent yet; the others notice later."""
        node = self._nodes.pop(name)
        node.end()
        held, node.held = node.held or [], None
        for _, lost in held:
            lost()
        self._schedule.after(self.weather.crash_notice_s, lambda: self._order.crash(name))

    def carry(
        self, node: str, lane: object, deliver: Callable[[], None], lost: Callable[[], None]
    ) -> None:
        """Part of `memory.Network`."""
        weather = self.weather
        delay_s = self._chance.uniform(weather.delay_least_s, weather.delay_most_s)
        while self._chance.random() < weather.loss:
            delay_s += weather.resend_s
        at_s = max(self.now_s + delay_s, self._lanes.get(lane, 0.0) + 1e-9)
        self._lanes[lane] = at_s
        target = self._nodes.get(node)
        self._under_way += 1

        def arrive() -> None:
            self._under_way -= 1
            if target is None or target.gone:
                lost()
            elif target.held is not None:
                target.held.append((deliver, lost))
            else:
                deliver()
            self._maybe_settled()

        self._schedule.after(at_s - self.now_s, arrive)

    def carry_or_lose(self, sender: str, node: str, deliver: Callable[[], None]) -> None:
        """Part of `memory.Network`."""
        source, target = self._nodes.get(sender), self._nodes.get(node)
        if source is None or source.held is not None or target is None:
            return
        if self._chance.random() < self.weather.loss:
            return
        weather = self.weather
        self._under_way += 1

        def arrive() -> None:
            self._under_way -= 1
            if not target.gone and target.held is None:
                deliver()
            self._maybe_settled()

        delay_s = self._chance.uniform(weather.delay_least_s, weather.delay_most_s)
        self._schedule.after(delay_s, arrive)

    def choose(self, count: int) -> int:
        """Part of `memory.Network`."""
        return self._chance.randrange(count)

    def _maybe_settled(self) -> None:
        if not self._under_way:
            settling, self._settling = self._settling, []
            for pending in settling:
                pending.resolve(None)

    def seat_for(
        self, name: str, kind: object, process: Process, feed: Callable[[ServiceEvent], None]
    ) -> tuple[MemoryOrder, Seat]:
        """A node's place in the group of this name."""
        sequence = self._order.sequence(name, order_of(kind))
        return self._order, self._order.seat(sequence, process, feed)

    def call_at(self, at_s: float, callback: Callable[[], None]) -> None:
        """Call back at a virtual time."""
        self._schedule.after(max(0.0, at_s - self.now_s), callback)


class WorldNode:
    """One node: one process, with the objects that it has open."""

    def __init__(self, world: World, address: Address, skew_s: float, principal: str) -> None:
        self.name = address.name
        self.principal = principal
        self.authorize: Authorize = authorize_nothing
        self._ports: dict[str, _Port] = {}
        self.held: list[tuple[Callable[[], None], Callable[[], None]]] | None = None
        self.gone = False
        self._world = world
        self._process = Process(address, 1)
        self._skew_s = skew_s

    @property
    def process(self) -> Process:
        """The node's process."""
        return self._process

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        """Open the object of this name; at one node, there is one of a name.

        ClosedError when the node has crashed: a program does not go on behind that.
        """
        if self.gone:
            raise ClosedError("the node is gone")
        check_name(name)
        port = self._ports.get(name)
        if port is None:
            port = _Port(self._world, self, name, kind)
            self._ports[name] = port
            port.opened = port.user.open()
            port.user.closed.when_done(lambda: self.forget(port))
        return cast("Awaitable[T]", port.opened)

    @property
    def users(self) -> dict[str, GroupUser]:
        """What is open here, by name."""
        return {name: port.user for name, port in self._ports.items()}

    @property
    def sent(self) -> dict[str, int]:
        """How many messages were sent from here to objects that are open here, by name."""
        return {name: port.sent for name, port in self._ports.items()}

    def forget(self, port: _Port) -> None:
        """The object of this port is closed."""
        self._ports = {name: one for name, one in self._ports.items() if one is not port}

    def end(self) -> None:
        """Close everything at once, as a crash does."""
        self.gone = True
        for port in list(self._ports.values()):
            port.user.end(ClosedError("the node is gone"))

    def now_s(self) -> float:
        """What this node's clock shows."""
        return EPOCH_S + self._skew_s + self._world.now_s


class _Port:
    """A node's process in one group: the `GroupPort` of the test kit."""

    wait: Wait = staticmethod(wait)

    def __init__(self, world: World, node: WorldNode, name: str, kind: type[object]) -> None:
        self._world = world
        self._node = node
        self._name = name
        self._order, self._seat = world.seat_for(name, kind, node.process, self.feed)
        self._wake_at_s: float | None = None
        self.opened: Pending[object] | None = None
        self.user = user_of(kind, self)

    @property
    def group(self) -> GroupId:
        """The group's number."""
        return self._seat.sequence.id

    @property
    def process(self) -> Process:
        """The node's process."""
        return self._seat.process

    @property
    def member(self) -> Process:
        """The same: every process joins."""
        return self._seat.process

    @property
    def sent(self) -> int:
        """How many messages were sent from here."""
        return self._seat.sent

    @property
    def principal(self) -> str:
        """On whose behalf the node acts."""
        return self._node.principal

    def now_s(self) -> float:
        """What the node's clock shows."""
        return self._node.now_s()

    def join(self) -> None:
        """Ask to be a member."""
        self._order.join(self._seat)

    def leave(self, comes_back: bool = False) -> None:
        """Ask to be no member any more."""
        del comes_back  # there is one life
        self._order.leave(self._seat)

    def send(self, payload: bytes) -> int:
        """Multicast."""
        if len(payload) > MESSAGE_BYTES_MAX:
            raise RefusedError("too_large", f"a message has {MESSAGE_BYTES_MAX} bytes at most")
        return self._order.send(self._seat, payload)

    def authorization_of(self, text: bytes) -> bytes:
        """What the node's `authorize` gives."""
        return self._node.authorize(self._name, text)

    def give_state(self, token: int, state: bytes) -> None:
        """Answer `StateWanted`."""
        self._order.give_state(token, state)

    def feed(self, event: ServiceEvent) -> None:
        """Hand the event to the user, and what that says to the world."""
        self._world.events += [(self._node.name, said) for said in self.user.feed(event)]

    def wake_at(self, at_s: float) -> None:
        """Call the user at this time of its node's clock."""
        self._wake_at_s = at_s

        def ring() -> None:
            if self._wake_at_s == at_s and not self._node.gone:
                self._wake_at_s = None
                self.user.on_time()

        self._world.call_at(self._world.now_s + at_s - self.now_s(), ring)
