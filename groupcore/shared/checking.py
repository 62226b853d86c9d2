"""Finds operations that are not deterministic: replicas compare their states at agreed cuts.

Idea. Whoever notices that enough has been done since the last cut sends VERIFY; its place in the
order is the next cut, where every replica hashes its state. The sender of VERIFY then says its
hash (CHECK). A replica that has another one answers with the hashes of a replay from a kept
state (TRAIL), up to 65 positions of it. Who hears a trail replays the same stretch and finds the
first position where they differ; the two narrow it down in turns until it is one message.

What decides alone is what replays give, so an operation is found that uses the wall clock, chance
of its own, the order of a plain set, or something of its node. One that differs once and never
again is noticed, but not named.

Invariants.
  C1  Equal replicas exchange two messages a cut, however many they are.
  C2  A difference is told once at each replica, until the two have been equal again.
  C3  At most CUTS_MAX states are kept, of at most STATE_BYTES_MAX each, and LOG_BYTES_MAX of log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.events import Diverged, SharedEvent
from groupcore.shared.machine import Done, Entry, Machine, digest_of
from groupcore.shared.messages import (
    HASHES_MAX,
    Check,
    Trail,
    Verify,
    encode,
)
from groupcore.view import Address

CUTS_MAX = 3
STATE_BYTES_MAX = 4 << 20
LOG_BYTES_MAX = 16 << 20
ENTRY_COST_BYTES = 100
"""What an entry of the log takes beside its payload."""
BYTES_PER_OPERATION = 256
"""A cut waits for an operation more a 256 bytes of state: hashing costs as little as the rest."""
PATIENCE = 16
"""So many intervals later a cut is made, though nobody has said the hash of the last one."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where states are compared; `state` None where it was too large to keep."""

    position: int
    digest: bytes
    state: bytes | None


class Speaker(Protocol):
    """As whom a node sends what it has to say of states."""

    @property
    def group(self) -> GroupId:
        """The object's group."""

    @property
    def process(self) -> Process:
        """A process of this node that has the object open."""

    def send(self, payload: bytes) -> int:
        """Multicast to the group."""


class Checker:
    """One replica's part in comparing states. `every` operations a cut; 0: none at all."""

    __slots__ = (
        "_asked",
        "_count",
        "_cuts",
        "_every",
        "_fresh",
        "_interval",
        "_log",
        "_log_bytes",
        "_parted",
        "_port",
        "_proposed",
        "_silent",
        "compared",
    )

    def __init__(self, fresh: Callable[[], Machine], every: int, port: Speaker) -> None:
        self._fresh = fresh
        self._every = every
        self._port = port
        self._cuts: list[Cut] = []
        self._log: list[Entry] = []
        self._log_bytes = 0
        self._count = 0
        self._interval = every
        self._silent = False
        self._proposed = False
        self._parted: dict[Address, int] = {}
        self._asked: set[Address] = set()
        self.compared = 0

    def begin(self, machine: Machine) -> None:
        """Start with the state of this machine: a new object, or a state that was taken."""
        if self._every:
            self._cuts = []
            self._log.clear()
            self._log_bytes = self._count = 0
            self._silent = self._proposed = False
            self._cut(machine)

    def applied(self, machine: Machine, entry: Entry, done: Done) -> list[SharedEvent]:
        """The machine has just done this entry."""
        if not self._every:
            return []
        self._log.append(entry)
        self._log_bytes += ENTRY_COST_BYTES + len(entry.payload or b"")
        if self._log_bytes > LOG_BYTES_MAX:
            self._forget(max(1, len(self._cuts) - 1))
        match done.message:
            case Verify(asked):
                self._on_verify(machine, entry.process, asked)
            case Check() as check:
                return self._on_check(entry.process, check)
            case Trail() as trail:
                return self._on_trail(entry.process, trail)
            case None:
                self._count += 1
                if entry.process.node == self._port.process.node:
                    self._maybe_propose()
        return []

    def _maybe_propose(self) -> None:
        """Ask for a cut, if one is due and it is for us to ask: our entry made the count full."""
        due = self._interval * PATIENCE if self._silent else self._interval
        over = self._count - due
        if over >= 0 and over % self._interval == 0 and not self._proposed:
            self._proposed = True
            self._port.send(encode(Verify(asked=False)))

    def _on_verify(self, machine: Machine, process: Process, asked: bool) -> None:
        mine = process.node == self._port.process.node
        if mine:
            self._proposed = False
        if not asked and self._count * 2 < self._interval:
            return  # several noticed at once
        cut = self._cut(machine)
        self._silent = True
        if mine:
            self._port.send(encode(Check(cut.position, cut.digest)))

    def _cut(self, machine: Machine) -> Cut:
        packed = machine.packed()
        kept = packed if len(packed) <= STATE_BYTES_MAX else None
        cut = Cut(machine.position, digest_of(packed), kept)
        self._cuts.append(cut)
        self._count = 0
        self._interval = max(self._every, len(packed) // BYTES_PER_OPERATION)
        self._forget(len(self._cuts) - CUTS_MAX)  # C3
        return cut

    def _forget(self, count: int) -> None:
        """Drop so many of the oldest cuts, and the log before the oldest that is left."""
        if count <= 0:
            return
        del self._cuts[:count]
        floor = self._cuts[0].position if self._cuts else self._log[-1].position
        dropped = sum(entry.position <= floor for entry in self._log)
        for entry in self._log[:dropped]:
            self._log_bytes -= ENTRY_COST_BYTES + len(entry.payload or b"")
        del self._log[:dropped]

    def _on_check(self, process: Process, check: Check) -> list[SharedEvent]:
        cut = next((cut for cut in self._cuts if cut.position == check.position), None)
        self._silent = False
        if cut is None:
            return []  # from before this replica's time
        self.compared += 1
        node = process.node
        if cut.digest == check.digest:
            self._parted.pop(node, None)
            self._asked.discard(node)
            return []
        if node in self._parted:
            return []  # C2
        hashes = self._replay(_spread(self._cuts[0].position, cut.position))
        if node in self._asked or not hashes:
            return self._unlocated(process, 0, cut.position)
        self._asked.add(node)
        self._port.send(encode(Trail(process, cut.position, hashes)))
        return []

    def _on_trail(self, process: Process, trail: Trail) -> list[SharedEvent]:
        """Compare a replay of somebody who differs from somebody with one of our own."""
        node = process.node
        if node == self._port.process.node:
            return []
        addressed = trail.process.node == self._port.process.node
        known = self._cuts[0].position if self._cuts else trail.cut
        mine = self._replay([position for position in trail.hashes if position >= known])
        if node in self._parted:
            first = next(iter(mine), 0)
            if first <= self._parted[node] or mine[first] != trail.hashes[first]:
                return []  # C2
            del self._parted[node]  # they have been equal again
        equal = None
        for position, digest in mine.items():
            if trail.hashes[position] == digest:
                equal = position
                continue
            if equal is None:
                return self._unlocated(process, 0, position)
            if addressed:
                stretch = self._replay(_spread(equal, position))
                self._port.send(encode(Trail(process, trail.cut, stretch)))
            return self._located(process, position) if position == equal + 1 else []
        # Whom it is addressed to differs, though the replays do not, or none can be made.
        return self._unlocated(process, equal or 0, trail.cut) if addressed else []

    def _replay(self, positions: list[int]) -> dict[int, bytes]:
        """Our hashes at these positions, as a replay from a kept state gives them."""
        if not positions:
            return {}
        base = None
        for cut in self._cuts:
            if cut.state is not None and cut.position <= positions[0]:
                base = cut
        if base is None or base.state is None:
            return {}
        machine = self._fresh()
        machine.load(base.state)
        wanted = set(positions)
        hashes = {}
        if base.position in wanted:
            hashes[base.position] = digest_of(machine.packed())
        for entry in list(self._log):
            if entry.position <= base.position:
                continue
            if entry.position > positions[-1]:
                break
            machine.apply(entry)
            if entry.position in wanted:
                hashes[entry.position] = digest_of(machine.packed())
        return hashes

    def _located(self, process: Process, position: int) -> list[SharedEvent]:
        entry = next(entry for entry in self._log if entry.position == position)
        self._parted[process.node] = position
        self._asked.discard(process.node)
        operation, arguments = self._describe(entry)
        return [
            Diverged(
                self._port.group,
                process,
                position,
                position - 1,
                operation,
                arguments,
                entry.process,
            )
        ]

    def _describe(self, entry: Entry) -> tuple[str, Mapping[str, object]]:
        if entry.payload is None:
            return ("on_joined" if entry.joined else "on_departed"), {}
        return self._fresh().describe(entry.payload)

    def _unlocated(self, process: Process, equal: int, position: int) -> list[SharedEvent]:
        told = bool(self._parted)  # then this is most likely the same bug, named already
        self._parted[process.node] = position
        self._asked.discard(process.node)
        if told:
            return []
        return [Diverged(self._port.group, process, position, equal, "", {}, None)]


def _spread(first: int, last: int) -> list[int]:
    """Both ends and, evenly between, as many positions as a trail may have."""
    count = min(last - first, HASHES_MAX - 1)
    if count <= 0:
        return [first]
    return [first + (last - first) * place // count for place in range(count + 1)]
