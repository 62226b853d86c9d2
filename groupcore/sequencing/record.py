"""The record of a group: what every node knows of it, whether it delivers the group or not.

Idea. Last number, members, the last message of each sender: what a sequencer needs to go on with
the group (paper, section 4.3, step 2). It is updated by the frames of sequencers, in the group's
order (CT1), so every node's record is the same at the same number.

Invariants.
  I1  `seqno` grows by the runs of the group, one after the other, whatever streams they come in.
  I2  Runs that come early wait in `waiting`, by their first number, until their turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from groupcore.context import Numbers
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.view import Address

if TYPE_CHECKING:
    from groupcore.sequencing.stream import Frame

JOINED, LEFT, GONE = 1, 2, 3
"""What a membership change says; the last one: it has left because its node is gone."""


class Run:
    """Consecutive messages of one process to one group, as they stand in a frame.

    `offset` is the place of the first one in the frame's body; `count` 0: a membership change.
    `chain` is its number in its process's chain, where it has to wait for its group's former ones.
    """

    __slots__ = (
        "chain",
        "count",
        "first",
        "frame",
        "index",
        "offset",
        "process",
        "record",
        "seqno",
    )

    def __init__(
        self,
        frame: Frame,
        index: int,
        record: Record,
        seqno: int,
        first: int,
        count: int,
        offset: int,
        process: Process,
    ) -> None:
        self.frame = frame
        self.index = index
        self.record = record
        self.seqno = seqno
        self.first = first
        self.count = count
        self.offset = offset
        self.process = process
        self.chain = 0

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.seqno + max(self.count, 1) - 1


class Place(NamedTuple):
    """Where runs stand: a frame, and how much it depends on. All runs of a frame share one."""

    stream: Address | None
    frame: int
    context_entries: int = 0
    context_bytes: int = 0


NOWHERE = Place(None, 0)


class Hold:
    """What a node has of a group that it delivers: the second stage.

    `seqno` is the last number delivered; `context` is what the group's messages up to there depend
    on, and where they stood (design, 4.4: the accumulated context that a joiner is given).
    `local` are the processes of this node that are members. While `waiting_for_state` the runs that
    follow the JOIN gather in `queue`.
    """

    __slots__ = ("context", "local", "queue", "seqno", "waiting_for_state")

    def __init__(self, seqno: int, waiting_for_state: bool) -> None:
        self.seqno = seqno
        self.waiting_for_state = waiting_for_state
        self.context: Numbers = {}
        self.queue: deque[Run] | None = None  # an empty one has room for 64: 760 bytes
        self.local: dict[Process, int] = {}


class Record:
    """One group, as every node knows it.

    `senders` has the number of each sender's last message, by `Senders` key; `requests` that of
    each process's last JOIN or LEAVE. `place` is where the last recorded run stood.
    """

    __slots__ = (
        "group",
        "hold",
        "members",
        "order",
        "place",
        "requests",
        "senders",
        "seqno",
        "waiting",
    )

    def __init__(self, group: GroupId, order: Order) -> None:
        self.group = group
        self.order = order
        self.seqno = 0
        self.members: dict[Process, int] = {}
        self.senders: dict[int, int] = {}
        self.requests: dict[int, int] | None = None
        self.waiting: dict[int, Run] | None = None
        self.hold: Hold | None = None
        self.place = NOWHERE


class Senders:
    """Small numbers in the place of processes: dictionaries of them are looked up for every run."""

    __slots__ = ("_keys", "_nodes", "processes")

    def __init__(self) -> None:
        self._keys: dict[Process, int] = {}
        self._nodes: dict[Address, dict[int, int]] = {}
        self.processes: list[Process] = []

    def key(self, process: Process) -> int:
        """The number of this process at this node."""
        key = self._keys.get(process)
        if key is None:
            key = self._keys[process] = len(self.processes)
            self.processes.append(process)
        return key

    def key_of(self, node: Address, number: int) -> int:
        """The number at this node of a node's process, by its one there."""
        keys = self._nodes.get(node)
        key = None if keys is None else keys.get(number)
        return self.of_node(node, (number,))[number] if key is None else key

    def of_node(self, node: Address, numbers: Iterable[int]) -> dict[int, int]:
        """The numbers at this node of a node's processes, by theirs there."""
        keys = self._nodes.get(node)
        if keys is None:
            keys = self._nodes[node] = {}
        for number in numbers:
            if number not in keys:
                keys[number] = self.key(Process(node, number))
        return keys

    def keys_of(self, node: Address) -> list[int]:
        """The numbers of those of a node's processes that have been looked up by `of_node`."""
        return list(self._nodes.get(node, {}).values())

    def same(self, process: Process) -> Process:
        """The process as it stands in all tables of this node, once."""
        return self.processes[self.key(process)]

    def process(self, key: int) -> Process:
        """Whose number it is."""
        return self.processes[key]
