"""Who holds components together: if this person left, which groups could have other sequencers?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Articulation:
    """Without `process` its component falls into `parts`; the largest has `largest` groups."""

    process: str
    parts: int
    largest: int


def articulations(members: Mapping[int, Iterable[str]]) -> list[Articulation]:
    """The processes of one component that split it, by what they split off; most first.

    `members`: of each group of the component its processes. Time grows with the pairs of groups
    that have just two processes in common, times who is in them.
    """
    common: dict[tuple[int, int], set[str]] = defaultdict(set)
    by_process: dict[str, list[int]] = defaultdict(list)
    for gid in sorted(members):
        for process in set(members[gid]):
            by_process[process].append(gid)
    for process, gids in by_process.items():
        for pair in combinations(gids, 2):
            common[pair].add(process)
    strong = {pair: who for pair, who in common.items() if len(who) > 1}
    # Only pairs that have just two in common come apart when one of them goes.
    needed = {process for who in strong.values() if len(who) == 2 for process in who}
    found = []
    for process in sorted(needed):
        sizes = _part_sizes(
            members, (p for p, who in strong.items() if len(who) > 2 or process not in who)
        )
        if len(sizes) > 1:
            found.append(Articulation(process, len(sizes), max(sizes)))
    return sorted(found, key=lambda one: (one.largest, -one.parts, one.process))


def _part_sizes(groups: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[int]:
    """How many groups each part has, when these pairs hang together."""
    parent = {gid: gid for gid in groups}

    def root(gid: int) -> int:
        while parent[gid] != gid:
            parent[gid] = parent[parent[gid]]
            gid = parent[gid]
        return gid

    for one, two in pairs:
        parent[root(one)] = root(two)
    sizes: dict[int, int] = defaultdict(int)
    for gid in parent:
        sizes[root(gid)] += 1
    return list(sizes.values())
