"""A node's disk: what is safe there, what is only in the page cache, what a crash leaves of it.

Two files. The **lineage** holds one record, replaced as a whole. The **journal** holds the
application's ordered messages with the place in the order that they reach. Writes count at once
and are safe when an fsync that began after them has ended; a crash leaves a prefix of the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

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


class Disk:
    """The two files of one node. It outlives the node's lives."""

    def __init__(self, clock: Clock, random: Random, options: DiskOptions) -> None:
        self.options = options
        self.incarnation = 0
        self.lineage: bytes | None = None
        self._safe = Journal()
        self._clock = clock
        self._random = random
        self._unsafe: list[Append | Replace] = []
        self._records: list[bytes] = []
        self._free_at = 0
        self._generation = 0

    def start(self) -> Journal:
        """Begin a life: count it, and read what the journal holds."""
        self.incarnation += 1
        safe = self._safe
        return Journal(safe.epoch, safe.position, list(safe.entries))

    def write(self, write: Append | Replace) -> None:
        """Write to the journal; safe after a later `sync`."""
        self._unsafe.append(write)

    def sync(self, done: Callable[[], None]) -> None:
        """Make what was written so far safe, and say so."""
        self._clock.at(self._reserve(), self._synced, self._generation, len(self._unsafe), done)

    def store(self, record: bytes, done: Callable[[], None]) -> None:
        """Replace the lineage record, and say when that is safe."""
        self._records.append(record)
        self._clock.at(self._reserve(), self._stored, self._generation, done)

    def crash(self, keep_all: bool = False) -> None:
        """The node stops here: of what is not safe a prefix stays (all of it if `keep_all`)."""
        kept = len(self._unsafe) if keep_all else self._random.randint(0, len(self._unsafe))
        for write in self._unsafe[:kept]:
            apply(self._safe, write)
        records = len(self._records) if keep_all else self._random.randint(0, len(self._records))
        if records:
            self.lineage = self._records[records - 1]
        self._unsafe.clear()
        self._records.clear()
        self._generation += 1

    def _reserve(self) -> int:
        """When an fsync that is asked for now ends: one after the other."""
        random, options = self._random, self.options
        duration = options.fsync_min_us * MICROSECOND
        duration += int(random.expovariate(1.0) * options.fsync_mean_us * MICROSECOND)
        if options.tail and random.random() < options.tail:
            duration += int(random.expovariate(1.0) * options.tail_mean_ms * MILLISECOND)
        self._free_at = max(self._free_at, self._clock.now_ns) + duration
        return self._free_at

    def _synced(self, generation: int, count: int, done: Callable[[], None]) -> None:
        if generation != self._generation:
            return
        # An earlier sync has made some of the counted writes safe already if two overlapped; the
        # application has one sync at a time, so the count still stands.
        for write in self._unsafe[:count]:
            apply(self._safe, write)
        del self._unsafe[:count]
        done()

    def _stored(self, generation: int, done: Callable[[], None]) -> None:
        if generation != self._generation:
            return
        self.lineage = self._records.pop(0)
        done()
