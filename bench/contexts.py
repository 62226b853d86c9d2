"""Contexts: bytes that a message carries for its order, against the paper's rule and vector clocks.

Sessions on four nodes write in documents made of blocks, a group each, with an outline each. A
session sees about twenty blocks of one to three documents and is in their groups; it writes to one
or two of them and scrolls now and then. Which documents: Zipf. The services are the real ones, on
a network in memory; a hop takes 0.5 to 0.8 ms.

Ours is what stands in ACCEPT. The others are computed from the same run, in their favour: numbers
in MessagePack, groups and processes named by small integers, the message's own number for free.
The paper's is its plain rule: C_p, with the sequencer's entries of groups that intersect with the
destination; nothing is left out. So it grows with the age of what is written; every block has been
written to before, by somebody who saw its document. `paper_new` is without that past. A vector
clock has an entry for each of the sessions that is known to have sent something.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from bench.measuring import quantile
from bench.services import Services
from groupcore.batch import Batch
from groupcore.context import decode_context
from groupcore.sequencing.events import Delivered, Joined, ServiceEvent, StateInstalled, StateWanted
from groupcore.sequencing.headers import Accept, processes_of, unpack_column
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.view import Address

NODES = 4
SESSIONS = 50
WINDOW = 20
BLOCKS = 99
"""Blocks of a document, beside its outline."""
SETTLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Load:
    """How much is written: keystrokes a second of a session that writes, and which part does."""

    name: str
    writing: float
    keys_per_s: float
    seconds: float


LOADS = (Load("typing", 0.4, 5.0, 30.0), Load("busy", 1.0, 40.0, 3.0))


@dataclass(slots=True)
class Session:
    """A browser: where it looks, and which two blocks it writes to."""

    process: Process
    documents: list[int]
    top: int
    joined: set[GroupId] = field(default_factory=set)
    writes_to: list[GroupId] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Past:
    """What is known: a bit for each group, for each that was written in this run, each process."""

    groups: int
    new: int
    processes: int

    def __or__(self, other: Past) -> Past:
        return Past(
            self.groups | other.groups, self.new | other.new, self.processes | other.processes
        )


class Known:
    """What contexts of the paper and vector clocks hold, as sets of bits, and what they weigh.

    A set has a bit for each group, or process, whose entry is not empty; an entry weighs what its
    name and its present number do.
    """

    def __init__(self) -> None:
        self._weights: dict[int, int] = {}
        self._number: dict[int, int] = {}

    def grow(self, index: int, by: int) -> None:
        """The number of that group or process has grown."""
        before = self._number.get(index, 0)
        self._number[index] = before + by
        old, new = _packed(index) + _packed(before), _packed(index) + _packed(before + by)
        if before == 0 or old != new:
            self._weights[old] = self._weights.get(old, 0) & ~(1 << index)
            self._weights[new] = self._weights.get(new, 0) | 1 << index

    def weigh(self, entries: int) -> int:
        """Bytes of a context with these entries."""
        return sum(each * (entries & bits).bit_count() for each, bits in self._weights.items())


def _packed(number: int) -> int:
    """Bytes of an unsigned integer in MessagePack."""
    return 1 if number < 1 << 7 else 2 if number < 1 << 8 else 3 if number < 1 << 16 else 5


class Run:
    """One run: `groups` groups under one load, from a seed."""

    def __init__(self, groups: int, load: Load, seed: int) -> None:
        self.random = Random(seed)
        self.load = load
        self.measuring = False
        self.messages = 0
        self.bytes = {"ours": 0, "paper": 0, "paper_new": 0, "vector": 0}
        self.sizes: list[int] = []
        self.entries: list[int] = []
        self._groups, self._clocks = Known(), Known()
        self._past: dict[Process, Past] = {}
        self._sent: dict[tuple[Process, GroupId, int], Past] = {}
        self._members: dict[GroupId, dict[Process, None]] = {}
        self._history: dict[GroupId, Past] = {}
        self._written = 0
        self._index: dict[Process, int] = {}
        self._overlap: dict[GroupId, int] = {}
        self.services = Services(NODES, self.random, self._on_send, self._on_event)
        self._create(groups)
        blocks = max(1, round(groups / (BLOCKS + 1)))
        self.documents = [
            list(range(1 + at * groups // blocks, 1 + (at + 1) * groups // blocks))
            for at in range(blocks)
        ]
        for document in self.documents:
            every = sum(1 << group for group in document)
            for group in document:
                self._groups.grow(group, 1)
                self._history[group] = Past(every, 0, 0)
        self.sessions = [self._open(number) for number in range(SESSIONS)]

    # --- sessions -------------------------------------------------------------------------------

    def _create(self, groups: int) -> None:
        for number in range(groups):
            node = self.services.nodes[number % NODES]
            service = self.services.services[node]
            service.create(f"block-{number}", Order.CAUSALLY_TOTAL, self.services.now)
            if number % 100 == 99 or number == groups - 1:
                for each in self.services.nodes:
                    self.services.end_turn(each)
        self.services.run_until(SETTLE_S)

    def _open(self, number: int) -> Session:
        node = self.services.nodes[number % NODES]
        process = self.services.services[node].open_process()
        self._index[process] = number
        self._past[process] = Past(0, 0, 0)
        weights = [1 / rank for rank in range(1, len(self.documents) + 1)]
        want = self.random.choice([1, 1, 2, 3])
        documents: list[int] = []
        while len(documents) < min(want, len(self.documents)):
            (document,) = self.random.choices(range(len(self.documents)), weights)
            if document not in documents:
                documents.append(document)
        session = Session(process, documents, self.random.randrange(BLOCKS))
        self._look(session)
        return session

    def _look(self, session: Session) -> None:
        """Be in the groups of what is in sight, and of no others."""
        wanted: set[GroupId] = set()
        for document in session.documents:
            outline, *blocks = self.documents[document]
            share = min(WINDOW // len(session.documents), len(blocks))
            top = session.top % max(1, len(blocks) - share + 1)
            wanted |= {outline, *blocks[top : top + share]}
        service = self.services.services[session.process.node]
        for group in sorted(wanted - session.joined):
            service.join(session.process, group, self.services.now)
        for group in sorted(session.joined - wanted):
            self._members.get(group, {}).pop(session.process, None)
            service.leave(session.process, group, self.services.now)
        session.joined = wanted
        session.writes_to = self.random.sample(sorted(wanted), min(2, len(wanted)))
        self.services.end_turn(session.process.node)

    def go(self, seconds: float) -> None:
        """Let the sessions write and scroll for so long."""
        self.services.run_until(self.services.now + SETTLE_S)
        self.measuring = True
        writers = self.sessions[: round(SESSIONS * self.load.writing)]
        end, now = self.services.now + seconds, self.services.now
        rate = len(writers) * self.load.keys_per_s
        while True:
            now += self.random.expovariate(rate)
            if now >= end:
                break
            self.services.run_until(now)
            self._write(self.random.choice(writers))
            if self.random.random() < 0.1 * SESSIONS / rate:
                session = self.random.choice(self.sessions)
                session.top += self.random.randint(1, 10)
                self._look(session)
        self.services.run_until(end)

    def _write(self, session: Session) -> None:
        group = session.writes_to[self.random.random() < 0.2 and len(session.writes_to) > 1]
        process = session.process
        service = self.services.services[process.node]
        number = service.send(process, group, [b"a keystroke, packed"], self.services.now)
        past, own = self._past[process], 1 << group
        self._sent[process, group, number] = past
        self._past[process] = past | Past(own, own, 1 << self._index[process])
        self.services.end_turn(process.node)

    # --- what happens ---------------------------------------------------------------------------

    def _on_send(self, batch: Batch) -> None:
        header = batch.headers[-1]
        if not isinstance(header, Accept):
            return
        runs = len(header.groups) // 8
        columns = [
            unpack_column(column, runs) for column in (header.groups, header.firsts, header.counts)
        ]
        for process, group, first, count in zip(processes_of(header), *columns, strict=True):
            self._on_run(process, group, first, count)
        if self.measuring:
            self.sizes.append(len(header.context))
            self.entries.append(len(decode_context(header.context)))
            self.bytes["ours"] += len(header.context)

    def _on_run(self, process: Process, group: GroupId, first: int, count: int) -> None:
        past = self._sent.pop((process, group, first))
        own = Past(1 << group, 1 << group, 1 << self._index[process])
        around = self._overlapping(group)
        context = past | Past(around, around & self._written, 0)
        if self.measuring:
            self.messages += count
            self.bytes["paper"] += self._groups.weigh(context.groups & ~own.groups)
            self.bytes["paper_new"] += self._groups.weigh(context.new & ~own.new)
            self.bytes["vector"] += self._clocks.weigh(context.processes & ~own.processes)
        self._groups.grow(group, count)
        self._clocks.grow(self._index[process], count)
        self._written |= own.groups
        self._history[group] |= context | own

    def _overlapping(self, group: GroupId) -> int:
        """C | intersect(G): the groups of the same sequencer that share a session with it."""
        bits = 0
        for session in self.sessions:
            if group in session.joined:
                for other in session.joined:
                    bits |= 1 << other
        return bits & self._sequenced_with(group)

    def _sequenced_with(self, group: GroupId) -> int:
        if not self._overlap:
            owners: dict[Address | None, int] = {}
            plane = self.services.services[self.services.nodes[0]].plane
            for record in plane.records:
                owner = plane.owner(record)
                owners[owner] = owners.get(owner, 0) | 1 << record
            self._overlap = {record: owners[plane.owner(record)] for record in plane.records}
        return self._overlap[group]

    def _on_event(self, node: Address, event: ServiceEvent) -> None:
        match event:
            case Delivered(group=group):
                for process in self._members.get(group, {}):
                    if process.node == node:
                        self._learn(process, group)
            case Joined(group, _, process) if process.node == node:
                self._members.setdefault(group, {})[process] = None
                self._learn(process, group)
            case StateWanted(token, _):
                self.services.services[node].give_state(token, b"")
            case StateInstalled():
                pass

    def _learn(self, process: Process, group: GroupId) -> None:
        self._past[process] |= self._history[group]

    def figures(self) -> dict[str, object]:
        """What was measured."""
        joined = sum(len(session.joined) for session in self.sessions)
        return {
            "groups": len(self._overlap),
            "load": self.load.name,
            "overlap": round(joined / SESSIONS, 1),
            "bytes_per_message": self._mean("ours"),
            "bytes_p99": quantile([float(size) for size in self.sizes], 0.99),
            "entries_max": max(self.entries),
            "paper_bytes_per_message": self._mean("paper"),
            "paper_new_bytes_per_message": self._mean("paper_new"),
            "vector_clock_bytes_per_message": self._mean("vector"),
            "messages": self.messages,
        }

    def _mean(self, rule: str) -> float:
        return round(self.bytes[rule] / self.messages, 1)


def run(quick: bool) -> dict[str, object]:
    """Both loads at each number of groups."""
    cases = []
    for groups in (10, 100, 1_000, 10_000):
        for load in LOADS:
            one = Run(groups, load, seed=groups)
            one.go(load.seconds / 10 if quick else load.seconds)
            cases.append(one.figures())
    return {
        "contexts": cases,
        "nodes": NODES,
        "sessions": SESSIONS,
        "window": WINDOW,
    }
