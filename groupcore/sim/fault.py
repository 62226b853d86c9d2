"""What a schedule does to a cluster, as data: one fault, one send."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sim.clock import SECOND
from groupcore.sim.link import Manner

COORDINATOR = -1
"""As a node of a fault: whoever is coordinator when the fault begins."""
NAMES = "abcdefghijklmnopqrst"
"""The nodes' ids, one letter each."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong at `at_ns` and ends `duration_ns` later.

    Kinds, nodes: `crash`, `crash-keep` (nothing unsafe is lost), `crash-all`, `pause`, `leave`,
    `leave-all`, `slow` (`factor` times), `hang-up` (who watches the node over a connection is told
    that it closed, and the node lives).
    Kinds, network, each failing in its `manner`: the shapes of `partitions`; `narrow` (all of the
    node's directions carry `factor` kbit/s); `filter` (no multicast reaches the node, or
    of several nodes one from another); `filter-direct` (no unicast reaches the node, or the second
    of two from the first); `storm` (a
    share of `factor` percent of all datagrams is lost); `black-hole` (datagrams above `factor`
    bytes vanish); `forger` (somebody on the segment without the key replays what it has recorded,
    alters it and makes things up, some datagrams each `factor` milliseconds).
    Kinds, disk: `disk-full` (nothing can be written), `disk-slow` (each fsync takes `factor`
    milliseconds longer), `sync-hang` (no fsync of the application's journal ends, records are
    stored; in named scenarios only), `disk-error` (the next fsync fails, what it was for is gone),
    `wipe` (the node crashes and comes back with an empty disk), `damage` (it crashes, its record is
    damaged, somebody moves it away), `lose` (as `wipe`, also where the others need that disk),
    `put-back` (its folder is copied; when the fault ends the node crashes, and starts `factor`
    milliseconds later from the copy; in named scenarios only),
    `clock-step` (its wall clock jumps by `factor` lives' worth, and it restarts), `clock-set` (the
    same while it runs).
    Kinds, data plane: `late-order` (the node's service hears `factor` milliseconds late of what is
    ordered); `insider` (each `factor` milliseconds the node orders bytes that are no commands, or
    wrong commands, puts frames into its stream that nobody can read, or sends what no application
    understands).
    Kinds, people: `waive` (an operator has the first node go on without the others).
    """

    at_ns: int
    kind: str
    nodes: tuple[int, ...] = ()
    duration_ns: int = 0
    factor: int = 1
    manner: Manner = "stop"

    def __str__(self) -> str:
        names = ",".join("coordinator" if node < 0 else NAMES[node] for node in self.nodes)
        return (
            f"{self.at_ns / SECOND:.3f} s {self.kind} {names or 'all'} "
            f"for {self.duration_ns / SECOND:.3f} s"
            + (f" factor {self.factor}" if self.factor != 1 else "")
            + (f" ({self.manner})" if self.manner != "stop" else "")
        )


@dataclass(frozen=True, slots=True)
class Send:
    """A node sends messages of these sizes in one go; to one node, or to all in order (None)."""

    at_ns: int
    node: int
    sizes: tuple[int, ...]
    to: int | None = None
