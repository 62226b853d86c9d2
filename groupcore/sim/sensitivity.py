"""How soon a planted bug is found, and by what.

A checker that never complains proves nothing; one that complains of something else than what is
broken misleads. So a plant counts as caught when the first of its invariants breaks, and a breach
of an invariant that neither the plant nor `CONSEQUENCES` names is a stray.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sim.jobs import Job, without_collector
from groupcore.sim.plants import PLANTS

SCHEDULES_MAX = 2_000
"""Within so many schedules a plant has to be found; most are within the first five."""
SEED = 1
CONSEQUENCES = frozenset({7, 13, 14, 15, 16, 17, 18, 25})
"""What breaks with the order or the views, whatever it was that broke them."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """What came of looking for a plant.

    `index`: the schedule that showed it, None if none did; `strays`: numbers of invariants that
    broke on the way and have nothing to do with it.
    """

    name: str
    index: int | None
    strays: frozenset[int]

    @property
    def caught(self) -> bool:
        """Whether the invariant that is meant for it has complained, and no unrelated one."""
        return self.index is not None and not self.strays

    def __str__(self) -> str:
        plant = PLANTS[self.name]
        line = f"{'caught' if self.caught else 'MISSED':8}{self.name:28}"
        if self.strays:
            return f"{line} broke invariants {sorted(self.strays)}, which it must not"
        if self.index is None:
            return f"{line} not found"
        return (
            f"{line} invariant {plant.caught_by[0]}: python -m groupcore.sim "
            f"--profile {plant.profile} --seed {SEED} --only {self.index} --plant {self.name}"
        )


def hunt(name: str, schedules: int = SCHEDULES_MAX, lead: int | None = None) -> Hunt:
    """Run schedules with this bug until it is found, a stray turns up, or there are no more.

    `lead`: the schedule that has shown it before is looked at first, the others if it does not.
    """
    plant = PLANTS[name]
    expected = CONSEQUENCES | set(plant.caught_by)
    for index in (*(() if lead is None else (lead,)), *range(schedules)):
        with without_collector():
            violations = Job(plant.profile, SEED, index, name).verdict().violations
        found = {violation.number for violation in violations}
        if found - expected:
            return Hunt(name, None, frozenset(found - expected))
        if plant.caught_by[0] in found:
            return Hunt(name, index, frozenset())
    return Hunt(name, None, frozenset())
