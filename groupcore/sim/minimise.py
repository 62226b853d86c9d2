"""Make a failing schedule smaller while it still fails in the same way.

First the faults, then what the applications do, then nodes, then the network's troubles: halves
before single ones, and never more than a bounded number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from groupcore.sim.disk import HEALTHY
from groupcore.sim.network import CALM
from groupcore.sim.scenario import Scenario

RUNS_MAX = 150
"""Most runs that one minimisation takes."""

Fails = Callable[[Scenario], bool]
"""Whether a schedule still breaks the invariant in question."""


def minimise(scenario: Scenario, fails: Fails, runs_max: int = RUNS_MAX) -> Scenario:
    """The smallest schedule found that still fails."""
    budget = runs_max
    while True:
        for smaller in _smaller(scenario):
            if budget == 0:
                return scenario
            budget -= 1
            if fails(smaller):
                scenario = smaller
                break
        else:
            return scenario


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Schedules with less in them, the boldest cuts first."""
    for name in scenario.pieces:
        items: tuple[object, ...] = getattr(scenario, name)
        for size in _sizes(len(items)):
            for start in range(0, len(items), size):
                kept = items[:start] + items[start + size :]
                yield replace(scenario, **{name: kept})  # type: ignore[arg-type]
    if scenario.nodes > 1:
        yield scenario.without_last_node()
    if scenario.tight:
        yield replace(scenario, tight=())
    if scenario.core:
        yield replace(scenario, core=False)
    if scenario.network != CALM:
        yield replace(scenario, network=CALM)
    if scenario.disk != HEALTHY:
        yield replace(scenario, disk=HEALTHY)


def _sizes(count: int) -> list[int]:
    """Lengths of the pieces to try to leave out: all, a half, a quarter, and so on down to one."""
    sizes = []
    while count > 0:
        sizes.append(count)
        count //= 2
    return sizes
