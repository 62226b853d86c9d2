"""What a node's processes send: runs, the sections in which they leave, what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupcore.batch import MESSAGE_COST_BYTES, Batch, pack_messages
from groupcore.context import Numbers, encode_context
from groupcore.sequencing.asked import Piece
from groupcore.sequencing.headers import Send, pack_column
from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address

RUNS_MAX = 256
"""Runs of a section."""


@dataclass(slots=True)
class Local:
    """A process of this node.

    `groups` are those that it has joined. `past` is what it was given in groups that it has left,
    and where its own messages stand. `numbers` has for each group the number of its last message
    there; `chain` is that of its last run, and `told` says of each sequencer which was the last
    that was sent to it.
    """

    process: Process
    groups: dict[GroupId, None] = field(default_factory=dict)
    numbers: dict[GroupId, int] = field(default_factory=dict)
    past: Numbers = field(default_factory=dict)
    chain: int = 0
    told: dict[Address, int] = field(default_factory=dict)


class Unaccepted:
    """A run that has been sent and not yet been seen in a stream.

    `chain` is its number in its process's chain, `after` that of the run that has to have its
    place before. `numbers` is its section's context. `again`: it has been sent again.
    """

    __slots__ = (
        "after",
        "again",
        "chain",
        "first",
        "group",
        "numbers",
        "payloads",
        "sent_at",
        "wait_s",
    )

    def __init__(
        self, chain: int, after: int, piece: Piece, numbers: Numbers, sent_at: float, wait_s: float
    ) -> None:
        self.again = False
        self.chain = chain
        self.after = after
        self.group, self.first, self.payloads = piece
        self.numbers = numbers
        self.sent_at = sent_at
        self.wait_s = wait_s

    @property
    def last(self) -> int:
        """The process's own number of its last message."""
        return self.first + len(self.payloads) - 1

    def alone(self, process: Process, owner: Address) -> Section:
        """A section of this run only, as it was."""
        section = Section(owner)
        piece = (self.group, self.first, self.payloads)
        section.add(process, self.chain, self.after, 0, [piece])
        section.numbers = self.numbers
        return section


class Section:
    """Runs that leave together for one sequencer, of one process or several.

    Its context is that of all of them together. `numbers` is filled in when it leaves: what its one
    process had been given, or everything that this node had, which costs less than asking each of
    several for its own.
    """

    __slots__ = ("_pieces", "_stretches", "numbers", "owner", "sender", "size_bytes")

    def __init__(self, owner: Address) -> None:
        self.owner = owner
        self.size_bytes = 0
        self.sender: Process | None = None
        self.numbers: Numbers = {}
        self._stretches: list[int] = []
        self._pieces: list[Piece] = []

    def add(
        self, process: Process, chain: int, after: int, before: int, pieces: list[Piece]
    ) -> None:
        """Put these runs of a process behind what is there; `sender` is whose all of them are."""
        self.sender = process if not self._pieces or self.sender == process else None
        self._pieces += pieces
        self._stretches += (process.number, len(pieces), chain, after, before)
        for piece in pieces:
            self.size_bytes += sum(map(len, piece[2]))

    def has_room(self, runs: int, size_bytes: int, limit_bytes: int) -> bool:
        """Whether so much more fits in."""
        return len(self._pieces) + runs <= RUNS_MAX and self.size_bytes + size_bytes <= limit_bytes

    def batch(self, me: Address) -> Batch:
        """DO-MULTICAST of its runs."""
        payloads: list[bytes] = []
        for piece in self._pieces:
            payloads += piece[2]
        send = Send(
            encode_context(self.numbers),
            pack_column(self._stretches),
            pack_column([piece[0] for piece in self._pieces]),
            pack_column([piece[1] for piece in self._pieces]),
            pack_column([len(piece[2]) for piece in self._pieces]),
        )
        return Batch(me, self.owner, (send,), pack_messages(payloads), len(payloads))


def cost(payloads: list[bytes]) -> int:
    """What messages cost, in bytes."""
    return sum(map(len, payloads)) + MESSAGE_COST_BYTES * len(payloads)


def split(run: Piece, limit: int) -> list[Piece]:
    """A run in parts whose messages fit into a section; a larger message stands alone."""
    group, first, payloads = run
    if sum(map(len, payloads)) <= limit:
        return [run]
    parts: list[Piece] = []
    start = size = 0
    for at, payload in enumerate(payloads):
        if at > start and size + len(payload) > limit:
            parts.append((group, first + start, payloads[start:at]))
            start, size = at, 0
        size += len(payload)
    parts.append((group, first + start, payloads[start:]))
    return parts
