"""`python -m groupcore.sim`: run schedules from a seed, judge them, say how to repeat a failure.

Schedules are spread over processes; what comes out does not depend on how many there are. One in
a hundred is run twice and must give the same trace hash.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from json import dumps
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from time import perf_counter

from groupcore.sim.jobs import Job, Outcome, work
from groupcore.sim.minimise import minimise
from groupcore.sim.plants import PLANTS
from groupcore.sim.profiles import PROFILES
from groupcore.sim.report import explain, fail_line
from groupcore.sim.run import Verdict
from groupcore.sim.scenario import Scenario
from groupcore.sim.tally import Tally

REPORTED_MAX = 10
"""Most failing schedules that get a line of their own."""


def outcomes(jobs: list[Job], processes: int) -> Iterator[Outcome]:
    """The outcomes in the order of the schedules."""
    if processes <= 1 or len(jobs) <= 1:
        yield from map(work, jobs)
        return
    with get_context("spawn").Pool(min(processes, len(jobs))) as pool:
        yield from pool.imap(work, jobs, chunksize=4)


def parse(arguments: list[str] | None = None) -> Namespace:
    """The command line."""
    parser = ArgumentParser(prog="python -m groupcore.sim", description=__doc__)
    parser.add_argument("--profile", choices=[*PROFILES, "all"], default="all")
    parser.add_argument("--schedules", type=int, default=100, help="how many to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plant", choices=list(PLANTS), default="", help="break the code so")
    parser.add_argument("--list-plants", action="store_true", help="name the planted bugs")
    parser.add_argument("--trace", type=Path, help="write the (smallest failing) trace there")
    parser.add_argument(
        "--records", type=Path, help="write what the nodes trace there, a file for each schedule"
    )
    parser.add_argument("--only", type=int, help="run this one of the schedules")
    parser.add_argument("--probes", action="store_true", help="how often each probe was met")
    parser.add_argument("--ledger", type=Path, help="append a line of JSON on this run there")
    parser.add_argument("--commit", default="", help="what the ledger calls the code")
    parser.add_argument("--jobs", type=int, default=cpu_count() or 1, help="processes")
    return parser.parse_args(arguments)


def rerun_command(options: Namespace, profile: str, index: int) -> str:
    """The command that runs this schedule again."""
    plant = f" --plant {options.plant}" if options.plant else ""
    return (
        f"python -m groupcore.sim --profile {profile} --seed {options.seed} --only {index}{plant}"
    )


def report(options: Namespace, job: Job, outcome: Outcome) -> None:
    """Explain a failing schedule by the smallest one that fails alike."""
    first = outcome.violations[0]

    def fails(scenario: Scenario) -> bool:
        found = job.verdict(scenario).violations
        return any(violation.invariant == first.invariant for violation in found)

    scenario = job.scenario
    smallest = scenario if first.invariant == "determinism" else minimise(scenario, fails)
    verdict = job.verdict(smallest)
    print(f"the smallest schedule found that breaks invariant {first.number} {first.invariant}:")
    for line in explain(verdict):
        print(line)
    if options.trace:
        write_trace(options.trace, verdict)


def write_trace(path: Path, verdict: Verdict) -> None:
    """Write the trace as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in verdict.trace.lines())


def write_records(options: Namespace, outcome: Outcome) -> None:
    """Write a schedule's rows; `python -m server trace pack` makes segments of them."""
    words = (outcome.profile, str(options.seed), str(outcome.index), options.plant)
    options.records.mkdir(parents=True, exist_ok=True)
    path = options.records / ("-".join(word for word in words if word) + ".jsonl")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in outcome.records)


def show_progress(done: int, total: int) -> None:
    """On a terminal only: how far it is."""
    if sys.stderr.isatty():
        print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the schedules; 1 when one of them broke an invariant."""
    options = parse(arguments)
    if options.list_plants:
        for plant in PLANTS.values():
            print(f"{plant.name:28} {plant.summary}")
        return 0
    indices = range(options.schedules) if options.only is None else [options.only]
    asked = (options.plant, options.records is not None)
    jobs = [Job(options.profile, options.seed, index, *asked) for index in indices]
    begin = perf_counter()
    tally = Tally()
    first_failure: tuple[Job, Outcome] | None = None
    for job, outcome in zip(jobs, outcomes(jobs, options.jobs), strict=False):
        tally.add(outcome)
        show_progress(tally.schedules, len(jobs))
        if outcome.records:
            write_records(options, outcome)
        if outcome.violations:
            first_failure = first_failure or (job, outcome)
            if tally.failed <= REPORTED_MAX:
                rerun = rerun_command(options, outcome.profile, outcome.index)
                first = outcome.violations[0]
                print(fail_line(options.seed, outcome.profile, outcome.index, first, rerun))
            if options.plant:
                break  # one catch of a planted bug is enough
    elapsed_s = perf_counter() - begin
    if first_failure is not None:
        report(options, *first_failure)
    elif options.trace and options.only is not None:
        write_trace(options.trace, jobs[0].verdict())
    return conclude(options, tally, elapsed_s)


def conclude(options: Namespace, tally: Tally, elapsed_s: float) -> int:
    """Print the probes if they are asked for, and the summary; keep the ledger; the exit code."""
    if options.probes:
        for name, times in tally.probes.items():
            print(f"{times:8} {name}")
        for name in tally.unmet:
            print(f"SIM FAIL probe={name}: never met in {tally.schedules} schedules")
    summary = tally.summary(options.profile, elapsed_s)
    if options.ledger:
        with options.ledger.open("a", encoding="utf-8") as file:
            file.write(tally.ledger_line(options.commit, options.seed, summary) + "\n")
    print(dumps(summary))
    return 1 if tally.violations or (options.probes and tally.unmet) else 0


if __name__ == "__main__":
    sys.exit(main())
