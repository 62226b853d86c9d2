"""A small world for the tests of state transfer: members over a perfect total order.

Each member has STATE_TRANSFER and QUEUE in a real stack and an application whose state is the list
of the messages that it was given. Multicasts are ordered when they are sent and delivered to each
member when the test says so; unicasts wait in one line for each pair.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from groupcore.batch import Batch, pack_messages, unpack_messages
from groupcore.events import Event, ViewInstalled
from groupcore.layer import Layer
from groupcore.layers.queue import Queue
from groupcore.layers.state_transfer import StateTransfer
from groupcore.stack import Stack
from groupcore.transfer.events import (
    GetApplicationState,
    GetState,
    GetStateOk,
    OfferState,
    ReturnedState,
    ServeState,
    SetState,
    StateOffered,
    StatePushed,
)
from groupcore.transfer.headers import Chunk
from groupcore.transfer.options import StateTransferOptions
from groupcore.transfer.sources import BytesSource, StateSource
from groupcore.view import Address
from tests.groupcore.layers.building import view_of

SMALL = StateTransferOptions(chunk_bytes=4, window_chunks=2)


class Order(Layer):
    """Stands for the layers below: what it says of itself is done by the world."""

    name = "ORDER"
    provides = frozenset({"total order", "reliable unicast", "views"})


@dataclass
class Member:
    """One member: its stack, what its application was given, and what it holds."""

    address: Address
    stack: Stack
    state: list[bytes] = field(default_factory=list)
    seen: list[object] = field(default_factory=list)
    copies: bool = True
    next_position: int = 1
    delivered: int = 0
    offers: bool = False

    @property
    def results(self) -> list[GetStateOk]:
        return [item for item in self.seen if isinstance(item, GetStateOk)]

    @property
    def states(self) -> list[SetState]:
        return [item for item in self.seen if isinstance(item, SetState)]

    @property
    def outcome(self) -> str:
        return self.results[-1].outcome

    @property
    def pushes(self) -> list[StatePushed]:
        return [item for item in self.seen if isinstance(item, StatePushed)]

    @property
    def transfer(self) -> StateTransfer:
        layer = self.stack.layers[1]
        assert isinstance(layer, StateTransfer)
        return layer

    @property
    def queue(self) -> Queue:
        layer = self.stack.layers[2]
        assert isinstance(layer, Queue)
        return layer

    def number(self, counter: str) -> int:
        return self.stack.counters()[f"STATE_TRANSFER.{counter}"]

    def source(self) -> StateSource | None:
        return BytesSource(b"".join(self.state)) if self.copies else None


class World:
    """Members a, b, c …; `now` is virtual."""

    def __init__(
        self,
        names: str,
        options: StateTransferOptions = SMALL,
        queue_bytes_max: int = 1 << 20,
    ) -> None:
        self.now = 0.0
        self.order: list[Batch] = []
        self.lines: dict[tuple[Address, Address], deque[Batch]] = {}
        self.members: dict[str, Member] = {}
        for name in names:
            address = Address(name, 1)
            layers = [Order(), StateTransfer(address, options), Queue(queue_bytes_max)]
            self.members[name] = Member(address, Stack(layers))
        self.view = view_of(*(member.address for member in self.members.values()))
        self.dead: set[str] = set()
        for member in self.members.values():
            self.tell(member.address.name, ViewInstalled(self.view))
            self.tell(member.address.name, ServeState(True))

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    # --- what happens -----------------------------------------------------------------------------

    def tell(self, name: str, event: Event) -> None:
        """The application tells its stack something."""
        member = self.members[name]
        member.stack.notify(event, self.now)
        self.end_turn(member)

    def send(self, name: str, text: bytes) -> None:
        """An ordered message."""
        address = self.members[name].address
        self.multicast(Batch(address, None, (), pack_messages([text]), 1))

    def unicast(self, name: str, to: str, text: bytes) -> None:
        """A message to one member, outside the order."""
        addresses = self.members[name].address, self.members[to].address
        line = self.lines.setdefault(addresses, deque())
        line.append(Batch(*addresses, (), pack_messages([text]), 1))

    def multicast(self, batch: Batch) -> None:
        """The next place in the order."""
        position = 1 + sum(earlier.count for earlier in self.order)
        self.order.append(
            Batch(batch.sender, None, batch.headers, batch.body, batch.count, position=position)
        )

    def deliver(self, name: str, count: int | None = None) -> None:
        """Deliver the next of the order to one member; all that there are without a count."""
        member = self.members[name]
        end = len(self.order) if count is None else member.delivered + count
        for batch in self.order[member.delivered : end]:
            member.delivered += 1
            member.stack.receive(batch, self.now)
        self.end_turn(member)

    def pass_on(self, source: str, target: str, count: int | None = None) -> int:
        """Deliver unicasts from one member to another; how many."""
        one, other = self.members[source].address, self.members[target].address
        line = self.lines.get((one, other), deque())
        passed = 0
        while line and (count is None or passed < count):
            batch = line.popleft()
            passed += 1
            if not {source, target} & self.dead:
                self.members[target].stack.receive(batch, self.now)
                self.end_turn(self.members[target])
        return passed

    def wait(self, seconds: float) -> None:
        """Time passes, and what is under way arrives meanwhile."""
        until = self.now + seconds
        while True:
            self.settle()
            wakes = [m.stack.next_wake() for n, m in self.members.items() if n not in self.dead]
            earliest = min((wake for wake in wakes if wake is not None), default=None)
            if earliest is None or earliest > until:
                self.now = until
                return
            self.now = max(self.now, earliest)
            for name, member in self.members.items():
                if name not in self.dead:
                    member.stack.wake(self.now)
                    self.end_turn(member)

    def settle(self) -> None:
        """Deliver everything that is under way, until nothing is."""
        busy = True
        while busy:
            busy = False
            for name, member in self.members.items():
                if name not in self.dead and member.delivered < len(self.order):
                    self.deliver(name)
                    busy = True
            for source, target in list(self.lines):
                busy = bool(self.pass_on(source.name, target.name)) or busy

    def install(self, names: str, recovered: bool = False, epoch: int = 0) -> None:
        """A view of these members, at all, after all that was ordered; epoch 0: the same one."""
        members = tuple(self.members[name].address for name in names)
        number, epoch = self.view.number + 1, epoch or self.view.epoch
        self.view = replace(self.view, number=number, epoch=epoch, members=members)
        for name in names:
            self.tell(name, ViewInstalled(self.view, recovered=recovered))

    def crash(self, name: str) -> None:
        """A member is silent from now on; its unicasts that are under way are lost."""
        self.dead.add(name)
        for line in self.lines.values():
            if line and line[0].sender.name == name:
                line.clear()

    # --- outputs ----------------------------------------------------------------------------------

    def end_turn(self, member: Member) -> None:
        """What a turn has caused."""
        while True:
            member.stack.end_turn(self.now)
            output = member.stack.take()
            for batch in output.sends:
                if batch.destination is None:
                    self.multicast(batch)
                else:
                    line = self.lines.setdefault((batch.sender, batch.destination), deque())
                    line.append(batch)
            if not output.deliveries:
                return
            for item in output.deliveries:
                self.application(member, item)

    def application(self, member: Member, item: Batch | Event) -> None:
        """What an application does with what it is given."""
        match item:
            case Batch():
                payloads = unpack_messages(item.body)
                member.seen += payloads
                if item.position:
                    assert item.position == member.next_position, "a gap, or the same again"
                    member.next_position += item.count
                    member.state += payloads
            case GetApplicationState(version):
                member.stack.notify(ReturnedState(version, member.source()), self.now)
            case OfferState(version, taker) if not member.offers:
                member.stack.notify(StateOffered(version, taker), self.now)
            case SetState():
                member.seen.append(item)
                if item.state is not None:
                    assert item.position == member.next_position - 1, "not its place"
                    member.state = [item.state]
            case _:
                member.seen.append(item)

    # --- shortcuts --------------------------------------------------------------------------------

    def get_state(self, name: str, **wish: object) -> None:
        """Ask for a state, as the application does."""
        self.tell(name, GetState(**wish))  # type: ignore[arg-type]

    def whole(self, name: str) -> bytes:
        """A member's state as one."""
        return b"".join(self.members[name].state)

    def chunks(self, source: str, target: str) -> list[Batch]:
        """Chunks under way."""
        line = self.lines.get((self.members[source].address, self.members[target].address), ())
        return [batch for batch in line if isinstance(batch.headers[-1], Chunk)]


def behind(names: str = "abc", **options: int) -> World:
    """Members of whom the last has not seen what the others have."""
    made = World(names, replace(SMALL, **options) if options else SMALL)
    for text in (b"one ", b"two ", b"three "):
        made.send(names[0], text)
    for name in names[:-1]:
        made.deliver(name)
    return made
