"""A node's disk: what is safe there, what is only in the page cache, what a crash leaves of it.

Two files and a log. The **lineage** holds one record, replaced as a whole. The **log** is what the
data plane puts out, written in one order with the records. The **journal** holds the
application's ordered messages with the place in the order that they reach. Writes count at once
and are safe when an fsync that began after them has ended; a crash leaves a prefix of the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from groupcore.sequencing.log import LogPart
from groupcore.sim.byte_log import SPOILS, ByteLog, DamagedLog
from groupcore.sim.clock import MICROSECOND, MILLISECOND, Clock
from groupcore.sim.trace import Mid

Entry = tuple[Mid, int]
"""A message in the journal: its identity and the hash of its content."""


@dataclass(frozen=True, slots=True)
class DiskOptions:
    """How long an fsync takes: a minimum, an exponential on top, a share with a long tail."""

    fsync_min_us: int = 200
    fsync_mean_us: int = 800
    tail: float = 0.0
    tail_mean_ms: int = 100


RETRY_NS = 100 * MILLISECOND
"""After so long the application writes again what found no room."""
STORE_RETRY_NS = 1_000 * MILLISECOND
"""After so long a record that could not be stored is written to a fresh file, as nodes do."""

HEALTHY = DiskOptions()
"""A fast disk that never takes long."""


@dataclass(slots=True)
class Journal:
    """The ordered messages up to `position` of `epoch`; their number is the position."""

    epoch: int = 0
    position: int = 0
    entries: list[Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Append:
    """One message more, at this place."""

    epoch: int
    position: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class Replace:
    """The whole state, as it was taken from another node or confirmed for this place."""

    epoch: int
    position: int
    entries: tuple[Entry, ...]


def apply(journal: Journal, write: Append | Replace) -> None:
    """Change the journal as the write says."""
    journal.epoch, journal.position = write.epoch, write.position
    if isinstance(write, Append):
        journal.entries.append(write.entry)
    else:
        journal.entries = list(write.entries)


class Recovered(NamedTuple):
    """What a node that starts has read of its log: `kept` parts of those that it had `stored`.

    `right`: they are what was written; `damaged`: it has found out that it is not whole; `spoilt`:
    what the world has done to it.
    """

    kept: int
    stored: int
    right: bool
    damaged: bool
    spoilt: str


class Folder(NamedTuple):
    """A copy of what is safe on a disk: the number of the last life, lineage, log, journal."""

    incarnation: int
    lineage: bytes | None
    log: ByteLog
    journal: Journal


class Disk:
    """The two files of one node. It outlives the node's lives.

    `slow_ns`: what each fsync takes longer now, one entry for each trouble. `full`: how many
    troubles let nothing be written, `hung`: let no fsync of the journal end. `errors`: so many
    fsyncs of the journal or the lineage will fail. `on_error` is called when what the journal had
    not made safe is gone by that. `damaged`: the lineage or the log cannot be read. `wiped`: how
    often everything was lost, or what had come behind a copy. `spoilt`: what has been done to the
    log, for the world, which knows it before the node finds it out.
    """

    def __init__(
        self, clock: Clock, random: Random, options: DiskOptions, torn: Random | None = None
    ) -> None:
        self.options = options
        self.bytes = ByteLog()
        self.spoilt = ""
        self._torn = torn or random
        self.incarnation = 0
        self.lineage: bytes | None = None
        self.slow_ns: list[int] = []
        self.full = 0
        self.hung = 0
        self.errors = 0
        self.damaged = False
        self.wiped = 0
        self.on_error: Callable[[], None] = _ignore
        self._safe = Journal()
        self._clock = clock
        self._random = random
        self._unsafe: list[Append | Replace] = []
        self._syncs: deque[tuple[int, Callable[[], None]]] = deque()
        self._records: deque[tuple[bytes | list[LogPart], Callable[[], None]]] = deque()
        self._free_at = 0
        self._generation = 0

    def start(self, incarnation_least: int = 0) -> Journal:
        """Begin a life: number it above all that the disk knows of, and read the journal."""
        self.incarnation = max(incarnation_least, self.incarnation + 1)
        safe = self._safe
        return Journal(safe.epoch, safe.position, list(safe.entries))

    def lineages(self) -> list[bytes]:
        """The record that is safe, and those on their way to the disk."""
        safe = [] if self.lineage is None else [self.lineage]
        return [*safe, *(record for record, _ in self._records if isinstance(record, bytes))]

    def write(self, write: Append | Replace) -> None:
        """Write to the journal; safe after a later `sync`."""
        self._unsafe.append(write)

    def sync(self, done: Callable[[], None]) -> None:
        """Make what was written so far safe, and say so."""
        self._syncs.append((len(self._unsafe), done))
        self._clock.at(self._reserve(), self._finish_sync, self._generation)

    def store(self, record: bytes, done: Callable[[], None]) -> None:
        """Replace the lineage record, and say when that is safe."""
        self._records.append((record, done))
        self._clock.at(self._reserve(), self._finish_record, self._generation)

    def append(self, parts: list[LogPart], done: Callable[[], None]) -> None:
        """Add to the log, behind the records before it, and say when that is safe."""
        self._records.append((parts, done))
        self._clock.at(self._reserve(), self._finish_record, self._generation)

    def _keep(self, item: bytes | list[LogPart]) -> None:
        """A record, or a part of the log, is safe."""
        if isinstance(item, bytes):
            self.lineage = item
            return
        self.bytes.append(item)

    @property
    def log(self) -> list[bytes]:
        """The parts of the log, as far as they can be read: all, where it is whole."""
        try:
            return self.bytes.read()
        except DamagedLog:
            return []

    def verify(self) -> Recovered | None:
        """Read the log, as a node does that starts: it may turn out to be damaged.

        What came of it, for who judges; None where there is nothing to read.
        """
        log, spoilt = self.bytes, self.spoilt
        if not log.written and not spoilt:
            return None
        stored = log.stored
        try:
            parts = log.read()
        except DamagedLog:
            self.damaged = True
            return Recovered(0, stored, right=True, damaged=True, spoilt=spoilt)
        right = parts == log.written[: len(parts)]
        if right and len(parts) >= stored:
            log.adopt(len(parts))
        return Recovered(len(parts), stored, right, self.damaged, spoilt)

    # --- what goes wrong ------------------------------------------------------------------------

    def crash(self, keep_all: bool = False) -> None:
        """The node stops here: of what is not safe a prefix stays (all of it if `keep_all`)."""
        kept = len(self._unsafe) if keep_all else self._random.randint(0, len(self._unsafe))
        for write in self._unsafe[:kept]:
            apply(self._safe, write)
        records = len(self._records) if keep_all else self._random.randint(0, len(self._records))
        items = [item for item, _ in self._records]
        for item in items[:records]:
            self._keep(item)
        if records < len(items) and isinstance(item := items[records], list):
            self.bytes.tear(item, self._torn)
        self._unsafe.clear()
        self._syncs.clear()
        self._records.clear()
        self._generation += 1

    def wipe(self) -> None:
        """Everything is lost: an empty disk is in its place."""
        self.crash()
        self._safe = Journal()
        self.lineage = None
        self.bytes.clear()
        self.incarnation = 0
        self.damaged, self.spoilt = False, ""
        self.wiped += 1

    def copied(self) -> Folder:
        """A copy of everything that is safe."""
        return deepcopy(Folder(self.incarnation, self.lineage, self.bytes, self._safe))

    def put_back(self, folder: Folder) -> None:
        """That copy is what is on the disk."""
        self.incarnation, self.lineage, self.bytes, self._safe = deepcopy(folder)
        self.wiped += 1

    def spoil(self) -> None:
        """The log, or the lineage where there is no log, is not what was written any more."""
        how = self._torn.choice(("unreadable", *SPOILS))
        if how == "unreadable" or not self.bytes.spoil(how, self._torn):
            how, self.damaged = "unreadable", True
        self.spoilt = how

    def heal(self) -> None:
        """Be a fast disk with room again; what waits for an fsync gets it soon."""
        self.slow_ns.clear()
        self.full = self.hung = self.errors = 0
        self.options = HEALTHY
        self._free_at = self._clock.now_ns
        for _ in self._syncs:
            self._clock.at(self._reserve(), self._finish_sync, self._generation)
        for _ in self._records:
            self._clock.at(self._reserve(), self._finish_record, self._generation)

    # --- inside ---------------------------------------------------------------------------------

    def _reserve(self) -> int:
        """When an fsync that is asked for now ends: one after the other."""
        random, options = self._random, self.options
        duration = options.fsync_min_us * MICROSECOND + sum(self.slow_ns)
        duration += int(random.expovariate(1.0) * options.fsync_mean_us * MICROSECOND)
        if options.tail and random.random() < options.tail:
            duration += int(random.expovariate(1.0) * options.tail_mean_ms * MILLISECOND)
        self._free_at = max(self._free_at, self._clock.now_ns) + duration
        return self._free_at

    def _finish_sync(self, generation: int) -> None:
        """An fsync of the journal ends: the oldest that waits, if there is one."""
        if generation != self._generation or not self._syncs:
            return
        if self.full or self.hung:
            self._clock.after(RETRY_NS, self._finish_sync, generation)
            return
        if self.errors:
            self.errors -= 1
            self._unsafe.clear()
            self._syncs.clear()
            self.on_error()
            return
        count, done = self._syncs.popleft()
        # An earlier sync has made some of the counted writes safe already if two overlapped; the
        # application has one sync at a time, so the count still stands.
        for write in self._unsafe[:count]:
            apply(self._safe, write)
        del self._unsafe[:count]
        done()

    def _finish_record(self, generation: int) -> None:
        """A record is safe: the oldest that waits. One that failed is written anew later."""
        if generation != self._generation or not self._records:
            return
        if self.errors and (self.bytes or isinstance(self._records[0][0], list)):
            self.errors -= 1  # a log is not written anew, nor what lies in its file
            self.on_error()
            return
        if self.full or self.errors:
            self.errors = max(0, self.errors - 1)
            self._clock.after(STORE_RETRY_NS, self._finish_record, generation)
            return
        item, done = self._records.popleft()
        self._keep(item)
        done()


def _ignore() -> None:
    """Nobody minds."""
