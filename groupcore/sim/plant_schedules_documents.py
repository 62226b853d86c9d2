"""Schedules of planted bugs of documents that chance seldom draws."""

from __future__ import annotations

from random import Random

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.documents import scenario as deeds
from groupcore.sim.documents.scenario import Deed, DocumentScenario
from groupcore.sim.fault import Fault

NODES = 3
CUTS_MS = (2_000, 5_000)
"""When the power is cut."""
HURRY_MS = 600
"""So long before that texts are handed from block to block."""


def _hurry(random: Random, end_ms: int) -> list[Deed]:
    """Everybody splits blocks and joins them, mostly to those that were joined before."""
    drawn = []
    for at_ms in range(end_ms - HURRY_MS, end_ms, 6):
        kind = random.choice((deeds.JOIN, deeds.SPLIT, deeds.TYPE))
        draws = (random.random(), 0.3 * random.random(), random.random())
        drawn.append(Deed(at_ms * MILLISECOND, random.randrange(NODES), kind, draws))
    return drawn


def _in_hurries() -> DocumentScenario:
    random = Random(75)
    begun = [Deed((720 + n) * MILLISECOND, 0, deeds.INSERT, (0.9, 0.9, 0.0)) for n in range(4)]
    for n in range(8):
        begun.append(Deed((800 + 20 * n) * MILLISECOND, 0, deeds.TYPE, (n / 8, 0.5, 0.5)))
    return DocumentScenario(
        seed=0,
        nodes=NODES,
        starts_ns=(0,) * NODES,
        safety_ns=6 * SECOND,
        faults=tuple(Fault(at * MILLISECOND, "crash-all", (), SECOND // 5) for at in CUTS_MS),
        durable=True,
        shape="document",
        people=NODES,
        deeds=(*begun, *(deed for end_ms in CUTS_MS for deed in _hurry(random, end_ms))),
    )


IN_HURRIES = _in_hurries()
"""With logs: the power is cut twice while people hand texts from block to block."""
