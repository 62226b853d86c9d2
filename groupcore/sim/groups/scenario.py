"""A schedule for the data plane: groups, and what processes on the nodes do with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from groupcore.sim.clock import SECOND
from groupcore.sim.fault import NAMES
from groupcore.sim.scenario import Scenario

JOIN, LEAVE, CLOSE, SEND, MOVE, DRAIN, REFILL, CALL, DELETE, OBSERVE, GIVE_UP = (
    "join",
    "leave",
    "close",
    "send",
    "move",
    "drain",
    "refill",
    "call",
    "delete",
    "observe",
    "give-up",
)
"""Kinds of acts. CLOSE: a process ends, and another takes its place; REFILL ends a DRAIN; CALL: an
operation of the guarded object is called; DELETE: a group is deleted, and who wants it makes it
anew; OBSERVE: a process is in strict groups without counting there, where it was a member, too, as
JOIN makes a member of who observes. GIVE_UP: a process that has asked to join and is not in yet
leaves, and is to be in all the same: it asks again."""


@dataclass(frozen=True, slots=True)
class Act:
    """Something that a process, or an operator, does at `at_ns` on a node.

    `slot`: which of the node's processes, from 0. `groups`: which groups it is about, by their
    place in the schedule. `sizes`: of the messages that are sent in one go, and so many times
    (`depth`) one member that is given a message answers it in another of its groups. `target`: the
    node that groups move to, or that is drained. `call`: an operation and its arguments.
    """

    at_ns: int
    kind: str
    node: int
    slot: int = 0
    groups: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    depth: int = 0
    target: int = 0
    call: tuple[str, ...] = ()

    def __str__(self) -> str:
        groups = " ".join(f"g{group}" for group in self.groups)
        more = {
            SEND: f" {len(self.sizes)} messages, answered {self.depth} times",
            MOVE: f" to {NAMES[self.target]}",
            DRAIN: f" {NAMES[self.target]}",
            REFILL: f" {NAMES[self.target]}",
            CALL: " " + " ".join(self.call),
        }.get(self.kind, "")
        return (
            f"{self.at_ns / SECOND:.3f} s {NAMES[self.node]}/{self.slot} {self.kind} {groups}{more}"
        )


LISTED_MAX = 40
"""Most acts that a description has one by one."""


@dataclass(frozen=True, slots=True)
class GroupScenario(Scenario):
    """A schedule with groups. `orders` has one for each group (`groupcore.sequencing.names.Order`).

    `slots`: processes on each node. `shape`: how the groups overlap, in a word. `k`: so many
    nodes beside the sequencer hold what is delivered. `points`: which of the service's limits are
    tiny, early or late (`groups.tightness`). `guarded`: the last group has an object with an access
    list, which the first process of each node has open on behalf of its node's name. `durable`:
    nodes have logs, and the memory of anybody may be lost.
    """

    orders: tuple[int, ...] = ()
    slots: int = 1
    shape: str = ""
    k: int = 1
    guarded: bool = False
    durable: bool = False
    acts: tuple[Act, ...] = ()
    points: tuple[str, ...] = ()
    pieces: ClassVar[tuple[str, ...]] = ("faults", "acts", "points")

    def describe_traffic(self) -> list[str]:
        """The acts, one a line; only their numbers when they are many."""
        tight = [f"tight: {' '.join(self.points)}"] if self.points else []
        if len(self.acts) <= LISTED_MAX:
            return [*tight, *(str(act) for act in self.acts)]
        kinds = Counter(act.kind for act in self.acts)
        return [*tight, ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))]

    def without_last_node(self) -> Self:
        """The same with a node less, and without what it does."""
        last = self.nodes - 1
        smaller = super(GroupScenario, self).without_last_node()  # slots: a new class was made
        return replace(
            smaller,
            acts=tuple(act for act in self.acts if last not in (act.node, act.target)),
        )
