"""What a node's processes send: runs, the sections in which they leave, what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupcore.batch import MESSAGE_COST_BYTES, Batch, pack_messages
from groupcore.context import Ids, Numbers, encode_context
from groupcore.sequencing.headers import Send, pack_column
from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address

Piece = tuple[GroupId, int, list[bytes]]
"""A run on its way out: its group, the process's own number of its first message, the messages."""
NOTHING: list[Piece] = []
RUNS_MAX = 256
"""Runs of a section."""
SHARED_IDS_MAX = 512
"""Ids of a section above which it is not shared any further."""


@dataclass(slots=True)
class Local:
    """A process of this node.

    `groups` are those that it has joined. `past` is what it was given in groups that it has left,
    and where its own messages stand; `pending` its own messages whose place is not known.
    `numbers` has for each group the number of its last message there.
    """

    process: Process
    groups: dict[GroupId, None] = field(default_factory=dict)
    numbers: dict[GroupId, int] = field(default_factory=dict)
    past: Numbers = field(default_factory=dict)
    pending: dict[GroupId, int] = field(default_factory=dict)


class Unaccepted:
    """A run that has been sent and not yet been seen in a stream.

    `numbers` and `ids` are its section's context, `before` the section's runs that precede it: a
    run that is sent again by itself depends on those, too. `again`: it has been.
    """

    __slots__ = ("again", "before", "first", "ids", "numbers", "payloads", "sent_at", "wait_s")

    def __init__(
        self,
        first: int,
        payloads: list[bytes],
        numbers: Numbers,
        ids: Ids,
        before: list[Piece],
        sent_at: float,
        wait_s: float,
    ) -> None:
        self.again = False
        self.first = first
        self.payloads = payloads
        self.numbers = numbers
        self.ids = ids
        self.before = before
        self.sent_at = sent_at
        self.wait_s = wait_s

    def alone(self, process: Process, group: GroupId, owner: Address) -> Section:
        """A section of this run only, as it was."""
        ids = dict(self.ids)
        for one, first, payloads in self.before:
            if one != group:
                ids[process.number, one] = first + len(payloads) - 1
        section = Section(owner)
        section.add(process, [(group, self.first, self.payloads)], ids)
        section.numbers = self.numbers
        return section


class Section:
    """Runs that leave together for one sequencer, of one process or several.

    Its context is that of all of them together. `numbers` is filled in when it leaves: what its one
    process had been given, or everything that this node had, which costs less than asking each of
    several for its own.
    """

    __slots__ = ("_ids", "_pieces", "_processes", "numbers", "owner", "sender", "size_bytes")

    def __init__(self, owner: Address) -> None:
        self.owner = owner
        self.size_bytes = 0
        self.sender: Process | None = None
        self.numbers: Numbers = {}
        self._processes: list[int] = []
        self._pieces: list[Piece] = []
        self._ids: Ids = {}

    def add(self, process: Process, pieces: list[Piece], ids: Ids) -> None:
        """Put these runs of a process behind what is there; `sender` is whose all of them are."""
        self.sender = process if not self._pieces or self.sender == process else None
        self._pieces += pieces
        self._processes += [process.number] * len(pieces)
        self.size_bytes += sum(cost(piece[2]) for piece in pieces)
        self._ids.update(ids)

    @property
    def full(self) -> bool:
        """Whether no other process should put more into it."""
        return len(self._pieces) >= RUNS_MAX or len(self._ids) >= SHARED_IDS_MAX

    def batch(self, me: Address) -> Batch:
        """DO-MULTICAST of its runs."""
        payloads: list[bytes] = []
        for piece in self._pieces:
            payloads += piece[2]
        send = Send(
            encode_context(self.numbers, self._ids),
            pack_column(self._processes),
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
