"""What a node's processes send: runs, the sections in which they leave, what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain as joined

from groupcore.batch import MESSAGE_COST_BYTES, Batch, pack_messages
from groupcore.context import Numbers, encode_context
from groupcore.sequencing.headers import Send, pack_column
from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address

RUNS_MAX = 256
"""Runs of a section."""
NOTHING: Numbers = {}
"""The context of what is in no section yet; nobody puts anything in."""


@dataclass(slots=True)
class Local:
    """A process of this node.

    `groups` are those that it has joined. `past` is what it was given in groups that it has left,
    and where its own messages stand. `numbers` has for each group the number of its last message
    there; `chain` is that of its last run, and `told` says of each sequencer which was the last
    that was sent to it. `outbox` is what it has sent in this turn. `closing`: it sends no more.
    """

    process: Process
    outbox: list[Unaccepted] = field(default_factory=list)
    closing: bool = False
    groups: dict[GroupId, None] = field(default_factory=dict)
    numbers: dict[GroupId, int] = field(default_factory=dict)
    past: Numbers = field(default_factory=dict)
    chain: int = 0
    told: dict[Address, int] = field(default_factory=dict)


class Unaccepted:
    """A run that is sent and has not yet been seen in a stream.

    `size_bytes` is that of its messages. Once it is in a section: `chain` is its number in its
    process's chain, `after` that of the run that has to have its place before, `numbers` its
    section's context. `again`: it has been sent again.
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
        self.numbers = NOTHING
        self.sent_at = self.wait_s = 0.0

    @property
    def last(self) -> int:
        """The process's own number of its last message."""
        return self.first + len(self.payloads) - 1

    @property
    def cost_bytes(self) -> int:
        """What it counts of what is under way."""
        return self.size_bytes + MESSAGE_COST_BYTES * len(self.payloads)

    def alone(self, process: Process, owner: Address) -> Section:
        """A section of this run only, as it was."""
        section = Section(owner)
        section.add(process, self.chain, self.after, 0, [self], self.size_bytes)
        section.numbers = self.numbers
        return section

    def parts(self, limit_bytes: int) -> list[Unaccepted]:
        """In parts whose messages fit into a section; a larger message stands alone."""
        if self.size_bytes <= limit_bytes:
            return [self]
        parts: list[Unaccepted] = []
        start = size = 0
        for at, payload in enumerate(self.payloads):
            if at > start and size + len(payload) > limit_bytes:
                parts.append(self._part(start, at, size))
                start, size = at, 0
            size += len(payload)
        parts.append(self._part(start, len(self.payloads), size))
        return parts

    def _part(self, start: int, end: int, size_bytes: int) -> Unaccepted:
        return Unaccepted(self.group, self.first + start, self.payloads[start:end], size_bytes)


class Section:
    """Runs that leave together for one sequencer, of one process or several.

    Its context is that of all of them together. `numbers` is filled in when it leaves: what its one
    process had been given, or everything that this node had, which costs less than asking each of
    several for its own.
    """

    __slots__ = ("_runs", "_stretches", "numbers", "owner", "sender", "size_bytes")

    def __init__(self, owner: Address) -> None:
        self.owner = owner
        self.size_bytes = 0
        self.sender: Process | None = None
        self.numbers: Numbers = {}
        self._stretches: list[int] = []
        self._runs: list[Unaccepted] = []

    def add(
        self,
        process: Process,
        chain: int,
        after: int,
        before: int,
        runs: list[Unaccepted],
        size_bytes: int,
    ) -> None:
        """Put these runs of a process behind what is there; `sender` is whose all of them are."""
        self.sender = process if not self._runs or self.sender == process else None
        self._runs += runs
        self._stretches += (process.number, len(runs), chain, after, before)
        self.size_bytes += size_bytes

    def has_room(self, runs: int, size_bytes: int, limit_bytes: int) -> bool:
        """Whether so much more fits in."""
        return len(self._runs) + runs <= RUNS_MAX and self.size_bytes + size_bytes <= limit_bytes

    def batch(self, me: Address) -> Batch:
        """DO-MULTICAST of its runs."""
        runs = self._runs
        payloads = list(joined.from_iterable([run.payloads for run in runs]))
        send = Send(
            encode_context(self.numbers),
            pack_column(self._stretches),
            pack_column([run.group for run in runs]),
            pack_column([run.first for run in runs]),
            pack_column([len(run.payloads) for run in runs]),
        )
        return Batch(me, self.owner, (send,), pack_messages(payloads), len(payloads))
