"""Real stacks on a tiny bus in memory with a virtual clock, driven by the commands of a trace.

A datagram takes one millisecond, and so does a record on its way to the disk. What arrives at one
node at one time is one turn. Every packet goes through the wire form. Losses are as ordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import count
from random import Random

from groupcore import wire
from groupcore.batch import Batch, Header, pack_messages, unpack_messages
from groupcore.events import (
    Connect,
    CutAgreed,
    CutDelivered,
    CutHeld,
    Event,
    FetchCut,
    FlushStarted,
    Heard,
    Persisted,
    ReachabilityChanged,
    Saved,
    Synced,
    ViewInstalled,
)
from groupcore.membership.ballots import Ballot, Proposal, Vote
from groupcore.membership.state import MembershipOptions
from groupcore.stack import Stack
from groupcore.stacks import DEFAULT_STACK, StackOptions, compose
from groupcore.view import Address, View

LATENCY_S = 0.001
HIDDEN = ("failure_detection", "discovery", "stability", "durability")
"""Layers whose packets are left out of a trace: they go on and on."""
SHOWN = (ViewInstalled, FlushStarted, FetchCut, CutHeld, CutAgreed, ReachabilityChanged, Saved)
OPTIONS = StackOptions(
    membership=MembershipOptions(
        cluster_size=3, application_state=True, durable=True, generation_s=0
    )
)


def text_of(value: object) -> str:
    """A value in few characters."""
    match value:
        case View():
            return str(value)
        case Address(name, 1):
            return name
        case Address(name, incarnation):
            return f"{name}#{incarnation}"
        case Ballot(round_, proposer):
            return f"({round_} {text_of(proposer)})"
        case Vote():
            return f"{'live' if value.live else 'disk'} {text_of(value.digest)} {value.position}"
        case Proposal():
            kind = "recovered" if value.recovered else f"cut={text_of(value.cut)}"
            return f"{value.view} {kind}"
        case dict():
            return "{" + " ".join(f"{text_of(k)}:{text_of(v)}" for k, v in value.items()) + "}"
        case tuple():
            return "[" + " ".join(map(text_of, value)) + "]"
        case _ if is_dataclass(value):
            return " ".join(f"{f.name}={text_of(getattr(value, f.name))}" for f in fields(value))
        case _:
            return str(value)


def header_text(header: Header) -> str:
    return f"{header.kind} {text_of(header)}".strip()


@dataclass
class Loss:
    """Packets of one kind, from one node to another, that are still to be lost."""

    kind: str
    sender: str
    receiver: str
    left: int


@dataclass
class Node:
    """One life on the bus."""

    address: Address
    stack: Stack
    inbox: list[tuple[Address, Address | None, bytes]] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    arrives_at: float | None = None


class Bus:
    """Nodes, a clock, and what has happened since it was asked for last."""

    def __init__(self) -> None:
        self.now = 0.0
        self.begun = 0.0
        self.nodes: dict[str, Node] = {}
        self.losses: list[Loss] = []
        self.lines: list[str] = []
        self.ticket = count()
        self.heap: list[tuple[float, int, str]] = []

    # --- commands ---------------------------------------------------------------------------------

    def run_command(self, command: str) -> list[str]:
        """Do what a line of a trace says; what it has caused, line by line."""
        self.lines, self.begun = [], self.now
        verb, *words = command.split()
        match verb, words:
            case "start", names:
                for name in names:
                    self.connect(name)
                self.run(1.0)
                self.lines = [line for line in self.lines if "installs" in line]
            case "join", [name]:
                self.connect(name)
            case "multicast", [name, *texts]:
                self.multicast(name, texts)
            case "lose", [kind, sender, receiver, times]:
                self.losses.append(Loss(kind, sender, receiver, int(times)))
            case "crash", [name]:
                del self.nodes[name]
            case "synced", [name, position]:
                self.synced(name, int(position))
            case "run", [milliseconds]:
                self.run(int(milliseconds) / 1000)
            case _:
                raise ValueError(f"no such command: {command}")
        return self.lines

    def connect(self, name: str) -> None:
        address = Address(name, 1)
        stack = compose(DEFAULT_STACK, address, Random(name), OPTIONS)
        self.nodes[name] = Node(address, stack)
        stack.notify(Connect(), self.now)
        self.end_turn(self.nodes[name])

    def multicast(self, name: str, texts: list[str]) -> None:
        node = self.nodes[name]
        for text in texts:
            body = pack_messages([text.encode()])
            node.stack.send(Batch(node.address, None, (), body, 1), self.now)
        self.end_turn(node)

    def synced(self, name: str, position: int) -> None:
        node = self.nodes[name]
        node.stack.notify(Synced(1, position), self.now)
        self.end_turn(node)

    # --- time -------------------------------------------------------------------------------------

    def run(self, seconds: float) -> None:
        """Let the clock go on."""
        end = self.now + seconds
        while (upcoming := self.next_turn()) is not None and upcoming[0] <= end:
            self.now, name = upcoming
            node = self.nodes[name]
            self.take_turn(node)
        self.now = end

    def next_turn(self) -> tuple[float, str] | None:
        """The next node that has something to do, and when."""
        due = []
        for name, node in self.nodes.items():
            times = [t for t in (node.arrives_at, node.stack.next_wake()) if t is not None]
            if times:
                due.append((max(self.now, min(times)), name))
        return min(due, default=None)

    def take_turn(self, node: Node) -> None:
        if node.arrives_at is not None and node.arrives_at <= self.now:
            inbox, node.inbox = node.inbox, []
            stored, node.stored = node.stored, []
            node.arrives_at = None
            for token in stored:
                node.stack.notify(Persisted(token), self.now)
            for sender, destination, packet in inbox:
                (raw,) = wire.unpack_packets(b"\x91" + packet)
                node.stack.receive(wire.decode_packet(raw, sender, destination), self.now)
            if inbox:
                heard = tuple(dict.fromkeys(sender for sender, _, _ in inbox))
                node.stack.notify(Heard(heard), self.now)
        node.stack.wake(self.now)
        self.end_turn(node)

    def end_turn(self, node: Node) -> None:
        """Send, tell and store what the turn has caused."""
        node.stack.end_turn(self.now)
        output = node.stack.take()
        for item in output.deliveries:
            self.tell(node, item)
        for batch in output.sends:
            self.send(node, batch)
        for persist in output.persists:
            self.note(f"{text_of(node.address)} stores its record")
            node.stored.append(persist.token)
            self.wake_later(node)

    def wake_later(self, node: Node) -> None:
        # Everything on its way arrives together, a millisecond after the first of it was sent.
        if node.arrives_at is None:
            node.arrives_at = round(self.now + LATENCY_S, 6)

    # --- the wire ---------------------------------------------------------------------------------

    def send(self, node: Node, batch: Batch) -> None:
        lost = []
        packet = wire.encode_packet(batch)
        for other in self.receivers(node, batch):
            if self.is_lost(node.address.name, other.address.name, batch):
                lost.append(other.address.name)
                continue
            other.inbox.append((node.address, batch.destination, packet))
            self.wake_later(other)
        kinds = [header.kind.split(".")[0] for header in batch.headers]
        if kinds[-1] in HIDDEN:
            return
        to = "*" if batch.destination is None else text_of(batch.destination)
        headers = ", ".join(header_text(header) for header in batch.headers)
        fate = f"  (lost: {' '.join(lost)})" if lost else ""
        self.note(f"{text_of(node.address)} -> {to}  {headers}{fate}")

    def receivers(self, node: Node, batch: Batch) -> Iterator[Node]:
        for other in list(self.nodes.values()):
            if other is not node and batch.destination in (None, other.address):
                yield other

    def is_lost(self, sender: str, receiver: str, batch: Batch) -> bool:
        for loss in self.losses:
            wanted = (loss.kind, loss.sender, loss.receiver)
            if loss.left and wanted == (batch.headers[-1].kind, sender, receiver):
                loss.left -= 1
                return True
        return False

    # --- the trace --------------------------------------------------------------------------------

    def tell(self, node: Node, item: Batch | Event) -> None:
        me = text_of(node.address)
        match item:
            case Batch():
                texts = " ".join(text.decode() for text in unpack_messages(item.body))
                self.note(f"{me} delivers {item.position}: {texts} (from {text_of(item.sender)})")
            case ViewInstalled():
                self.note(f"{me} installs {item.view} at {item.position}{self.joined(item)}")
            case CutDelivered() | ReachabilityChanged():
                pass
            case _ if isinstance(item, SHOWN):
                self.note(f"{me} {type(item).__name__} {text_of(item)}".rstrip())

    def joined(self, event: ViewInstalled) -> str:
        """What a joiner is told beside the view."""
        if not event.fresh or event.order_state is None or not event.holders:
            return ""
        received = text_of(event.order_state.received)
        return f", takes the state from {text_of(event.holders)}, received-table {received}"

    def note(self, line: str) -> None:
        self.lines.append(f"{round((self.now - self.begun) * 1000):>5}  {line}")
