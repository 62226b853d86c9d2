"""Drawing a schedule of pages."""

from __future__ import annotations

from dataclasses import fields
from random import Random

from groupcore.sim.clock import MILLISECOND
from groupcore.sim.documents.drawing import HURRIES, LONGEST_NS, NODE_WEIGHTS, draw_acts
from groupcore.sim.documents.scenario import GO, LEAVE, Deed
from groupcore.sim.fault import Fault
from groupcore.sim.groups.drawing import FORMED_NS, with_power_cuts
from groupcore.sim.groups.tightness import draw_points
from groupcore.sim.menu import MENU, draw_faults
from groupcore.sim.pages import scenario as deeds
from groupcore.sim.pages.scenario import PageScenario
from groupcore.sim.randomness import stream
from groupcore.sim.scenario import draw_scenario

KINDS = {
    deeds.OPEN: 7,
    deeds.CLOSE: 4,
    deeds.CALL: 16,
    deeds.SHOW: 3,
    deeds.SLOW: 2,
    deeds.DROP: 3,
    GO: 3,
    LEAVE: 1,
}
"""How often what is done, in proportion."""


def draw_pages(seed: int) -> PageScenario:
    """The schedule of a seed."""
    drawn = draw_scenario(seed, NODE_WEIGHTS)
    random = stream(seed, "pages")
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
    people = random.randint(2, 5)
    scenario = PageScenario(
        **base,
        shape="pages",
        k=random.choice((0, 1, 1, 1)),
        points=draw_points(stream(seed, "service-options")),
        people=people,
        is_kept=random.random() < 0.5,
        deeds=_draw_deeds(random, people, drawn.nodes, safety_ns),
        acts=draw_acts(random, drawn.nodes, safety_ns),
    )
    moments = [deed.at_ns for deed in scenario.deeds]
    return with_power_cuts(scenario, stream(seed, "power"), moments, random_cuts=(0, 0, 0, 1, 1))


def _draw_deeds(random: Random, people: int, nodes: int, safety_ns: int) -> tuple[Deed, ...]:
    """Everybody opens something first; then hurries, in which several act at nearly one time."""
    drawn = [
        Deed(FORMED_NS + number * MILLISECOND, number % people, deeds.OPEN, _draws(random))
        for number in range(2 * people)
    ]
    kinds, weights = list(KINDS), list(KINDS.values())
    for _ in range(random.randint(5, 16)):
        begin_ns = random.randint(FORMED_NS, safety_ns)
        spread_ns = random.choice(HURRIES) * MILLISECOND
        near = _draws(random)
        for _ in range(random.randint(2, 10)):
            draws = near if random.random() < 0.5 else _draws(random)
            at_ns = min(begin_ns + random.randint(0, spread_ns), safety_ns)
            kind = random.choices(kinds, weights)[0]
            person, node = random.randrange(people), random.randrange(nodes)
            drawn.append(Deed(at_ns, person, kind, draws, node))
    return tuple(sorted(drawn, key=lambda deed: deed.at_ns))


def _draws(random: Random) -> tuple[float, ...]:
    return (random.random(), random.random(), random.random())
