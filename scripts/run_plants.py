"""Plant every known bug in the simulated cluster and see that the checkers catch it.

A checker that never complains proves nothing. Each plant is run by itself until the invariant that
is meant for it complains; `groupcore.sim.sensitivity` says within how many schedules it has to.
"""

import sys
from collections.abc import Iterable
from multiprocessing import get_context

from groupcore.sim.plants import PLANTS
from groupcore.sim.sensitivity import Hunt, hunt


def hunts() -> Iterable[Hunt]:
    """Look for all plants, on all processors; in their order."""
    with get_context("spawn").Pool() as pool:
        yield from pool.imap(hunt, PLANTS, chunksize=1)


def main() -> int:
    """Run all plants; 1 if a single one stays unnoticed or there is none to run."""
    total = missed = 0
    for done in hunts():
        print(done, flush=True)
        total += 1
        missed += not done.caught
    print(f"{total - missed} of {total} planted bugs caught")
    return 1 if missed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
