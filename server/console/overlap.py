"""Which groups share processes, and what hangs together by that: the overlap graph's components.

Idea. Two groups that share two processes or more intersect strongly. Where both are `strict`, S2
binds them to one sequencer: such a *unit* the directory has counted, and it moves whole. Others
only have people in common; they may be anywhere. A *component* is what hangs together by either.

Groups with the same processes are one *bundle*, and bundles that share a pair of processes are
joined in a star, so no group is compared with all others. What would join nearly everything counts
for nothing, and is named: *observers*, processes in very many groups, and *halls*, groups with very
many processes. The nodes' own processes, which deliver what pages have open, are left out;
so is who has joined a strict group as an observer (decision 0060).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.overlap import STRONG
from groupcore.sequencing.plane import Plane
from server.console.groups import PORTION

OBSERVED_MIN = 64
"""Who is in more groups than this, and in more than half of all, is an observer."""
HALL_PROCESSES = 64
"""A group with more processes is a hall."""
PAIRS_MAX = 500_000
"""So many pairs of processes are looked at, those of the smallest bundles first: 0.5 s."""

SHARE = 10

Members: TypeAlias = frozenset[Process]


@dataclass(frozen=True, slots=True)
class Component:
    """Groups that hang together, sorted, and the units among them that S2 binds."""

    groups: tuple[GroupId, ...]
    units: tuple[tuple[GroupId, ...], ...]
    processes: int

    @property
    def bound(self) -> int:
        """How many of the groups are in a unit."""
        return sum(map(len, self.units))


@dataclass(frozen=True, slots=True)
class Overlap:
    """The components, the largest first. `observers`: in how many groups they are; `halls`: how
    many processes they have; `left_out`: groups that were not compared, as there are too many.
    `declared`: how many strict groups processes observe, which count in none of these.
    """

    components: tuple[Component, ...]
    observers: Mapping[Process, int]
    halls: Mapping[GroupId, int]
    left_out: int
    members: Mapping[GroupId, Members]
    declared: Mapping[Process, int] = field(default_factory=dict)

    def of(self, group: GroupId) -> Component:
        """The component that a group is in, or it alone."""
        for one in self.components:
            if group in one.groups:
                return one
        return Component((group,), (), len(self.members.get(group, ())))


class Newest:
    """The overlap that was found last, which is looked for so often that it takes no more than one
    part in SHARE of the time: always anew in a small cluster.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._found: Overlap | None = None
        self._good_until_s = 0.0

    async def of(self, look: Callable[[], Awaitable[Overlap]]) -> Overlap:
        """What there is, or what `look` finds."""
        began_s = self._clock_s()
        if self._found is None or began_s >= self._good_until_s:
            self._found = await look()
            now_s = self._clock_s()
            self._good_until_s = now_s + SHARE * (now_s - began_s)
        return self._found


class Parts:
    """Disjoint sets of the numbers below `count`."""

    def __init__(self, count: int) -> None:
        self._roots = list(range(count))

    def root(self, one: int) -> int:
        """The number that stands for the set of this one."""
        roots = self._roots
        while roots[one] != one:
            roots[one] = roots[roots[one]]
            one = roots[one]
        return one

    def join(self, one: int, other: int) -> None:
        """Their sets are one from here on."""
        self._roots[self.root(one)] = self.root(other)

    def sets(self) -> list[list[int]]:
        """All of them."""
        found: dict[int, list[int]] = {}
        for one in range(len(self._roots)):
            found.setdefault(self.root(one), []).append(one)
        return list(found.values())


async def overlap_of(
    plane: Plane, own: Set[Process], attending: Mapping[GroupId, Set[Process]]
) -> Overlap:
    """The overlap of all groups as it is now; `own` are processes of nodes themselves, `attending`
    those that are given groups without being members.
    """
    state, members = plane.directory.state, {}
    units: dict[GroupId, tuple[GroupId, ...]] = {}
    observed: dict[GroupId, set[Process]] = {}
    for process, groups in state.observers.entries():
        for group, _ in groups:
            observed.setdefault(group, set()).add(process)
    declared = Counter(process for who in observed.values() for process in who)
    for at, group in enumerate(list(state.entries), 1):
        record = plane.records.get(group)
        if record is not None and record.members:
            inside = record.members.keys() | attending.get(group, set())
            members[group] = frozenset(inside - own - observed.get(group, set()))
        if group in state.entries:
            unit = state.unit_of(group)
            if len(unit) > 1:
                units[unit[0]] = unit
        if at % PORTION == 0:
            await asyncio.sleep(0)
    found = await asyncio.to_thread(find_overlap, members, units.values())
    return replace(found, declared=declared)


def find_overlap(
    members: Mapping[GroupId, Members], units: Iterable[tuple[GroupId, ...]]
) -> Overlap:
    """The overlap of groups with these processes; `units`: what S2 binds."""
    shared = {group: who for group, who in members.items() if len(who) >= STRONG}
    counts = Counter(process for who in shared.values() for process in who)
    bound = max(OBSERVED_MIN, len(shared) // 2)
    observers = {process: count for process, count in counts.most_common() if count > bound}
    halls = {group: len(who) for group, who in shared.items() if len(who) > HALL_PROCESSES}
    bundles: dict[Members, list[GroupId]] = {}
    watching = frozenset(observers)
    for group, who in shared.items():
        if group not in halls:
            bundles.setdefault(who - watching, []).append(group)
    named = _disjoint(units)
    alone = {group for unit in named for group in unit}.difference(shared.keys() - halls.keys())
    for group in alone:  # bound by nodes' own processes, or halls: still in one component
        bundles.setdefault(frozenset(), []).append(group)
    groups = [group for bundle in bundles.values() for group in bundle]
    numbers = {group: number for number, group in enumerate(groups)}
    parts = Parts(len(groups))
    left_out = _join_bundles(parts, bundles, numbers)
    for unit in named:
        for group in unit[1:]:
            parts.join(numbers[unit[0]], numbers[group])
    found = _components(parts, groups, named, members)
    return Overlap(tuple(found), observers, halls, left_out, members)


def _disjoint(units: Iterable[tuple[GroupId, ...]]) -> list[tuple[GroupId, ...]]:
    """The units, but for those of which a group has gone into another one meanwhile."""
    taken: set[GroupId] = set()
    kept = []
    for unit in units:
        if taken.isdisjoint(unit):
            taken.update(unit)
            kept.append(unit)
    return kept


def _join_bundles(
    parts: Parts, bundles: Mapping[Members, Sequence[GroupId]], numbers: Mapping[GroupId, int]
) -> int:
    """Join what shares two processes; gives how many groups it was too much to compare."""
    first: dict[tuple[Process, Process], int] = {}
    room, left_out = PAIRS_MAX, 0
    for who in sorted(bundles, key=len):
        bundle = [numbers[group] for group in bundles[who]]
        if len(who) < STRONG:
            continue
        for number in bundle[1:]:
            parts.join(bundle[0], number)
        room -= len(who) * (len(who) - 1) // 2
        if room < 0:
            left_out += len(bundle)
            continue
        for pair in combinations(sorted(who), 2):
            parts.join(first.setdefault(pair, bundle[0]), bundle[0])
    return left_out


def _components(
    parts: Parts,
    groups: Sequence[GroupId],
    units: Sequence[tuple[GroupId, ...]],
    members: Mapping[GroupId, Members],
) -> list[Component]:
    unit_of = {group: unit for unit in units for group in unit}
    found = []
    for numbers in parts.sets():
        if len(numbers) > 1:
            own = tuple(sorted(groups[number] for number in numbers))
            bound = dict.fromkeys(unit_of[group] for group in own if group in unit_of)
            processes = frozenset[Process]().union(*(members.get(group, ()) for group in own))
            found.append(Component(own, tuple(bound), len(processes)))
    return sorted(found, key=lambda one: (-len(one.groups), one.groups))
