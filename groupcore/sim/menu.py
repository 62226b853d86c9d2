"""The menu: every kind of fault, how likely it is, whom it hits, how long and how hard.

Each schedule draws how eager it is, and switches each kind on or off by itself (swarm).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from groupcore.sim.clock import MILLISECOND
from groupcore.sim.fault import COORDINATOR, Fault
from groupcore.sim.link import Manner

ALL = 99
"""As a number of nodes: a random part of them, in random order."""


@dataclass(frozen=True, slots=True)
class Dish:
    """A kind of fault: nodes named, nodes needed, durations in milliseconds, factors, manners.

    `weight` multiplies how likely it is. `times_max`: most of them in one schedule.
    """

    kind: str
    named: int
    shortest: int
    longest: int
    factors: tuple[int, ...] = (1,)
    manners: tuple[Manner, ...] = ("stop",)
    needs: int = 1
    weight: float = 1.0
    times_max: int = 3


CUTS: tuple[Manner, ...] = ("stop", "stop", "stop", "jam", "slow")
SLOW_MS = (20, 200, 1_000)
"""How much later datagrams come where the manner is `slow`."""

MENU: tuple[Dish, ...] = (
    Dish("crash", 1, 20, 4_000, weight=1.5),
    Dish("crash-keep", 1, 20, 4_000),
    Dish("crash-all", 0, 10, 1_500, weight=0.5, times_max=1),
    Dish("pause", 1, 50, 5_000),
    Dish("leave", 1, 100, 3_000),
    Dish("leave-all", 0, 100, 1_500, weight=0.2, times_max=1),
    Dish("slow", 1, 200, 3_000, factors=(20, 20, 100)),
    Dish("hang-up", 1, 1, 1, weight=0.4),
    Dish("isolate", 1, 100, 4_000, manners=CUTS, needs=2),
    Dish("deaf", 1, 100, 4_000, manners=CUTS, needs=2),
    Dish("mute", 1, 100, 4_000, manners=CUTS, needs=2),
    Dish("link", 2, 100, 5_000, manners=CUTS, needs=2),
    Dish("one-way", 2, 100, 5_000, manners=CUTS, needs=2),
    Dish("split", ALL, 100, 5_000, manners=CUTS, needs=2),
    Dish("bridge", ALL, 200, 4_000, manners=CUTS, needs=3, weight=0.5),
    Dish("ring", ALL, 200, 4_000, manners=CUTS, needs=4, weight=0.8),
    Dish("swizzle", ALL, 200, 3_000, manners=("jam",), needs=2, weight=0.5),
    Dish("narrow", 1, 200, 3_000, factors=(64, 64, 512), needs=2, weight=0.5),
    Dish("filter", 1, 200, 3_000, needs=2, weight=0.5),
    Dish("filter", ALL, 500, 6_000, needs=2, weight=0.5),
    Dish("storm", 0, 50, 1_500, factors=(50, 90, 100)),
    Dish("black-hole", 0, 100, 2_000, factors=(600, 1_400), weight=0.4),
    Dish("disk-full", 1, 100, 3_000, weight=0.5),
    Dish("disk-slow", 1, 200, 3_000, factors=(500, 3_000, 30_000), weight=0.5),
    Dish("disk-error", 1, 1, 1, weight=0.5),
    Dish("wipe", 1, 50, 2_000, needs=3, weight=0.5, times_max=1),
    Dish("damage", 1, 50, 2_000, needs=3, weight=0.3, times_max=1),
    Dish("clock-step", 1, 50, 1_000, factors=(-3, 1_000), weight=0.4, times_max=1),
    Dish("clock-set", 1, 1, 1, factors=(-3, 1_000), weight=0.4),
    Dish("forger", 0, 200, 3_000, factors=(5, 20), weight=0.6),
)
"""All kinds of faults."""

LOSES_DISK = frozenset({"wipe", "damage"})
SETS_CLOCK = frozenset({"clock-step", "clock-set"})


def draw_faults(
    random: Random, nodes: int, safety_ns: int, menu: tuple[Dish, ...] = MENU
) -> tuple[Fault, ...]:
    """The faults of a schedule with so many nodes, in order of time."""
    faults: list[Fault] = []
    eager = random.uniform(0.05, 0.35)
    for dish in menu:
        if random.random() >= eager * dish.weight or nodes < dish.needs:
            continue
        if dish.kind in LOSES_DISK and any(fault.kind in LOSES_DISK for fault in faults):
            continue  # more lost disks than k: nothing is promised then
        if dish.kind in SETS_CLOCK and any(fault.kind in LOSES_DISK for fault in faults):
            continue  # without clock and disk a life may get the number of a former one
        for _ in range(random.randint(1, dish.times_max)):
            faults.append(_draw_fault(random, dish, nodes, safety_ns, faults))
    return tuple(sorted(faults, key=lambda fault: (fault.at_ns, fault.kind, fault.nodes)))


def _draw_fault(
    random: Random, dish: Dish, nodes: int, safety_ns: int, faults: list[Fault]
) -> Fault:
    # As many below the geometric mean as above: most faults are short, a few are long.
    duration_ms = dish.shortest * (dish.longest / dish.shortest) ** random.random()
    at_ns = _draw_moment(random, safety_ns, faults)
    chosen = _draw_nodes(random, dish, nodes)
    manner = random.choice(dish.manners)
    factor = random.choice(SLOW_MS if manner == "slow" else dish.factors)
    return Fault(at_ns, dish.kind, chosen, int(duration_ms) * MILLISECOND, factor, manner)


def _draw_moment(random: Random, safety_ns: int, faults: list[Fault]) -> int:
    """Mostly anywhere; often shortly after another fault, while the group is still busy with it."""
    last_ns = safety_ns - 100 * MILLISECOND
    if faults and random.random() < 0.4:
        at_ns = random.choice(faults).at_ns + random.randint(0, 1_500 * MILLISECOND)
        return min(at_ns, last_ns)
    return random.randint(200 * MILLISECOND, last_ns)


def _draw_nodes(random: Random, dish: Dish, nodes: int) -> tuple[int, ...]:
    if dish.named == 0:
        return ()
    if dish.kind == "ring":
        return tuple(random.sample(range(nodes), nodes))
    if dish.named == ALL:
        least = 2 if dish.kind == "bridge" else 1
        return tuple(random.sample(range(nodes), random.randint(least, max(least, nodes - 1))))
    chosen = random.sample(range(nodes), dish.named)
    if random.random() < 0.4:
        chosen[0] = COORDINATOR
    return tuple(chosen)
