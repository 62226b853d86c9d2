"""Failover: the coordinator dies or falls silent; time to the next ordered delivery.

The case with `group` is the sequencer of a group on the data plane, see `bench.group_failover`: the
time to the next ACCEPT.
"""

from __future__ import annotations

from bench import group_failover
from bench.crew import Crew
from bench.measuring import load_average, longest_gap_ms, quantile
from groupcore.layers.failure_detection import DetectionOptions
from groupcore.stacks import StackOptions

MEMBERS = 3
RATE_PER_S = 200.0
WATCHED_S = 4.0
"""The longest gap within this time after the fault counts."""

LAN = StackOptions(detection=DetectionOptions(interval_s=0.025, timeout_s=0.1, pings=2))
"""For a local network: a member may be silent for a fifth of a second before it is excluded."""


def measure(silent: bool, options: StackOptions, faults: int) -> dict[str, object]:
    """Kill the coordinator (or stop it, silent), let it come back, and again."""
    gaps: list[float] = []
    lost = doubled = 0
    with Crew(MEMBERS, RATE_PER_S, options) as crew:
        crew.run_for(2.0)
        for _ in range(faults):
            victim = crew.coordinator()
            at = crew.stop(victim) if silent else crew.kill(victim)
            crew.until_together(without=[victim])
            crew.run_for(WATCHED_S)
            logs = [crew.log(name) for name in sorted(crew.views) if name != victim]
            gaps.append(
                max(longest_gap_ms(log.delivered, at, at + int(WATCHED_S * 1e9)) for _, log in logs)
            )
            lost += sum(log.lost(now) for now, log in logs)
            doubled += sum(log.doubled for _, log in logs)
            if silent:
                crew.kill(victim)
            crew.start(victim)
            crew.until_together()
            crew.run_for(1.0)
    return {
        "gap_p50_ms": round(quantile(gaps, 0.5)),
        "gap_p99_ms": round(quantile(gaps, 0.99)),
        "lost": lost,
        "doubled": doubled,
        "kills": faults,
    }


def run(quick: bool) -> dict[str, object]:
    """Killed and silent coordinators, with default settings and with those for a LAN."""
    faults = 2 if quick else 12
    cases = [
        {
            "fault": "silent" if silent else "killed",
            "settings": name,
            **measure(silent, options, faults),
        }
        for silent in (False, True)
        for name, options in (("default", StackOptions()), ("lan", LAN))
    ]
    service = group_failover.measure(faults)
    cases.append({"fault": "killed", "settings": "default", "group": True, **service})
    usual = {key: cases[0][key] for key in ("gap_p50_ms", "gap_p99_ms", "lost", "doubled", "kills")}
    return {**usual, "members": MEMBERS, "cases": cases, "load_average": load_average()}
