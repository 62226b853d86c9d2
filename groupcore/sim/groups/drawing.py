"""Drawing a schedule for the data plane from a seed: shapes of overlap, churn, chains, storms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from random import Random
from typing import TypeVar

from groupcore.sequencing.names import Order
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.insider import INSIDER
from groupcore.sim.groups.scenario import (
    CLOSE,
    DELETE,
    DRAIN,
    JOIN,
    LEAVE,
    MOVE,
    OBSERVE,
    REFILL,
    SEND,
    Act,
    GroupScenario,
)
from groupcore.sim.groups.tightness import draw_points
from groupcore.sim.menu import LOSES_DISK, MENU, SETS_CLOCK, Dish, draw_faults
from groupcore.sim.randomness import stream
from groupcore.sim.scenario import draw_scenario

NODE_WEIGHTS = {3: 6, 4: 2, 5: 3}
LOSES_MEMORY = frozenset({"crash-all", "leave-all", "disk-error", "wipe", "damage"})
"""Faults that are left out: groups are in memory only, and these spare nobody's."""
GROUPS_MENU = tuple(dish for dish in MENU if dish.kind not in LOSES_MEMORY)
LOST_DISKS = 0.3
"""Share of the schedules with logs in which a disk is lost around a power cut."""
STAGGERED = 0.7
"""Share of the schedules with logs and five nodes in which two come back late from power cuts."""
DELETED = 0.35
"""Share of the schedules in which groups are deleted."""
BETRAYED = 0.2
"""Share of the schedules in which a member says wrong things."""
OBSERVED = 0.4
"""Share of the schedules with strict groups in which some are observed."""
FORMED_NS = 700 * MILLISECOND
"""From then on processes join; the first view is there by then, if nothing hinders it."""

Pair = tuple[int, int]
"""A process of the schedule, by number from 0 over all nodes, and a group."""


def chain(random: Random, processes: int, groups: int) -> set[Pair]:
    """Each group shares some processes with the next: one, or two of them (strongly)."""
    members: set[Pair] = set()
    for group in range(groups):
        for _ in range(random.choice((1, 2, 2))):
            process = random.randrange(processes)
            members |= {(process, group), (process, (group + 1) % groups)}
    return members


def star(random: Random, processes: int, groups: int) -> set[Pair]:
    """All are in the first group; each other group is a part of it."""
    members = {(process, 0) for process in range(processes)}
    for group in range(1, groups):
        for process in random.sample(range(processes), random.randint(1, min(3, processes))):
            members.add((process, group))
    return members


def clique(random: Random, processes: int, groups: int) -> set[Pair]:
    """Nearly all are in nearly all."""
    return {
        (process, group)
        for process in range(processes)
        for group in range(groups)
        if random.random() < 0.85
    }


def scattered(random: Random, processes: int, groups: int) -> set[Pair]:
    """Each process is in some groups."""
    share = random.uniform(0.1, 0.5)
    return {
        (process, group)
        for process in range(processes)
        for group in range(groups)
        if random.random() < share
    }


@dataclass(frozen=True, slots=True)
class Shape:
    """A way of overlapping, for so many groups at least and at most."""

    members: Callable[[Random, int, int], set[Pair]]
    fewest: int
    most: int


SHAPES = {
    "chain": Shape(chain, 3, 12),
    "star": Shape(star, 3, 16),
    "clique": Shape(clique, 3, 6),
    "random": Shape(scattered, 3, 30),
}


class _Drawer:
    """What a schedule's processes do, drawn one kind after the other."""

    def __init__(self, random: Random, scenario: GroupScenario, members: set[Pair]) -> None:
        self.random = random
        self.scenario = scenario
        self.members = members
        self.processes = scenario.nodes * scenario.slots
        self.groups = len(scenario.orders)
        self.last_ns = scenario.safety_ns
        self.acts: list[Act] = []

    def moment(self) -> int:
        """Any time, often around a fault."""
        faults = self.scenario.faults
        if faults and self.random.random() < 0.4:
            around_ns = self.random.randint(-30 * MILLISECOND, 400 * MILLISECOND)
            at_ns = self.random.choice(faults).at_ns + around_ns
        else:
            at_ns = self.random.randint(FORMED_NS, self.last_ns)
        return max(FORMED_NS, min(at_ns, self.last_ns))

    def add(self, at_ns: int, kind: str, process: int, *groups: int) -> None:
        """An act of a process."""
        node, slot = divmod(process, self.scenario.slots)
        self.acts.append(Act(at_ns, kind, node, slot, groups))

    def membership(self) -> None:
        """Who is in what from the beginning, most of them nearly at once."""
        spread_ns = self.random.choice((1, 100, 600)) * MILLISECOND
        for process, group in sorted(self.members):
            self.add(FORMED_NS + self.random.randint(0, spread_ns), JOIN, process, group)

    def churn(self) -> None:
        """Up to twenty changes a second."""
        rate = self.random.choice((0, 0, 0.5, 2, 5, 20))
        begin_ns = self.random.randint(FORMED_NS, self.last_ns)
        end_ns = self.random.randint(begin_ns, self.last_ns)
        members = set(self.members)
        number = int(rate * (end_ns - begin_ns) / SECOND)
        for at_ns in sorted(self.random.randint(begin_ns, end_ns) for _ in range(number)):
            process, group = (
                self.random.randrange(self.processes),
                self.random.randrange(self.groups),
            )
            if self.random.random() < 0.05:
                self.add(at_ns, CLOSE, process)
            elif (process, group) in members:
                members.remove((process, group))
                self.add(at_ns, LEAVE, process, group)
            else:
                members.add((process, group))
                self.add(at_ns, JOIN, process, group)

    def sends(self) -> None:
        """Members send, and now and then somebody who is none; some are answered."""
        number = int(8 * 6 ** self.random.random())  # 8 to 48
        burst_max = self.random.choice((1, 2, 6))
        open_share = self.random.choice((0.0, 0.1, 0.4))
        deep = self.random.choice((0, 1, 2, 4))
        large = self.random.choice((0.0, 0.0, 0.05))
        pairs = sorted(self.members)
        for _ in range(number):
            process, group = self.random.choice(pairs)
            if self.random.random() < open_share:
                process = self.random.randrange(self.processes)
            sizes = tuple(
                20_000 if self.random.random() < large else self.random.randint(40, 200)
                for _ in range(self.random.randint(1, burst_max))
            )
            depth = self.random.randint(0, deep)
            node, slot = divmod(process, self.scenario.slots)
            self.acts.append(Act(self.moment(), SEND, node, slot, (group,), sizes, depth))

    def moves(self) -> None:
        """A few forced moves, or a storm of twenty a second; a drain now and then."""
        draw = self.random
        for _ in range(draw.choice((0, 1, 2, 6))):
            self.move(self.moment())
        if draw.random() < 0.2:
            begin_ns = draw.randint(FORMED_NS, self.last_ns)
            for number in range(draw.randint(10, 40)):
                self.move(min(begin_ns + number * 50 * MILLISECOND, self.last_ns))
        if draw.random() < 0.2:
            node, at_ns = draw.randrange(self.scenario.nodes), self.moment()
            end_ns = min(at_ns + draw.randint(100, 2_000) * MILLISECOND, self.last_ns)
            by = draw.randrange(self.scenario.nodes)
            self.acts.append(Act(at_ns, DRAIN, by, target=node))
            self.acts.append(Act(end_ns, REFILL, by, target=node))

    def move(self, at_ns: int) -> None:
        """One move, asked for by any node."""
        count = min(self.random.choice((1, 1, 2, 4)), self.groups)
        groups = tuple(sorted(self.random.sample(range(self.groups), count)))
        by, target = (self.random.randrange(self.scenario.nodes) for _ in range(2))
        self.acts.append(Act(at_ns, MOVE, by, groups=groups, target=target))


def draw_sequencing(seed: int) -> GroupScenario:
    """The schedule of a seed for the data plane in memory; groups are deleted and observed, too."""
    return with_insider(with_observers(with_deletions(draw_groups(seed))))


Drawn = TypeVar("Drawn", bound=GroupScenario)


def with_insider(drawn: Drawn) -> Drawn:
    """The schedule, of some seeds with a member that says wrong things (`insider`)."""
    random = stream(drawn.seed, "insider")
    if random.random() >= BETRAYED:
        return drawn
    faults = list(drawn.faults)
    for _ in range(random.choice((1, 1, 2))):
        at_ns = random.randint(FORMED_NS, drawn.safety_ns)
        lasts_ns = random.randint(100, 3_000) * MILLISECOND
        node, every_ms = random.randrange(drawn.nodes), random.choice((10, 50, 200))
        faults.append(Fault(at_ns, INSIDER, (node,), lasts_ns, every_ms))
    return replace(drawn, faults=tuple(sorted(faults, key=lambda fault: fault.at_ns)))


def with_observers(drawn: GroupScenario) -> GroupScenario:
    """The schedule, of some seeds with processes that observe most strict groups (archivers, bots).

    What they do as members of these in the schedule as drawn they do as observers. Other members
    change to observing and back now and then. Who does what else, and when, stays as it was drawn.
    """
    random = stream(drawn.seed, "observers")
    strict = [group for group, order in enumerate(drawn.orders) if order == Order.STRICT]
    if not strict or random.random() >= OBSERVED:
        return drawn
    seats = [(node, slot) for node in range(drawn.nodes) for slot in range(drawn.slots)]
    watchers = random.sample(seats, min(random.choice((1, 2, 2, 3)), len(seats)))
    acts = []
    for act in drawn.acts:
        watches = (act.node, act.slot) in watchers and set(act.groups) <= set(strict)
        acts.append(replace(act, kind=OBSERVE) if act.kind == JOIN and watches else act)
    share = random.uniform(0.5, 1.0)
    for node, slot in watchers:
        observed = [group for group in strict if random.random() < share]
        at_ns = FORMED_NS + random.randint(0, SECOND)
        acts += [Act(at_ns, OBSERVE, node, slot, (group,)) for group in observed]
    places = [(act.node, act.slot, act.groups) for act in acts if act.kind == JOIN]
    strict_places = [place for place in places if set(place[2]) <= set(strict)]
    for _ in range(random.choice((0, 0, 1, 3, 8)) if strict_places else 0):
        node, slot, groups = random.choice(strict_places)
        at_ns = random.randint(FORMED_NS, drawn.safety_ns)
        back_ns = at_ns + random.randint(0, 500) * MILLISECOND
        acts.append(Act(at_ns, OBSERVE, node, slot, groups))
        acts.append(Act(min(back_ns, drawn.safety_ns), JOIN, node, slot, groups))
    return replace(drawn, acts=tuple(sorted(acts, key=lambda act: act.at_ns)))


def with_deletions(drawn: GroupScenario) -> GroupScenario:
    """The schedule, of some seeds with groups that somebody deletes: often when they are busy.

    Who is in such a group makes it anew, under its name. Now and then two ask for it at once.
    """
    random = stream(drawn.seed, "unwanted")
    if random.random() >= DELETED:
        return drawn
    busy = [act for act in drawn.acts if act.kind in (JOIN, SEND, MOVE) and act.groups]
    acts = []
    for _ in range(random.choice((1, 1, 3, 8))):
        at_ns = random.randint(FORMED_NS, drawn.safety_ns)
        group = random.randrange(len(drawn.orders))
        if busy and random.random() < 0.7:
            near = random.choice(busy)
            at_ns = min(near.at_ns + random.randint(0, 30) * MILLISECOND, drawn.safety_ns)
            group = random.choice(near.groups)
        for node in random.sample(range(drawn.nodes), random.choice((1, 1, 1, 2))):
            acts.append(Act(at_ns, DELETE, node, groups=(group,)))
    return replace(drawn, acts=tuple(sorted((*drawn.acts, *acts), key=lambda act: act.at_ns)))


def draw_durable(seed: int) -> GroupScenario:
    """The schedule of a seed for the data plane with logs: the power is cut for all, disks fail."""
    drawn = draw_groups(seed, MENU)
    random = stream(seed, "power")
    sends = [act.at_ns for act in drawn.acts if act.kind == SEND]
    return with_insider(
        with_deletions(with_power_cuts(drawn, random, sends, random_cuts=(1, 1, 2)))
    )


def with_power_cuts(
    drawn: Drawn, random: Random, sends: Sequence[int], random_cuts: tuple[int, ...]
) -> Drawn:
    """The schedule with logs, and with one of these numbers of power cuts for all nodes.

    The power mostly while something that has just been sent is on its way to disks, which may be
    slow. A disk is lost now and then around that. Of five nodes often only three come back at once.
    """
    disk = replace(drawn.disk, fsync_mean_us=random.choice((800, 5_000, 20_000)))

    def cut() -> Fault:
        at_ns = random.randint(FORMED_NS, drawn.safety_ns)
        if sends and random.random() < 0.8:
            soon_ns = random.choice(sends) + random.randint(0, 30 * MILLISECOND)
            at_ns = min(soon_ns, drawn.safety_ns)  # behind that all faults have ended
        return Fault(at_ns, "crash-all", duration_ns=random.randint(10, 1_500) * MILLISECOND)

    cuts = [cut() for _ in range(random.choice(random_cuts))]
    added = [*cuts, *_staggered(drawn.seed, drawn.nodes, cuts)]
    kinds = {fault.kind for fault in drawn.faults}
    if added and random.random() < LOST_DISKS and not kinds & (LOSES_DISK | SETS_CLOCK):
        kind, node = random.choice(sorted(LOSES_DISK)), random.randrange(drawn.nodes)
        at_ns = max(FORMED_NS, added[0].at_ns + random.randint(-500, 500) * MILLISECOND)
        back_ns = random.randint(10, 1_000) * MILLISECOND
        added.append(Fault(min(at_ns, drawn.safety_ns), kind, (node,), back_ns))
    faults = sorted((*drawn.faults, *added), key=lambda fault: fault.at_ns)
    # More than a majority could not hold anything while a node that has lost its disk is rebuilt.
    k = min(drawn.k, drawn.nodes // 2)
    return replace(drawn, disk=disk, durable=True, k=k, faults=tuple(faults))


def _staggered(seed: int, nodes: int, cuts: list[Fault]) -> list[Fault]:
    """Two of five nodes are cut off when the power is, and for longer than the others wait."""
    random = stream(seed, "staggered")
    if nodes < 5 or random.random() >= STAGGERED:
        return []
    return [
        Fault(cut.at_ns, "isolate", (node,), cut.duration_ns + random.randint(2, 5) * SECOND)
        for cut in cuts
        for node in random.sample(range(nodes), 2)
    ]


def draw_groups(seed: int, menu: tuple[Dish, ...] = GROUPS_MENU) -> GroupScenario:
    """The schedule of a seed for the data plane, with faults from this menu."""
    drawn = draw_scenario(seed, NODE_WEIGHTS)
    random = stream(seed, "groups")
    shape = random.choice(sorted(SHAPES))
    slots = random.choice((1, 2, 2, 4))
    count = random.randint(SHAPES[shape].fewest, SHAPES[shape].most)
    base = {field.name: getattr(drawn, field.name) for field in fields(drawn)}
    scenario = GroupScenario(
        **base,
        orders=_draw_orders(random, count),
        slots=slots,
        shape=shape,
        k=random.choice((0, 1, 1, 1, 2)),
        points=draw_points(stream(seed, "service-options")),
    )
    faults: tuple[Fault, ...] = ()
    if random.random() < 0.85:
        faults = draw_faults(stream(seed, "faults"), drawn.nodes, drawn.safety_ns, menu)
    scenario = replace(scenario, sends=(), faults=faults, state_chunk_bytes=0, state_trouble=0.0)
    members = SHAPES[shape].members(random, drawn.nodes * slots, count) or {(0, 0)}
    drawer = _Drawer(random, scenario, members)
    drawer.membership()
    drawer.churn()
    drawer.sends()
    drawer.moves()
    return replace(scenario, acts=tuple(sorted(drawer.acts, key=lambda act: act.at_ns)))


def _draw_orders(random: Random, count: int) -> tuple[int, ...]:
    """One for each group: of one kind, or of all."""
    kinds = random.choice(
        (
            (Order.CAUSALLY_TOTAL,),
            (Order.STRICT,),
            (Order.CAUSALLY_TOTAL, Order.CAUSALLY_TOTAL, Order.STRICT, Order.FIFO),
            (Order.CAUSALLY_TOTAL, Order.STRICT, Order.FIFO, Order.VOLATILE),
        )
    )
    return tuple(int(random.choice(kinds)) for _ in range(count))
