"""What many schedules add up to: the summary, the probes that were met, the ledger's line."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from json import dumps

from groupcore.sim.jobs import Outcome
from groupcore.sim.probes import GROUP_PROBES, PROBES, STACK_PROBES

WITH_GROUPS = frozenset({"sequencing"})
"""Profiles whose schedules have groups."""
PROBED_LEAST = 1_000
"""From so many schedules on, a probe that was never met is a failure of the run."""


class Tally:
    """Adds up outcomes in the order of their schedules."""

    def __init__(self) -> None:
        self.schedules = 0
        self.failed = 0
        self.violations = 0
        self.deliveries = 0
        self.simulated_s = 0.0
        self.probes: Counter[str] = Counter(dict.fromkeys(PROBES, 0))
        self._profiles: set[str] = set()
        self._digest = blake2b(digest_size=16)

    def add(self, outcome: Outcome) -> None:
        """One schedule more."""
        self.schedules += 1
        self.failed += bool(outcome.violations)
        self.violations += len(outcome.violations)
        self.deliveries += outcome.deliveries
        self.simulated_s += outcome.simulated_s
        self.probes.update(outcome.probes)
        self._profiles.add(outcome.profile)
        self._digest.update(outcome.trace_hash.encode())

    @property
    def unmet(self) -> list[str]:
        """Probes that so many schedules should have met; none is expected of a short run."""
        if self.schedules < PROBED_LEAST:
            return []
        expected: tuple[str, ...] = STACK_PROBES if self._profiles - WITH_GROUPS else ()
        expected += GROUP_PROBES if self._profiles & WITH_GROUPS else ()
        return [name for name in expected if not self.probes[name]]

    def summary(self, profile: str, elapsed_s: float) -> dict[str, object]:
        """The line of JSON at the end of a run."""
        return {
            "profile": profile,
            "schedules": self.schedules,
            "simulated_s": round(self.simulated_s, 3),
            "deliveries": self.deliveries,
            "violations": self.violations,
            "schedules_per_s": round(self.schedules / elapsed_s, 2),
            "trace_hash": self._digest.hexdigest(),
        }

    def ledger_line(self, commit: str, seed: int, summary: dict[str, object]) -> str:
        """The line of JSON that the ledger keeps of a run: of which code, which schedules."""
        return dumps({"commit": commit, "seed": seed, "failed": self.failed, **summary})
