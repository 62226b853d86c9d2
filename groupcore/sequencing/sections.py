"""What a node's processes send: runs, the sections in which they leave, what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain as joined

from groupcore.batch import MESSAGE_COST_BYTES, PACKED_BYTES, Batch, pack_messages
from groupcore.context import Numbers, encode_context
from groupcore.sequencing.headers import Send, pack_column
from groupcore.sequencing.names import BEGINNING, GroupId, Place, Process
from groupcore.view import Address

RUNS_MAX = 256
"""Runs of a section."""
RUN_BYTES = 32
"""What the columns of a frame have of a run."""
STRETCH_BYTES = 40
"""What a section has of a stretch."""
NOTHING: Numbers = {}
"""The context of what is in no section yet; nobody puts anything in."""


def room_of(runs: int, stretches: int, body_bytes: int) -> int:
    """What these take of a section or a frame with such a body."""
    return RUN_BYTES * runs + STRETCH_BYTES * stretches + body_bytes


@dataclass(slots=True)
class Local:
    """A process of this node.

    `groups` are those that it has joined. `past` is what it was given in groups that it has left,
    and where its own messages stand. `numbers` has for each group the number of its last message
    there; `chain` is that of its last run, and `told` says of each sequencer which was the last
    that was sent to it. `void`: the place of the last deletion of a group for which it has given up
    what it had sent there. `outbox` is what it has sent in this turn. `closing`: it sends no more.
    """

    process: Process
    outbox: list[Unaccepted] = field(default_factory=list)
    closing: bool = False
    groups: dict[GroupId, None] = field(default_factory=dict)
    numbers: dict[GroupId, int] = field(default_factory=dict)
    past: Numbers = field(default_factory=dict)
    chain: int = 0
    told: dict[Address, int] = field(default_factory=dict)
    void: Place = BEGINNING


class Unaccepted:
    """A run that is sent and has not yet been seen in a stream.

    `size_bytes` is that of its messages. Once it is in a section: `chain` is its number in its
    process's chain, `after` that of the run that has to have its place before, `numbers` its
    section's context; `place`: its process's `void`. `again`: it has been sent again.
    """

    __slots__ = (
        "after",
        "again",
        "chain",
        "first",
        "group",
        "numbers",
        "payloads",
        "place",
        "sent_at",
        "size_bytes",
        "wait_s",
    )

    def __init__(self, group: GroupId, first: int, payloads: list[bytes], size_bytes: int) -> None:
        self.group = group
        self.first = first
        self.payloads = payloads
        self.size_bytes = size_bytes
        self.again = False
        self.chain = self.after = 0
        self.numbers, self.place = NOTHING, BEGINNING
        self.sent_at = self.wait_s = 0.0

    @property
    def last(self) -> int:
        """The process's own number of its last message."""
        return self.first + len(self.payloads) - 1

    @property
    def room_bytes(self) -> int:
        """What it takes of a section."""
        return RUN_BYTES + self.size_bytes + PACKED_BYTES * len(self.payloads)

    @property
    def cost_bytes(self) -> int:
        """What it counts of what is under way."""
        return self.size_bytes + MESSAGE_COST_BYTES * len(self.payloads)

    def alone(self, process: Process, owner: Address) -> Section:
        """A section of this run only, as it was."""
        section = Section(owner)
        section.add(process, self.chain, self.after, 0, [self], self.room_bytes)
        section.numbers, section.place = self.numbers, self.place
        return section

    def parts(self, limit_bytes: int) -> list[Unaccepted]:
        """In parts that fit into a section each; a larger message stands alone."""
        if self.room_bytes <= limit_bytes:
            return [self]
        parts: list[Unaccepted] = []
        start, room = 0, RUN_BYTES
        for at, payload in enumerate(self.payloads):
            takes = PACKED_BYTES + len(payload)
            if at > start and room + takes > limit_bytes:
                parts.append(self._part(start, at))
                start, room = at, RUN_BYTES
            room += takes
        parts.append(self._part(start, len(self.payloads)))
        return parts

    def _part(self, start: int, end: int) -> Unaccepted:
        payloads = self.payloads[start:end]
        return Unaccepted(self.group, self.first + start, payloads, sum(map(len, payloads)))


class Section:
    """Runs that leave together for one sequencer, of one process or several.

    Its context is that of all of them together. `numbers` is filled in when it leaves: what its one
    process had been given, or everything that this node had, which costs less than asking each of
    several for its own. `place`: the latest `void` of its processes. `room_bytes` is what is taken
    up of it.
    """

    __slots__ = ("_runs", "_stretches", "numbers", "owner", "place", "room_bytes", "sender")

    def __init__(self, owner: Address) -> None:
        self.owner = owner
        self.room_bytes = 0
        self.sender: Process | None = None
        self.numbers: Numbers = {}
        self.place = BEGINNING
        self._stretches: list[int] = []
        self._runs: list[Unaccepted] = []

    def add(
        self,
        process: Process,
        chain: int,
        after: int,
        before: int,
        runs: list[Unaccepted],
        room_bytes: int,
    ) -> None:
        """Put these runs of a process behind what is there; `sender` is whose all of them are."""
        self.sender = process if not self._runs or self.sender == process else None
        self._runs += runs
        self._stretches += (process.number, len(runs), chain, after, before)
        self.room_bytes += room_bytes + STRETCH_BYTES

    def has_room(self, runs: int, room_bytes: int, limit_bytes: int) -> bool:
        """Whether a stretch more fits in, of so many runs that take so much."""
        most = limit_bytes - STRETCH_BYTES
        return len(self._runs) + runs <= RUNS_MAX and self.room_bytes + room_bytes <= most

    def batch(self, me: Address) -> Batch:
        """DO-MULTICAST of its runs."""
        runs = self._runs
        payloads = list(joined.from_iterable([run.payloads for run in runs]))
        send = Send(
            self.place,
            encode_context(self.numbers),
            pack_column(self._stretches),
            pack_column([run.group for run in runs]),
            pack_column([run.first for run in runs]),
            pack_column([len(run.payloads) for run in runs]),
        )
        return Batch(me, self.owner, (send,), pack_messages(payloads), len(payloads))
