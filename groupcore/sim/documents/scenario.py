"""A schedule of people who write a document at several nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from groupcore.sim.clock import SECOND
from groupcore.sim.fault import NAMES
from groupcore.sim.groups.scenario import GroupScenario

GO, LEAVE = "go", "leave"
TYPE, LATE, ERASE, UNDO = "type", "late", "erase", "undo"
SPLIT, JOIN, INSERT, REMOVE, MOVE, SET, RENAME = (
    "split",
    "join",
    "insert",
    "remove",
    "move",
    "set",
    "rename",
)
"""Kinds of deeds. GO: the person's connection is lost, and made again to the node that is named;
LEAVE: it is lost, and nobody is there for a while. LATE: as TYPE, against an old version."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a person does at `at_ns`. `draws` say where, each from 0 to less than 1."""

    at_ns: int
    person: int
    kind: str
    draws: tuple[float, ...] = (0.0, 0.0, 0.0)
    node: int = 0

    def __str__(self) -> str:
        where = (
            NAMES[self.node] if self.kind == GO else " ".join(f"{one:.2f}" for one in self.draws)
        )
        return f"{self.at_ns / SECOND:.3f} s person {self.person} {self.kind} {where}"


@dataclass(frozen=True, slots=True)
class DocumentScenario(GroupScenario):
    """A schedule with a document. `people` write it, and find `given` blocks in it."""

    people: int = 1
    given: int = 2
    deeds: tuple[Deed, ...] = ()
    pieces: ClassVar[tuple[str, ...]] = ("faults", "deeds", "acts", "points")

    def describe_traffic(self) -> list[str]:
        """The deeds, one a line; only their numbers when they are many."""
        described = super(DocumentScenario, self).describe_traffic()
        if len(self.deeds) <= 40:
            return [*described, *map(str, self.deeds)]
        kinds = Counter(deed.kind for deed in self.deeds)
        return [*described, ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))]
