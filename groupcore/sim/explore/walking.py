"""Random walks through clusters that are too large to be explored whole, with one node late.

Idea. Who is in what, what is done and in which order groups are is drawn; then one step after the
other is taken by chance, of those that the exhaustive search would take all. A node that was drawn
takes the control plane's order seldom, and some links deliver seldom, so that nodes act on
different places of the order for long: what a timed schedule brings about for milliseconds lasts
here for most of a walk. A walk's number and the seed say all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random

from groupcore.sequencing.names import Order
from groupcore.sim.checkers import Violation
from groupcore.sim.explore.group_scopes import GroupAction, GroupScope
from groupcore.sim.explore.group_steps import GroupWorld
from groupcore.sim.explore.steps import Step
from groupcore.sim.explore.world import Budget, Link
from groupcore.sim.randomness import derive

STEPS_MAX = 4_000
"""More steps than any walk takes that comes to its end."""
SELDOM = 0.01
"""How often what is late comes, compared with what is not."""
REDRAWN = 0.005
"""How often, by step, somebody else becomes late."""
KINDS = ("join", "join", "join", "leave", "leave", "observe", "send", "send", "send", "move")
ORDERS = (Order.STRICT, Order.STRICT, Order.STRICT, Order.STRICT, Order.CAUSALLY_TOTAL)
WEIGHTS = {"deliver": 1.0, "take": 2.0, "agree": 2.0, "do": 0.25, "lose": 0.02, "crash": 0.02}
"""How often a step of a kind is taken; all others as often as a delivery."""


@dataclass(frozen=True)
class Walk:
    """What became of a walk: its scope, the steps that were taken, and what is wrong."""

    scope: GroupScope
    steps: list[Step] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)


def draw_scope(random: Random, name: str) -> tuple[GroupScope, frozenset[int]]:
    """Groups, who is in them, what is done; and who hears late at first."""
    draw = random.choice((_draw_link, _draw_link, _draw_deletion, _draw_anything))
    return draw(random, name)


def _draw_anything(random: Random, name: str) -> tuple[GroupScope, frozenset[int]]:
    nodes, groups = random.choice((3, 3, 4)), random.choice((2, 3, 3, 4))
    members = tuple(
        tuple(node for node in range(nodes) if random.random() < 0.6) or (random.randrange(nodes),)
        for _ in range(groups)
    )
    crashes = int(random.random() < 0.15)  # and no loss: what is lost comes again by time alone
    losses = int(not crashes and random.random() < 0.3)
    script = _actions(random, nodes, groups, random.randint(5, 14))
    for _ in range(random.choice((0, 0, 0, 1))):
        by = GroupAction("delete", random.randrange(nodes), (random.randrange(groups),))
        script.insert(random.randrange(len(script)), by)
    scope = GroupScope(
        name,
        "drawn",
        tuple(random.randrange(nodes) for _ in range(groups)),
        tuple(script),
        Budget(losses=losses, crashes=crashes),
        tuple(range(nodes)),
        members,
        tuple(random.choice(ORDERS) for _ in range(groups)),
        tuple(tuple(one for one in inside if random.random() < 0.15) for inside in members),
        nodes=nodes,
    )
    return scope, frozenset({random.randrange(nodes)})


def _draw_link(random: Random, name: str) -> tuple[GroupScope, frozenset[int]]:
    """Somebody enters a strict group by which three become one component, while it is late.

    `late` sequences two groups that go together; `guest` is in one of them or was, comes to the
    third, which `far` sequences, and enters the first again.
    """
    nodes = random.choice((3, 3, 4))
    far, late, guest = random.sample(range(nodes), 3)
    first, beside, third = random.sample(range(3), 3)
    inside, enters = random.random() < 0.7, random.random()
    members: dict[int, set[int]] = {first: {far, late}, beside: {far, late}, third: {late}}
    members[first] |= {guest} if inside else set()
    steps = [GroupAction("leave", guest, (first,))] if inside or enters < 0.5 else []
    if not inside and steps:
        steps.insert(0, GroupAction("join", guest, (first,)))
    steps += [GroupAction("join", guest, (third,)), GroupAction("join", guest, (first,))]
    script = [replace(one, after=(at - 1,) if at else ()) for at, one in enumerate(steps)]
    script += [
        GroupAction("send", random.choice((far, late, guest)), (random.choice((first, third)),))
        for _ in range(random.randint(2, 5))
    ]
    script += _actions(random, nodes, 3, random.choice((0, 0, 1, 3)))
    owners = {first: late, beside: late, third: far}
    observes = (guest,) if inside and enters < 0.3 else ()
    scope = GroupScope(
        name,
        "drawn",
        tuple(owners[group] for group in range(3)),
        tuple(script),
        members=tuple(tuple(sorted(members[group])) for group in range(3)),
        orders=(Order.STRICT,) * 3,
        observers=tuple(observes if group == first else () for group in range(3)),
        nodes=nodes,
    )
    return scope, frozenset({late})


def _draw_deletion(random: Random, name: str) -> tuple[GroupScope, frozenset[int]]:
    """A group is deleted of which its sequencer, and somebody else, does not hear."""
    nodes = 3
    sender, late, other = random.sample(range(nodes), 3)
    script = [
        GroupAction("send", sender, (0,)),
        GroupAction("delete", random.choice((sender, other)), (0,)),
        GroupAction("send", sender, (1,)),
        *_actions(random, nodes, 2, random.randint(0, 5)),
    ]
    orders = tuple(random.choice(ORDERS) for _ in range(2))
    members = (tuple(range(nodes)),) * 2
    owners = (late, random.choice((sender, other)))
    scope = GroupScope(name, "drawn", owners, tuple(script), members=members, orders=orders)
    return scope, frozenset({late, random.choice((late, other))})


def _actions(random: Random, nodes: int, groups: int, count: int) -> list[GroupAction]:
    return [_draw_action(random, nodes, groups) for _ in range(count)]


def _draw_action(random: Random, nodes: int, groups: int) -> GroupAction:
    kind, node = random.choice(KINDS), random.randrange(nodes)
    if kind != "move":
        return GroupAction(kind, node, (random.randrange(groups),))
    moved = random.choice(list(combinations(range(groups), random.choice((1, 1, 2)))))
    return GroupAction(kind, node, moved, random.randrange(nodes))


class Walker:
    """Chooses the next step; who is late and what is slow is drawn anew now and then."""

    def __init__(self, random: Random, nodes: int, late: frozenset[int]) -> None:
        self._random = random
        self._nodes = nodes
        self._late = late
        self._slow = self._draw_slow()

    def choose(self, steps: list[Step]) -> Step:
        """One of these, by weight."""
        if self._random.random() < REDRAWN:
            self._late = frozenset({self._random.randrange(self._nodes)})
            self._slow = self._draw_slow()
        return self._random.choices(steps, [self._weight(step) for step in steps])[0]

    def _draw_slow(self) -> frozenset[Link]:
        links = [(a, b) for a in range(self._nodes) for b in range(self._nodes) if a != b]
        return frozenset(self._random.sample(links, self._random.choice((0, 1, 1, 2))))

    def _weight(self, step: Step) -> float:
        weight = WEIGHTS.get(step.kind, 1.0)
        if step.kind == "take" and step.node in self._late:
            return weight * SELDOM
        if step.kind == "deliver" and step.link in self._slow:
            return weight * SELDOM
        return weight


def walk(scope: GroupScope, late: frozenset[int], random: Random) -> Walk:
    """Take steps until nothing more can happen, and judge what has; nothing raises."""
    world, walker = GroupWorld(scope, in_place=True), Walker(random, scope.nodes, late)
    state, done = world.begin(), Walk(scope)
    while len(done.steps) < STEPS_MAX:
        steps = world.steps(state)
        if not any(step.kind not in ("lose", "crash") for step in steps):
            break
        step = walker.choose(steps)
        done.steps.append(step)
        try:
            state, _ = world.apply(state, step)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            done.violations.append(Violation(0, "exception", state.moment, (), (), text))
            return done
    if not world.is_settled(state) and (state.stuck or len(done.steps) >= STEPS_MAX):
        text = "a quorum runs, and it comes to no end"
        done.violations.append(Violation(25, "stuck", state.moment, (), (), text))
    done.violations.extend(world.judge(state))
    return done


def walks(seed: int, count: int, first: int = 0) -> Iterator[tuple[int, Walk]]:
    """So many walks from the number `first` on."""
    for number in range(first, first + count):
        random = Random(derive(seed, "walk", number))
        scope, late = draw_scope(random, f"walk-{number}")
        yield number, walk(scope, late, random)
