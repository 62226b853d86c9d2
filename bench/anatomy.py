"""What a keystroke costs each of three nodes, in counts that do not depend on the machine.

Three nodes with logs and certificates run in the simulator, on a calm network; a page of one types
into a block that another node sequences, and a page of the third reads. The code is that of real
nodes, but for sockets, disks and the loop. Counted are Python calls and files (of `groupcore`,
without the simulator), turns, datagrams, encodings of packets and parts of the log, for each node:
while somebody types, and as long while nobody does. The difference is the keystroke's. `until_read`
is what all nodes do together until the reader's page has the letter, acknowledgements and timers of
that time included.

Python calls are those of this minor version of Python; the other counts are the same everywhere.
What is in a set comes in an order that `PYTHONHASHSEED` decides: one call in a hundred is by that.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import TypeVar, cast
from unittest.mock import patch

import groupcore
from groupcore import wire as packets
from groupcore.batch import Batch
from groupcore.endpoint import Turn
from groupcore.frames import Json, Message
from groupcore.gateway.limits import VERSION
from groupcore.gateway.page import greet
from groupcore.objects.rich_delta import rich
from groupcore.shared.documents import Block
from groupcore.shared.documents.parts import Parcel
from groupcore.sim.clock import MILLISECOND, SECOND, Clock
from groupcore.sim.documents.lifetime import Lifetime
from groupcore.sim.groups.host import Host
from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.network import SocketAddress
from groupcore.sim.node import Node
from groupcore.sim.pages.browser import Browser
from groupcore.sim.pages.cluster import PageCluster
from groupcore.sim.pages.program import PageHost, PageProgram
from groupcore.sim.pages.scenario import PageScenario
from groupcore.sim.pages.wire import Seen, Wire
from groupcore.sim.profiles import PROFILES
from groupcore.sim.randomness import stream

ROOT = str(Path(groupcore.__file__).parent)
SIMULATOR = f"{ROOT}/sim/"
BLOCK = "doc/plan/b1"
BEGINNING = "The way of a keystroke"
FORMED_NS = 3 * SECOND
EVERY_NS = 50 * MILLISECOND
WARM_UP = 20
TYPED = 40
WAYS = 21
STEP_NS = MILLISECOND // 10
ROLES = ("sequencer", "writers_node", "readers_node")

R = TypeVar("R")


@dataclass(slots=True)
class Costs:
    """What one node has done."""

    calls: int = 0
    turns: int = 0
    datagrams: int = 0
    encodings: int = 0
    log_parts: int = 0
    files: set[str] = field(default_factory=set)

    def numbers(self) -> Counter[str]:
        """All that adds up."""
        names = ("calls", "turns", "datagrams", "encodings", "log_parts")
        return Counter({name: getattr(self, name) for name in names})


class Meter:
    """Counts what is done, by whose it is: only while it `runs`."""

    def __init__(self) -> None:
        self.costs: dict[str, Costs] = {}
        self._whose = ""

    def of(self, node: str) -> Costs:
        """What this node has done."""
        return self.costs.setdefault(node, Costs())

    @contextmanager
    def turn_of(self, node: str) -> Iterator[None]:
        """What is done in here is this node's."""
        before, self._whose = self._whose, node
        try:
            yield
        finally:
            self._whose = before

    def attributed(self, node: Callable[..., str], act: Callable[..., R]) -> Callable[..., R]:
        """The same, done by the node that the arguments tell."""

        def wrapped(*given: object) -> R:
            with self.turn_of(node(*given)):
                return act(*given)

        return wrapped

    @contextmanager
    def runs(self) -> Iterator[dict[str, Costs]]:
        """Count from now on."""
        self.costs = {}
        sys.setprofile(self._on_call)
        try:
            yield self.costs
        finally:
            sys.setprofile(None)

    def _on_call(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or not self._whose:
            return
        file = frame.f_code.co_filename
        if file.startswith(ROOT) and not file.startswith(SIMULATOR):
            costs = self.of(self._whose)
            costs.calls += 1
            costs.files.add(file)

    def encoded(self) -> None:
        """A packet was made into bytes."""
        self.of(self._whose).encodings += 1


class Typewriter:
    """A page that has a block open: it types, or only reads."""

    def __init__(self, program: PageProgram, clock: Clock, client: str) -> None:
        self.version = 0
        self.length = len(BEGINNING)
        self.answered = 0
        self._number = 0
        self.wire = _Wire(cast("Browser", self), program, clock, MILLISECOND, client)
        self.wire.say({"t": "hello", "v": VERSION, "client": client})
        self.wire.say({"t": "open", "name": BLOCK, "type": "Block"})

    def type(self) -> None:
        """A letter at the end; nobody else types."""
        base, self._number = self._number, self._number + 1
        delta: list[Json] = [self.length, "x"]
        self.length += 1
        message: Message = {"t": "call", "name": BLOCK, "n": self._number}
        message["answered"] = self._number - 1
        message["calls"] = [["edit", [base, delta, "page"]]]
        self.wire.say(message)

    def receive(self, wire: Wire, messages: list[Message], seen: Seen) -> None:
        """A frame has come."""
        del wire, seen
        for message in messages:
            assert message["t"] != "error", message
            self.version = max(self.version, cast("int", message.get("version", 0)))
            self.answered = max(self.answered, cast("int", message.get("n", 0)))

    def on_lost(self, wire: Wire) -> None:
        """The connection is gone."""
        raise AssertionError("no connection ends here")


class _Wire(Wire):
    """A page of somebody; nothing is compared here."""

    def _take(self, message: Message) -> None:
        if self.page is None:
            self.page = greet(self.program.gateway, message, "somebody", self)
        else:
            self.page.receive(message)

    def _seen(self) -> Seen:
        return {}


class _Program(PageProgram):
    """A node's program whose pages open blocks."""

    types = MappingProxyType({"Block": Block})


class _Host(PageHost):
    program_kind = _Program


class Room(PageCluster):
    """Three nodes that pages type at."""

    def make_hosts(self, scenario: GroupScenario) -> list[Host]:
        """See `PageCluster`."""
        for index, node in enumerate(self.nodes):
            guest = _Host(self, node, stream(scenario.seed, "program", str(index)))
            self.guests.append(guest)
            node.guest = guest
        return []

    def run(self, duration_ns: int) -> None:
        """So much time passes."""
        self.clock.run_until(self.clock.now_ns + duration_ns)

    def program(self, index: int) -> PageProgram:
        """What runs on a node."""
        found = self.guests[index].program
        assert isinstance(found, PageProgram), "no node ends here"
        return found

    def roles(self) -> tuple[int, int, int]:
        """The sequencer of the block, and the two others."""
        service = self.program(0).service
        (group,) = (one for one in service.plane.records if service.plane.owner(one) is not None)
        owner = service.plane.owner(group)
        assert owner is not None
        first = [node.name for node in self.nodes].index(owner.name)
        return first, (first + 1) % 3, (first + 2) % 3


async def begin(program: PageProgram) -> None:
    """A node keeps the block, and has given it its text."""
    block = await program.session().open(Block, BLOCK)
    await block.accept("", "b1", Parcel(1, "birth", rich(BEGINNING)))


def room() -> Room:
    """Nodes in one view."""
    scenario = PageScenario(
        seed=1,
        nodes=3,
        starts_ns=(0, MILLISECOND, 2 * MILLISECOND),
        safety_ns=1000 * SECOND,
        certificates=True,
        durable=True,
        shape="typing",
        k=1,
        people=0,
    )
    made = Room(scenario, PROFILES["pages"].make_stack)
    made.run(FORMED_NS)
    assert all(node.view is not None and len(node.view.members) == 3 for node in made.nodes)
    return made


@contextmanager
def metered(made: Room, meter: Meter) -> Iterator[None]:
    """What the nodes do is told to the meter."""
    by_socket = {node.socket_address: node.name for node in made.nodes}
    send, encode = made.network.send, packets.encode_packet

    def sent(source: SocketAddress, target: SocketAddress | None, data: bytes) -> None:
        meter.of(by_socket[source]).datagrams += 1
        send(source, target, data)

    def encoded(batch: Batch) -> bytes:
        meter.encoded()
        return encode(batch)

    def stored(host: PageHost, node: Node, turn: Turn) -> None:
        meter.of(node.name).turns += 1
        meter.of(node.name).log_parts += len(turn.log)
        type(host).store(host, turn)

    for node, host in zip(made.nodes, made.guests, strict=True):
        node._turn = meter.attributed(lambda name=node.name: name, node._turn)  # type: ignore[method-assign]
        host.store = partial(stored, host, node)  # type: ignore[method-assign]
    made.network.send = sent  # type: ignore[method-assign]
    holders = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("groupcore.") and getattr(module, "encode_packet", None) is encode
    ]
    patches: list[AbstractContextManager[object]] = [
        patch.object(module, "encode_packet", encoded) for module in holders
    ]
    of_wire = meter.attributed(lambda wire, *_: wire.program.node.name, Wire._hear)
    of_task = meter.attributed(lambda life, *_: life._node.name, Lifetime._run)
    patches += [patch.object(Wire, "_hear", of_wire), patch.object(Lifetime, "_run", of_task)]
    with ExitStack() as replaced:
        for one in patches:
            replaced.enter_context(one)
        yield


def measure(typed: int) -> dict[str, object]:
    """The counts, for a keystroke and node."""
    made, meter = room(), Meter()
    with metered(made, meter):
        made.program(0).tasks.spawn(begin(made.program(0)))
        made.run(SECOND)
        roles = made.roles()
        writer = Typewriter(made.program(roles[1]), made.clock, "page-that-types-")
        reader = Typewriter(made.program(roles[2]), made.clock, "page-that-reads-")
        made.run(SECOND)
        _type(made, writer, WARM_UP)
        with meter.runs() as busy:
            _type(made, writer, typed)
        assert writer.answered == WARM_UP + typed, "each keystroke is answered"
        assert reader.version == writer.version, "each keystroke is read"
        with meter.runs() as idle:
            made.run(typed * EVERY_NS)
        on_the_way = _until_read(made, meter, writer, reader)
    counts: dict[str, object] = {
        role: _told(busy[made.nodes[at].name], idle.get(made.nodes[at].name, Costs()), typed)
        for role, at in zip(ROLES, roles, strict=True)
    }
    return counts | {"until_read": on_the_way}


def _until_read(
    made: Room, meter: Meter, writer: Typewriter, reader: Typewriter
) -> dict[str, float]:
    """What all nodes do from a key until the reader's page has the letter: the middle of some."""
    calls, files = [], []
    for _ in range(WAYS):
        before = reader.version
        with meter.runs() as costs:
            writer.type()
            while reader.version == before:
                made.run(STEP_NS)
        calls.append(sum(one.calls for one in costs.values()))
        files.append(len(set[str]().union(*(one.files for one in costs.values()))))
        made.run(EVERY_NS)
    return {"calls": sorted(calls)[WAYS // 2], "files": sorted(files)[WAYS // 2]}


def _type(made: Room, writer: Typewriter, letters: int) -> None:
    for _ in range(letters):
        writer.type()
        made.run(EVERY_NS)


def _told(busy: Costs, idle: Costs, typed: int) -> dict[str, object]:
    numbers = busy.numbers()
    numbers.subtract(idle.numbers())
    told: dict[str, object] = {name: round(n / typed, 2) for name, n in numbers.items()}
    told["files"] = len(busy.files)
    told["idle_calls_a_second"] = round(idle.calls * SECOND / (typed * EVERY_NS))
    return told


def run(quick: bool) -> dict[str, object]:
    """The counts of a keystroke at each node, and of all nodes together."""
    counts = measure(10 if quick else TYPED)
    nodes = [cast("dict[str, float]", counts[role]) for role in ROLES]
    names = ("calls", "turns", "datagrams", "encodings", "log_parts")
    whole = {name: round(sum(one[name] for one in nodes), 2) for name in names}
    return {"python": f"{sys.version_info[0]}.{sys.version_info[1]}", "all": whole, **counts}
