"""Merge: two members and three, cut off from each other, are one group again after healing."""

from __future__ import annotations

import time

from bench.crew import Crew
from bench.measuring import load_average, quantile

MEMBERS = 5
MINORITY = 2
RATE_PER_S = 100.0
LIVED_S = 12.0
"""A life that is younger than ten seconds waits before it begins a new one."""
APART_S = 3.0


def run(quick: bool) -> dict[str, object]:
    """Cut, wait, heal; seconds until all are in one view."""
    times, apart_ms = [], []
    for _ in range(1 if quick else 5):
        with Crew(MEMBERS, RATE_PER_S) as crew:
            crew.run_for(LIVED_S)
            names = [f"n{index}" for index in range(MEMBERS)]
            places = {name: crew.place(name) for name in names}
            minority = names[:MINORITY]
            cut = time.monotonic_ns()
            for name in names:
                far = [other for other in names if (other in minority) != (name in minority)]
                crew.deafen(name, frozenset(places[other] for other in far))
            apart_ms.append((crew.until_together(without=minority) - cut) / 1e6)
            crew.run_for(APART_S)
            healed = time.monotonic_ns()
            for name in names:
                crew.deafen(name, frozenset())
            times.append((crew.until_together() - healed) / 1e9)
    return {
        "merged_s": round(quantile(times, 0.5), 2),
        "merged_worst_s": round(max(times), 2),
        "apart_p50_ms": round(quantile(apart_ms, 0.5)),
        "members": MEMBERS,
        "minority": MINORITY,
        "runs": len(times),
        "load_average": load_average(),
    }
