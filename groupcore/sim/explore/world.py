"""One state of the small cluster: nodes, queues between them, what is left to happen.

A state is never changed once it is there; the next one shares all that stays the same. Between
two nodes there is one queue each way, in order; a packet is what one turn sends to one node, as a
datagram is. What is **background** (heartbeats, discovery, reports of stability) is not queued: it
arrives at once, so it adds no orders of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from groupcore.batch import Batch
from groupcore.sim.explore.keying import EPOCH_S, digest, key_of, key_of_batches
from groupcore.sim.trace import Mid, Record
from groupcore.stack import Stack
from groupcore.view import Address, View

Link = tuple[int, int]
"""From one node to another, by their numbers."""

NAMES = "abcde"
BACKGROUND_KINDS = ("failure_detection", "discovery", "stability", "durability", "probe")


class Steady(Random):
    """Chance that always says the same, so that it is no part of a state."""

    def __init__(self, share: float) -> None:
        super().__init__(0)
        self.share = share

    def random(self) -> float:
        """The node's own share of one."""
        return self.share

    def getrandbits(self, bits: int) -> int:
        """The same number again."""
        return int(self.share * (1 << bits))

    def _randbelow(self, n: int) -> int:
        # What the standard library's choice and randrange draw from; theirs tries again and again.
        return int(self.share * n)


@dataclass(frozen=True, slots=True)
class Packet:
    """What one turn of a node sends to another; `key` is a hash of it."""

    batches: tuple[Batch, ...]
    key: bytes


@dataclass(frozen=True, slots=True)
class Application:
    """What a node's application holds, and has on disk: each message is safe when delivered.

    `wanted` is the place whose state it waits for; `history` a hash of all that it was given.
    """

    epoch: int = 0
    entries: tuple[Mid, ...] = ()
    wanted: tuple[int, int] | None = None
    history: bytes = b""


@dataclass(frozen=True, slots=True)
class NodeState:
    """One node. `stack` None: it does not run. `pending`: records that are not on disk yet."""

    number: int
    incarnation: int = 0
    stack: Stack | None = None
    view: View | None = None
    disk: bytes | None = None
    pending: tuple[tuple[int, bytes], ...] = ()
    application: Application = Application()
    sent: int = 0
    leaving: bool = False
    key: bytes = b""

    @property
    def address(self) -> Address:
        """This life's address."""
        return Address(NAMES[self.number], self.incarnation)

    def keyed(self, now: float) -> NodeState:
        """With the key of what it is at that time."""
        stack = b"" if self.stack is None else key_of(self.stack, now)
        application = self.application
        held = (application.epoch, application.wanted, application.history)
        rest = (self.incarnation, self.disk, self.pending, held, self.sent)
        return replace(self, key=digest(stack + repr((rest, self.leaving)).encode()))


@dataclass(frozen=True, slots=True)
class Past:
    """The records so far, newest first, as a chain that states share."""

    record: Record | None = None
    before: Past | None = None
    length: int = 0

    def records(self) -> list[Record]:
        """Oldest first."""
        found: list[Record] = []
        past: Past | None = self
        while past is not None and past.record is not None:
            found.append(past.record)
            past = past.before
        return found[::-1]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may still go wrong."""

    losses: int = 0
    crashes: int = 0
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """Everything. `todo` are the numbers of the script's steps that have not been taken.

    `newest` is the latest view that anybody has installed; `stuck`: time alone changes nothing.
    """

    nodes: tuple[NodeState, ...]
    links: dict[Link, tuple[Packet, ...]] = field(default_factory=dict)
    now: float = EPOCH_S
    budget: Budget = Budget()
    todo: frozenset[int] = frozenset()
    past: Past = Past()
    newest: View | None = None
    stuck: bool = False

    def key(self) -> bytes:
        """Equal for two states from which the same can happen, and whose histories are alike."""
        parts = [node.key for node in self.nodes]
        for link, queue in sorted(self.links.items()):
            parts.append(repr(link).encode())
            parts += [packet.key for packet in queue]
        rest = (self.budget, sorted(self.todo), self.stuck)
        return digest(b"".join(parts) + repr(rest).encode())

    @property
    def moment(self) -> int:
        """How many records there are."""
        return self.past.length

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way, to a node or to a disk."""
        return not self.links and not any(node.pending for node in self.nodes)

    def alive(self) -> list[NodeState]:
        """The nodes that run."""
        return [node for node in self.nodes if node.stack is not None]


def is_background(batch: Batch) -> bool:
    """Whether a batch only says who lives, or what could be dropped."""
    return bool(batch.headers) and batch.headers[-1].kind.partition(".")[0] in BACKGROUND_KINDS


def packet_of(batches: list[Batch], now: float) -> Packet:
    """The packet that carries these."""
    return Packet(tuple(batches), key_of_batches(batches, now))
