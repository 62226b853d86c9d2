"""`python -m groupcore.sim.explore`: explore scopes whole, and say how large they were.

The last line is JSON: for each scope the number of states, of steps between them and of ends, the
seconds it took, and whether it was explored to its end. Exit code 1 when something is wrong.

`--walks N --seed S` takes random walks through larger clusters instead, in which a node hears late
of the control plane's order; `--first N` begins with another walk than the first.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import nullcontext
from json import dumps
from time import perf_counter

from groupcore.sim.explore.group_scopes import GROUP_SCOPES, GroupScope
from groupcore.sim.explore.group_steps import GroupWorld
from groupcore.sim.explore.scopes import SCOPES, Scope
from groupcore.sim.explore.search import Found, Search
from groupcore.sim.explore.steps import Step, World
from groupcore.sim.explore.walking import walks
from groupcore.sim.jobs import without_collector
from groupcore.sim.plants import PLANTS

STATES_MAX = 2_000_000
ALL_SCOPES: dict[str, Scope | GroupScope] = {**SCOPES, **GROUP_SCOPES}


def explore(scope: Scope | GroupScope, states_max: int = STATES_MAX) -> Found[Step]:
    """Everything that can happen in a scope."""
    if isinstance(scope, GroupScope):
        return Search(GroupWorld(scope), states_max).run()
    return Search(World(scope), states_max).run()


def show(found: Found[Step], seconds: float, say: Callable[[str], None] = print) -> None:
    """One line for a scope, and the way to what is wrong in it."""
    end = "complete" if found.complete else "NOT COMPLETE"
    say(
        f"{found.scope:17} {found.states:8} states {found.transitions:8} steps "
        f"{found.ends:6} ends {seconds:8.1f} s  {end}"
    )
    for violation in found.violations[:5]:
        say(f"  {violation}")
    if found.violations:
        say("  by these steps: " + ", ".join(map(str, found.path)))


def go(seed: int, count: int, first: int, say: Callable[[str], None] = print) -> int:
    """Take walks, and say which of them are wrong; how many are."""
    begin, steps, wrong = perf_counter(), 0, 0
    for number, walk in walks(seed, count, first):
        steps += len(walk.steps)
        if walk.violations:
            wrong += 1
            say(f"walk {number} of seed {seed}: {walk.scope}")
            for violation in walk.violations[:5]:
                say(f"  {violation}")
            say("  by these steps: " + ", ".join(map(str, walk.steps)))
    found = {"walks": count, "seed": seed, "first": first, "steps": steps, "wrong": wrong}
    say(dumps({**found, "seconds": round(perf_counter() - begin, 1)}))
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Explore what is asked for."""
    parser = ArgumentParser(prog="python -m groupcore.sim.explore", description=__doc__)
    parser.add_argument("--scope", choices=[*ALL_SCOPES, "quick", "all"], default="quick")
    parser.add_argument("--plant", choices=list(PLANTS), default="", help="break the code so")
    parser.add_argument("--states-max", type=int, default=STATES_MAX, help="give up beyond")
    parser.add_argument("--walks", type=int, default=0, help="take so many random walks instead")
    parser.add_argument("--seed", type=int, default=1, help="of the walks")
    parser.add_argument("--first", type=int, default=0, help="the number of the first walk")
    options = parser.parse_args(arguments)
    if options.walks:
        with PLANTS[options.plant].planted() if options.plant else nullcontext():
            return 1 if go(options.seed, options.walks, options.first) else 0
    wanted = [
        scope
        for scope in ALL_SCOPES.values()
        if options.scope in (scope.name, "all") or (options.scope == "quick" and scope.quick)
    ]
    results = []
    failed = False
    with without_collector(), PLANTS[options.plant].planted() if options.plant else nullcontext():
        for scope in wanted:
            begin = perf_counter()
            found = explore(scope, options.states_max)
            seconds = perf_counter() - begin
            show(found, seconds)
            failed = failed or bool(found.violations)
            results.append(
                {
                    "scope": found.scope,
                    "states": found.states,
                    "steps": found.transitions,
                    "ends": found.ends,
                    "seconds": round(seconds, 1),
                    "complete": found.complete,
                    "violations": len(found.violations),
                }
            )
    print(dumps(results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
