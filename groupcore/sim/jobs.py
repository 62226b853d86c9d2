"""One schedule as a job for a worker process, and what it sends back."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from json import dumps

from groupcore.sequencing.trace_lines import rows_of
from groupcore.sim.checkers import Violation
from groupcore.sim.plants import PLANTS
from groupcore.sim.probes import met
from groupcore.sim.profiles import Profile, profile_of
from groupcore.sim.randomness import derive
from groupcore.sim.run import Verdict
from groupcore.sim.scenario import Scenario

TWICE_IN = 100
"""One schedule in so many is run twice; both runs must give the same trace hash."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker sends back of one schedule; `probes` are those that it has met.

    `records`: what its nodes have written, as lines of JSON, if that was asked for.
    """

    index: int
    profile: str
    trace_hash: str
    deliveries: int
    simulated_s: float
    violations: list[Violation]
    probes: tuple[str, ...]
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One schedule to run: its profile, the seed of the whole run, its number, a planted bug.

    `records`: send back what its nodes write, too.
    """

    profile: str
    seed: int
    index: int
    plant: str
    records: bool = False

    @property
    def run_profile(self) -> Profile:
        """The profile that this schedule falls to."""
        return profile_of(self.profile, self.index)

    @property
    def scenario_seed(self) -> int:
        """The seed of this one schedule."""
        return derive(self.seed, self.run_profile.name, self.index)

    @property
    def scenario(self) -> Scenario:
        """The schedule: that of the planted bug under this seed, if it has one, else as drawn."""
        schedule = PLANTS[self.plant].schedule if self.plant else None
        if schedule is not None:
            return replace(schedule, seed=self.scenario_seed)
        return self.run_profile.draw(self.scenario_seed)

    def verdict(self, scenario: Scenario | None = None) -> Verdict:
        """Run it, or another schedule in its place."""
        profile = self.run_profile
        with PLANTS[self.plant].planted() if self.plant else nullcontext():
            return profile.play(scenario or self.scenario)


@contextmanager
def without_collector() -> Iterator[None]:
    """Let cyclic garbage lie until the end: a schedule makes little, and looking for it is slow.

    What was there before is not looked through at the end either: it stays.
    """
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()
        gc.enable()


def work(job: Job) -> Outcome:
    """What a worker does with one schedule."""
    with without_collector():
        return judge(job)


def judge(job: Job) -> Outcome:
    """Run one schedule, a few of them twice."""
    verdict = job.verdict()
    trace_hash = verdict.trace.hash()
    violations = list(verdict.violations)
    if derive(job.seed, "twice", job.index) % TWICE_IN == 0:
        again = job.verdict().trace.hash()
        if again != trace_hash:
            text = f"the same seed gave the trace hashes {trace_hash} and {again}"
            violations.append(Violation(0, "determinism", 0, (), (), text))
    return Outcome(
        job.index,
        job.run_profile.name,
        trace_hash,
        verdict.deliveries,
        verdict.simulated_s,
        violations,
        met(verdict.trace, verdict.counters),
        tuple(record_lines(verdict)) if job.records else (),
    )


def record_lines(verdict: Verdict) -> Iterator[str]:
    """What the nodes have written, each row as JSON (`groupcore.trace` has the columns)."""
    for gathered in verdict.records:
        for row in rows_of(gathered):
            yield dumps(row, separators=(",", ":"))
