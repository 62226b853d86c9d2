"""Planted bugs of access lists (invariant 22)."""

from __future__ import annotations

from groupcore.shared.machine import Done, Machine
from groupcore.shared.replica import Replica
from groupcore.sim.planting import Patch, Plant


def _not_judged() -> list[Patch]:
    def anything(self: Machine, principal: str, done: Done) -> Done | None:
        return None

    return [(Machine, "_judge", anything)]


def _shown_on() -> list[Patch]:
    def always(self: Replica[object]) -> bool:
        return True

    return [(Replica, "check_reading", always)]


ACCESS_PLANTS = (
    Plant(
        "not-judged-in-order",
        "a call is not judged at its place in the order",
        (22,),
        _not_judged,
        profile="access",
    ),
    Plant(
        "shown-after-revocation",
        "a reader is shown what comes behind the end of its right to read",
        (22,),
        _shown_on,
        profile="access",
    ),
)
