"""Drawing a schedule of people who write a document."""

from __future__ import annotations

from dataclasses import fields
from random import Random

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.documents import scenario as deeds
from groupcore.sim.documents.scenario import Deed, DocumentScenario
from groupcore.sim.fault import Fault
from groupcore.sim.groups.drawing import FORMED_NS, with_power_cuts
from groupcore.sim.groups.scenario import DRAIN, MOVE, REFILL, Act
from groupcore.sim.groups.tightness import draw_points
from groupcore.sim.menu import MENU, draw_faults
from groupcore.sim.randomness import stream
from groupcore.sim.scenario import draw_scenario

NODE_WEIGHTS = {2: 1, 3: 8, 4: 1, 5: 1}
LONGEST_NS = 6 * SECOND
KINDS = {
    deeds.TYPE: 8,
    deeds.LATE: 5,
    deeds.ERASE: 2,
    deeds.UNDO: 2,
    deeds.SPLIT: 6,
    deeds.JOIN: 6,
    deeds.INSERT: 3,
    deeds.REMOVE: 1,
    deeds.MOVE: 1,
    deeds.SET: 1,
    deeds.RENAME: 1,
    deeds.GO: 3,
    deeds.LEAVE: 1,
}
"""How often what is done, in proportion."""
HURRIES = (1, 30, 200)
"""Milliseconds within which the deeds of one hurry come."""


def draw_documents(seed: int) -> DocumentScenario:
    """The schedule of a seed."""
    drawn = draw_scenario(seed, NODE_WEIGHTS)
    random = stream(seed, "documents")
    base = {field.name: getattr(drawn, field.name) for field in fields(drawn)}
    safety_ns = min(drawn.safety_ns, LONGEST_NS)
    faults: tuple[Fault, ...] = ()
    if random.random() < 0.7:
        faults = draw_faults(stream(seed, "faults"), drawn.nodes, safety_ns, MENU)
    base |= {
        "sends": (),
        "faults": faults,
        "safety_ns": safety_ns,
        "starts_ns": tuple(min(start, safety_ns // 2) for start in drawn.starts_ns),
        "state_chunk_bytes": 0,
        "state_trouble": 0.0,
    }
    people = random.randint(1, 4)
    scenario = DocumentScenario(
        **base,
        shape="document",
        k=random.choice((0, 1, 1, 1)),
        points=draw_points(stream(seed, "service-options")),
        people=people,
        deeds=_draw_deeds(random, people, drawn.nodes, safety_ns),
        acts=draw_acts(random, drawn.nodes, safety_ns),
    )
    moments = [deed.at_ns for deed in scenario.deeds]
    return with_power_cuts(scenario, stream(seed, "power"), moments, random_cuts=(0, 0, 1, 1, 2))


def _draw_deeds(random: Random, people: int, nodes: int, safety_ns: int) -> tuple[Deed, ...]:
    """Some blocks first; then hurries, in which several do something at nearly the same time."""
    drawn = [
        Deed(FORMED_NS + number * MILLISECOND, 0, deeds.INSERT, (0.0, random.random(), 0.0))
        for number in range(random.randint(1, 3))
    ]
    kinds, weights = list(KINDS), list(KINDS.values())
    for _ in range(random.randint(4, 14)):
        begin_ns = random.randint(FORMED_NS, safety_ns)
        spread_ns = random.choice(HURRIES) * MILLISECOND
        near = random.random()
        person = random.randrange(people)
        if random.random() < 0.3:  # what it has just asked for it will ask again elsewhere
            left_ns = min(begin_ns + random.choice((0, 1, 5)) * MILLISECOND, safety_ns)
            drawn.append(Deed(begin_ns, person, deeds.TYPE, (near, 0.5, 0.5)))
            drawn.append(Deed(left_ns, person, deeds.GO, node=random.randrange(nodes)))
        for _ in range(random.randint(1, 5)):
            where = near if random.random() < 0.5 else random.random()
            draws = (where, random.random(), random.random())
            at_ns = min(begin_ns + random.randint(0, spread_ns), safety_ns)
            kind = random.choices(kinds, weights)[0]
            person, node = random.randrange(people), random.randrange(nodes)
            drawn.append(Deed(at_ns, person, kind, draws, node))
    return tuple(sorted(drawn, key=lambda deed: deed.at_ns))


def draw_acts(random: Random, nodes: int, safety_ns: int) -> tuple[Act, ...]:
    """Groups are moved now and then, and a node is drained."""
    acts = []
    for _ in range(random.choice((0, 0, 1, 3, 8))):
        at_ns = random.randint(FORMED_NS, safety_ns)
        groups = tuple(random.randrange(20) for _ in range(random.randint(1, 3)))
        by, target = random.randrange(nodes), random.randrange(nodes)
        acts.append(Act(at_ns, MOVE, by, groups=groups, target=target))
    if random.random() < 0.15:
        by, node = random.randrange(nodes), random.randrange(nodes)
        at_ns = random.randint(FORMED_NS, safety_ns)
        end_ns = min(at_ns + random.randint(100, 2_000) * MILLISECOND, safety_ns)
        acts += [Act(at_ns, DRAIN, by, target=node), Act(end_ns, REFILL, by, target=node)]
    return tuple(sorted(acts, key=lambda act: act.at_ns))
