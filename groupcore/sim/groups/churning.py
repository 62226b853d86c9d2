"""Drawing a schedule in which strict groups fuse, part and fuse again all the time.

What makes strict groups hard is that who must share a sequencer changes with who is in them. Here
few processes are in few groups, and nearly everything that happens is such a change: a process
leaves and joins again, observes and becomes a member, gives up what it has asked for and asks
again; two processes make a link; one breaks it; a component moves. Members send before, during and
behind it. One node mostly hears late of what is ordered, and frames are slow on some ways, so that
nodes decide by different places of the order at the same moment.

In many schedules a stage is set beside: the node that hears late sequences a group whose former
member, which has gone into a group of another sequencer, enters it again and links the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from random import Random

from groupcore.sequencing.names import Order
from groupcore.sim.clock import MILLISECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.drawing import FORMED_NS
from groupcore.sim.groups.lateness import LATE_ORDER
from groupcore.sim.groups.scenario import (
    GIVE_UP,
    JOIN,
    LEAVE,
    MOVE,
    OBSERVE,
    SEND,
    Act,
    GroupScenario,
)
from groupcore.sim.groups.tightness import draw_points
from groupcore.sim.menu import Dish, draw_faults
from groupcore.sim.randomness import stream
from groupcore.sim.scenario import draw_scenario

NODE_WEIGHTS = {3: 6, 4: 2, 5: 1}
BUSY_NS = (1_000 * MILLISECOND, 3_000 * MILLISECOND)
"""Shortest and longest time in which groups are churned."""
LATE = 0.85
"""Share of the schedules in which a node hears of the order late."""
TROUBLED = 0.5
"""Share of the schedules with other faults than slow ways and late nodes."""
SLOW_WAYS = 0.7
"""Share of the schedules in which frames are late on some ways."""
STAGED = 0.7
"""Share of the schedules with three strict groups in which a late sequencer is asked to link."""
TROUBLED_STAGE = 0.3
"""Share of these in which other things go wrong as well."""
SCENE_NS = 700 * MILLISECOND
"""From one such request to the next."""
SET_UP_NS = 1_000 * MILLISECOND
"""Before the first one: groups and members come into place, where nodes begin late, too."""

CHURN_MENU = (
    Dish("crash", 1, 20, 1_500),
    Dish("pause", 1, 20, 800, weight=1.5),
    Dish("slow", 1, 100, 1_500, factors=(20, 100)),
    Dish("link", 2, 50, 1_500, manners=("stop", "jam", "slow")),
    Dish("one-way", 2, 50, 1_500, manners=("stop", "jam", "slow"), weight=1.5),
    Dish("isolate", 1, 100, 2_000, manners=("stop", "jam")),
    Dish("storm", 0, 50, 800, factors=(20, 50)),
    Dish("leave", 1, 100, 1_500, weight=0.5),
    Dish("filter", 1, 100, 1_500, weight=0.5),
    Dish("forger", 0, 200, 2_000, factors=(5, 20)),
)
"""What else goes wrong: short, and mostly only lateness."""

Knot = Callable[["_Churner", int], None]
"""Draws one change of who is in what, from that moment on."""


class _Churner:
    """What the processes of a schedule do, drawn one knot after the other."""

    def __init__(self, random: Random, scenario: GroupScenario) -> None:
        self.random = random
        self.scenario = scenario
        self.groups = len(scenario.orders)
        self.seats = [
            (node, slot) for node in range(scenario.nodes) for slot in range(scenario.slots)
        ]
        self.members: set[tuple[tuple[int, int], int]] = set()
        self.acts: list[Act] = []

    def add(self, at_ns: int, kind: str, seat: tuple[int, int], *groups: int) -> None:
        """An act of the process in a seat."""
        last_ns = self.scenario.safety_ns
        self.acts.append(Act(max(FORMED_NS, min(at_ns, last_ns)), kind, *seat, groups))

    def soon(self, at_ns: int) -> int:
        """A moment behind this one: at once, or when something of it may be on its way."""
        return at_ns + self.random.choice((0, 1, 3, 10, 30, 80)) * MILLISECOND

    def membership(self) -> None:
        """Who is in what from the beginning: mostly two groups have one process in common."""
        for seat in self.seats:
            for group in range(self.groups):
                if self.random.random() < 0.45:
                    self.members.add((seat, group))
        for seat, group in sorted(self.members):
            at_ns = FORMED_NS + self.random.randint(0, 60) * MILLISECOND
            self.add(at_ns, JOIN, seat, group)

    def spread(self) -> None:
        """Groups are at several nodes when it begins, wherever they were made."""
        for group in range(self.groups):
            by, target = (self.random.randrange(self.scenario.nodes) for _ in range(2))
            at_ns = FORMED_NS + self.random.randint(30, 90) * MILLISECOND
            self.acts.append(Act(at_ns, MOVE, by, groups=(group,), target=target))

    def moment(self) -> int:
        """Mostly while a node hears late of the order."""
        late = [fault for fault in self.scenario.faults if fault.kind == LATE_ORDER]
        first_ns = FORMED_NS + 120 * MILLISECOND
        if late and self.random.random() < 0.7:
            fault = self.random.choice(late)
            at_ns = fault.at_ns + self.random.randint(0, fault.duration_ns)
            return max(first_ns, min(at_ns, self.scenario.safety_ns))
        return self.random.randint(first_ns, self.scenario.safety_ns)

    def tie(self) -> None:
        """One knot, and what is said and moved around it."""
        at_ns = self.moment()
        self.random.choice(KNOTS)(self, at_ns)
        self.send(at_ns)
        if self.random.random() < 0.3:
            self.move(at_ns + self.random.randint(-30, 60) * MILLISECOND)

    def in_order(self) -> tuple[Act, ...]:
        """What the processes do, as it comes."""
        return tuple(sorted(self.acts, key=lambda act: act.at_ns))

    def member(self) -> tuple[tuple[int, int], int]:
        """Somebody who is in a group, as far as the schedule says."""
        if not self.members:
            return self.random.choice(self.seats), self.random.randrange(self.groups)
        return self.random.choice(sorted(self.members))

    def enter(self, at_ns: int, seat: tuple[int, int], group: int) -> None:
        """Somebody joins."""
        self.members.add((seat, group))
        self.add(at_ns, JOIN, seat, group)

    def shared_with(self, seat: tuple[int, int], group: int) -> int:
        """Another group, mostly one in which somebody else of this group is, and not the seat."""
        fellows = {one for one, inside in self.members if inside == group and one != seat}
        linking = {
            other
            for one, other in self.members
            if one in fellows and other != group and (seat, other) not in self.members
        }
        if linking and self.random.random() < 0.8:
            return self.random.choice(sorted(linking))
        return self.random.randrange(self.groups)

    def part(self, at_ns: int, seat: tuple[int, int], group: int) -> None:
        """Somebody leaves."""
        self.members.discard((seat, group))
        self.add(at_ns, LEAVE, seat, group)

    def send(self, at_ns: int) -> None:
        """Members send to groups, mostly to several nearly at once; some are answered."""
        for _ in range(self.random.randint(1, 4)):
            seat, group = self.member()
            sizes = tuple(
                self.random.randint(40, 120) for _ in range(self.random.choice((1, 1, 3)))
            )
            depth = self.random.choice((0, 0, 1, 2))
            near_ns = at_ns + self.random.randint(-10, 60) * MILLISECOND
            near_ns = max(FORMED_NS, min(near_ns, self.scenario.safety_ns))
            self.acts.append(Act(near_ns, SEND, *seat, (group,), sizes, depth))

    def move(self, at_ns: int) -> None:
        """Somebody asks for a migration of one group, or of all that may have to go together."""
        count = self.random.choice((1, 1, 2, self.groups))
        groups = tuple(sorted(self.random.sample(range(self.groups), min(count, self.groups))))
        by, target = (self.random.randrange(self.scenario.nodes) for _ in range(2))
        at_ns = max(FORMED_NS, min(at_ns, self.scenario.safety_ns))
        self.acts.append(Act(at_ns, MOVE, by, groups=groups, target=target))


class _Stage:
    """A strict group whose sequencer hears late, and a process whose next entry there links it.

    `late` sequences `group` and `beside`, which have two processes in common, `fellow` and another
    one; so `far`, that another node has and in which `fellow` is, too, is what has to move when
    `guest` is in `group` and `far`.
    """

    def __init__(self, churner: _Churner) -> None:
        self.churner = churner
        random, nodes = churner.random, churner.scenario.nodes
        self.random = random
        self.late, self.away = random.sample(range(nodes), 2)
        self.group, self.beside, self.far = random.sample(range(3), 3)
        self.guest = random.choice([seat for seat in churner.seats if seat[0] != self.late])
        fellows = [seat for seat in churner.seats if seat != self.guest]
        self.fellow, self.third = random.sample(fellows, 2)

    def set_up(self) -> None:
        """Who is in what, and which node has what, at first."""
        churner = self.churner
        enters = OBSERVE if self.random.random() < 0.3 else JOIN
        for seat, group, kind in (
            (self.guest, self.group, enters),
            (self.fellow, self.group, JOIN),
            (self.fellow, self.beside, JOIN),
            (self.fellow, self.far, JOIN),
            (self.third, self.group, JOIN),
            (self.third, self.beside, JOIN),
        ):
            churner.members.add((seat, group))
            churner.add(FORMED_NS + self.random.randint(0, 60) * MILLISECOND, kind, seat, group)
        for at_ms in (100, 400, 700):
            self._place(FORMED_NS + at_ms * MILLISECOND)

    def _place(self, at_ns: int) -> None:
        """The guest is out of the far group, which goes away from the late node's."""
        churner = self.churner
        churner.part(at_ns, self.guest, self.far)
        for groups, target in (((self.group, self.beside), self.late), ((self.far,), self.away)):
            near_ns = at_ns + self.random.randint(50, 100) * MILLISECOND
            by = self.random.randrange(churner.scenario.nodes)
            churner.acts.append(Act(near_ns, MOVE, by, groups=tuple(sorted(groups)), target=target))

    def scenes(self) -> tuple[Fault, ...]:
        """The guest's next entries, one after the other, and the faults that go with each."""
        faults: list[Fault] = []
        at_ns = FORMED_NS + SET_UP_NS
        while at_ns + SCENE_NS <= self.churner.scenario.safety_ns:
            faults += self._scene(at_ns)
            at_ns += SCENE_NS
        return tuple(faults)

    def _scene(self, at_ns: int) -> list[Fault]:
        """The guest leaves, goes far, and enters again, while the late node hears of nothing."""
        churner, random = self.churner, self.random
        delay_ms = random.choice((150, 200, 300))
        faults = [Fault(at_ns, LATE_ORDER, (self.late,), 250 * MILLISECOND, delay_ms)]
        if random.random() < 0.5 and self.guest[0] != self.away:
            ends, slow_ms = (self.away, self.guest[0]), random.choice((5, 20, 60))
            faults.append(
                Fault(at_ns, "one-way", ends, 300 * MILLISECOND, slow_ms, "slow"),
            )
        now_ns = at_ns + random.randint(5, 30) * MILLISECOND
        churner.part(now_ns, self.guest, self.group)
        now_ns += random.randint(5, 40) * MILLISECOND
        churner.enter(now_ns, self.guest, self.far)
        now_ns += random.randint(30, 80) * MILLISECOND
        churner.enter(now_ns, self.guest, self.group)
        if random.random() < 0.2:
            churner.add(churner.soon(now_ns), GIVE_UP, self.guest, self.group)
        until_ns = now_ns + delay_ms * MILLISECOND
        while now_ns < until_ns:
            seat = random.choice((self.guest, self.fellow, self.third))
            group = random.choice((self.group, self.group, self.far, self.beside))
            churner.acts.append(Act(now_ns, SEND, *seat, (group,), (40,)))
            now_ns += random.randint(2, 15) * MILLISECOND
        self._place(at_ns + 450 * MILLISECOND)
        return faults


def _rejoin(churner: _Churner, at_ns: int) -> None:
    """A process leaves, mostly goes into another group, and joins again."""
    seat, group = churner.member()
    churner.part(at_ns, seat, group)
    if churner.random.random() < 0.7:
        other = churner.shared_with(seat, group)
        if other != group:
            churner.enter(at_ns := churner.soon(at_ns), seat, other)
    churner.enter(churner.soon(at_ns), seat, group)


def _promote(churner: _Churner, at_ns: int) -> None:
    """A process observes, mostly goes into another group, and is a member soon behind that."""
    seat, group = churner.random.choice(churner.seats), churner.random.randrange(churner.groups)
    churner.members.discard((seat, group))
    churner.add(at_ns, OBSERVE, seat, group)
    at_ns = churner.soon(at_ns)
    other = churner.shared_with(seat, group)
    if other != group:
        churner.enter(at_ns := churner.soon(at_ns), seat, other)
    churner.enter(churner.soon(at_ns), seat, group)


def _demote(churner: _Churner, at_ns: int) -> None:
    """A member observes for a while."""
    seat, group = churner.member()
    churner.add(at_ns, OBSERVE, seat, group)
    churner.enter(churner.soon(churner.soon(at_ns)), seat, group)


def _ask_again(churner: _Churner, at_ns: int) -> None:
    """A process asks, gives up, and asks again; now and then twice."""
    seat, group = churner.random.choice(churner.seats), churner.random.randrange(churner.groups)
    churner.enter(at_ns, seat, group)
    for _ in range(churner.random.choice((1, 1, 2))):
        at_ns = churner.soon(at_ns)
        churner.add(at_ns, GIVE_UP, seat, group)


def _fuse(churner: _Churner, at_ns: int) -> None:
    """Two processes are in the same two groups, from nearly the same moment on."""
    one, other = churner.random.sample(range(churner.groups), 2)
    for seat in churner.random.sample(churner.seats, 2):
        for group in (one, other):
            if (seat, group) not in churner.members:
                churner.enter(churner.soon(at_ns), seat, group)


def _part(churner: _Churner, at_ns: int) -> None:
    """Somebody leaves for a while."""
    seat, group = churner.member()
    churner.part(at_ns, seat, group)


KNOTS: tuple[Knot, ...] = (_rejoin, _rejoin, _promote, _demote, _ask_again, _fuse, _part)
"""The kinds of changes; who leaves and joins again comes most."""


def draw_strict_churn(seed: int) -> GroupScenario:
    """The schedule of a seed for strict groups that are churned, in memory."""
    drawn = draw_scenario(seed, NODE_WEIGHTS)
    random = stream(seed, "churn")
    base = {field.name: getattr(drawn, field.name) for field in fields(drawn)}
    safety_ns = FORMED_NS + random.randint(*BUSY_NS)
    count = random.choice((2, 3, 3, 4))
    orders = [Order.STRICT] * count
    if count > 2 and random.random() < 0.3:
        orders[-1] = random.choice((Order.CAUSALLY_TOTAL, Order.FIFO))
    scenario = GroupScenario(
        **base,
        orders=tuple(map(int, orders)),
        slots=random.choice((1, 1, 2)),
        shape="churn",
        k=random.choice((0, 1, 1)),
        points=draw_points(stream(seed, "service-options")),
    )
    scenario = replace(
        scenario,
        safety_ns=safety_ns,
        sends=(),
        state_chunk_bytes=0,
        state_trouble=0.0,
        faults=_draw_faults(seed, scenario.nodes, safety_ns),
    )
    staging = stream(seed, "churn-stage")
    if scenario.orders[:3] == (Order.STRICT,) * 3 and staging.random() < STAGED:
        return _draw_staged(staging, scenario)
    churner = _Churner(random, scenario)
    churner.membership()
    churner.spread()
    for _ in range(random.randint(4, 14)):
        churner.tie()
    return replace(scenario, acts=churner.in_order())


def _draw_staged(random: Random, scenario: GroupScenario) -> GroupScenario:
    """The schedule with a stage: mostly no other fault, and few other changes of who is where."""
    scenes = random.choice((1, 1, 2, 3))
    safety_ns = FORMED_NS + SET_UP_NS + scenes * SCENE_NS
    others = tuple(fault for fault in scenario.faults if fault.kind != LATE_ORDER)
    scenario = replace(
        scenario,
        safety_ns=safety_ns,
        faults=others if random.random() < TROUBLED_STAGE else (),
    )
    churner = _Churner(random, scenario)
    stage = _Stage(churner)
    stage.set_up()
    faults = (*scenario.faults, *stage.scenes())
    for _ in range(random.choice((0, 0, 1, 3))):
        churner.tie()
    in_order = sorted(faults, key=lambda fault: (fault.at_ns, fault.kind, fault.nodes))
    return replace(scenario, faults=tuple(in_order), acts=churner.in_order())


def _draw_faults(seed: int, nodes: int, safety_ns: int) -> tuple[Fault, ...]:
    """Late nodes and slow ways; in a part of the schedules what else may happen."""
    random = stream(seed, "churn-faults")
    faults: list[Fault] = []
    if random.random() < TROUBLED:
        faults += draw_faults(stream(seed, "faults"), nodes, safety_ns, CHURN_MENU)

    def moment() -> tuple[int, int]:
        at_ns = random.randint(FORMED_NS, safety_ns)
        return at_ns, random.choice((100, 400, 1_500)) * MILLISECOND

    if random.random() < LATE:
        late = random.randrange(nodes)
        for _ in range(random.choice((1, 2, 4))):
            at_ns, lasts_ns = moment()
            delay_ms = random.choice((20, 60, 200, 200, 600))
            faults.append(Fault(at_ns, LATE_ORDER, (late,), lasts_ns, delay_ms))
    if random.random() < SLOW_WAYS:
        for _ in range(random.choice((1, 2, 3))):
            at_ns, lasts_ns = moment()
            ends = tuple(random.sample(range(nodes), 2))
            delay_ms = random.choice((5, 20, 60, 200))
            faults.append(Fault(at_ns, "one-way", ends, lasts_ns, delay_ms, "slow"))
    return tuple(sorted(faults, key=lambda fault: (fault.at_ns, fault.kind, fault.nodes)))
