"""What plans have really brought, by the windows that the pipeline's `load` has measured."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from server.console.colleagues import Shown

AFTER_S = 3_600.0
"""What a plan has brought is what was measured in so long behind its end, or until the next one."""


class Measured(NamedTuple):
    """A window: the fullest node's load over the mean; and the median time in which a message was
    back at its sender's node, in us, None where nothing was timed.
    """

    at_s: float
    imbalance: float
    latency_us: float | None


def outcomes(plans: Sequence[Shown], windows: Sequence[Measured]) -> dict[str, Shown]:
    """By the plans' ids medians over the windows that begin behind their end; those that are not
    over, or behind which nothing was measured, are left out.
    """
    begun = sorted(one["began_s"] for one in plans)
    found = {}
    for plan in plans:
        ended_s = plan.get("ended_s")
        if ended_s is None:
            continue
        until = min([ended_s + AFTER_S, *(at for at in begun if at > ended_s)])
        some = [one for one in windows if ended_s <= one.at_s < until]
        if some:
            waits = [one.latency_us for one in some if one.latency_us is not None]
            found[plan["id"]] = {
                "windows": len(some),
                "imbalance": round(median(one.imbalance for one in some), 3),
                "latency_us": round(median(waits), 1) if waits else None,
            }
    return found


def latest(kept: Shown | None, found: Shown | None) -> Shown | None:
    """Of what is kept and what is found now that which rests on more windows; `found` of equals."""
    if kept is None or found is None:
        return found or kept
    return found if found["windows"] >= kept["windows"] else kept
