"""Whose leaving would part groups that S2 binds together: what a split would cost.

A unit hangs together by pairs of groups with two or more processes in common. Who leaves takes a
pair apart only where the pair has just two. So of all processes few are candidates, and for each
the unit is put together once more without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.overlap import STRONG
from server.console.overlap import Members, Parts

BUNDLES_MAX = 120
"""Units of more different memberships are not looked into."""


class Parting(NamedTuple):
    """Without `process` the unit falls into `parts`, the largest of which has `largest` groups."""

    process: Process
    parts: int
    largest: int


def partings(members: Mapping[GroupId, Members]) -> list[Parting] | None:
    """The processes that part a unit by leaving, by what they split off, most first.

    `members`: of each group of the unit its processes. None: it is too large to be looked into.
    """
    bundles: dict[Members, int] = {}
    for who in members.values():
        bundles[who] = bundles.get(who, 0) + 1
    if len(bundles) > BUNDLES_MAX:
        return None
    known = list(bundles)
    common = {
        (one, two): known[one] & known[two] for one, two in combinations(range(len(known)), 2)
    }
    strong = {pair: who for pair, who in common.items() if len(who) >= STRONG}
    narrow = [who for who in strong.values() if len(who) == STRONG]
    narrow += [who for who, groups in bundles.items() if groups > 1 and len(who) == STRONG]
    found = []
    for process in sorted({process for who in narrow for process in who}):
        sizes = _without(process, known, list(bundles.values()), strong)
        if len(sizes) > 1:
            found.append(Parting(process, len(sizes), max(sizes)))
    return sorted(found, key=lambda one: (one.largest, -one.parts, one.process))


def _without(
    process: Process,
    bundles: Sequence[Members],
    groups: Sequence[int],
    strong: Mapping[tuple[int, int], Members],
) -> list[int]:
    """How many groups each part has when the process is in none."""
    parts = Parts(len(bundles))
    for (one, two), who in strong.items():
        if len(who) - (process in who) >= STRONG:
            parts.join(one, two)
    sizes = []
    for numbers in parts.sets():
        who = bundles[numbers[0]]
        if len(numbers) == 1 and len(who) - (process in who) < STRONG:
            sizes += [1] * groups[numbers[0]]  # nothing holds the groups of the bundle together
        else:
            sizes.append(sum(groups[number] for number in numbers))
    return sizes
