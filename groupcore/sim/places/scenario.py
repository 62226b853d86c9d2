"""A schedule of people in a place, at several nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from groupcore.sim.documents.scenario import Deed
from groupcore.sim.groups.scenario import GroupScenario

PUT, PAIR, DRAG, JOINT, GRAB, RELEASE, OPERATE, DELETE, GROUP, UNDO, WALK = (
    *("put", "pair", "drag", "joint", "grab", "release", "operate", "delete", "group", "undo"),
    "walk",
)
"""Kinds of deeds, beside GO and LEAVE of documents. PAIR: two things are put, into two cells; JOINT
changes such a pair together. WALK: the person sees another part of the place from now on."""


@dataclass(frozen=True, slots=True)
class PlaceScenario(GroupScenario):
    """A schedule with a place, and `people` in it."""

    people: int = 1
    deeds: tuple[Deed, ...] = ()
    pieces: ClassVar[tuple[str, ...]] = ("faults", "deeds", "acts", "points")

    def describe_traffic(self) -> list[str]:
        """The deeds, one a line; only their numbers when they are many."""
        described = super(PlaceScenario, self).describe_traffic()
        if len(self.deeds) <= 40:
            return [*described, *map(str, self.deeds)]
        kinds = Counter(deed.kind for deed in self.deeds)
        return [*described, ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))]
