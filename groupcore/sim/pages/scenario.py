"""A schedule of pages at the gateways of several nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from groupcore.sim.documents.scenario import Deed
from groupcore.sim.groups.scenario import GroupScenario

OPEN, CLOSE, CALL, SHOW, SLOW, DROP = "open", "close", "call", "show", "slow", "drop"
"""Kinds of deeds, beside GO and LEAVE of documents. SHOW: something else in a presence; SLOW: the
page reads nothing for a while; DROP: its connection breaks, and is made again at once."""


@dataclass(frozen=True, slots=True)
class PageScenario(GroupScenario):
    """A schedule with `people` at pages. `is_kept`: a program of each node keeps the objects."""

    people: int = 1
    is_kept: bool = False
    deeds: tuple[Deed, ...] = ()
    pieces: ClassVar[tuple[str, ...]] = ("faults", "deeds", "acts", "points")

    def describe_traffic(self) -> list[str]:
        """The deeds, one a line; only their numbers when they are many."""
        described = super(PageScenario, self).describe_traffic()
        if len(self.deeds) <= 40:
            return [*described, *map(str, self.deeds)]
        kinds = Counter(deed.kind for deed in self.deeds)
        return [*described, ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))]
