"""Plant every known bug in the simulated cluster and see that the checkers catch it.

A checker that never complains proves nothing. Each plant that `python -m groupcore.sim
--list-plants` names is run by itself; the simulator must end with exit code 1, a violation.
"""

import subprocess
import sys
from typing import Final

SIMULATOR: Final = (sys.executable, "-m", "groupcore.sim")
SCHEDULES: Final = 200
SEED: Final = 1
VIOLATION_EXIT_CODE: Final = 1


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the simulator once and capture what it says."""
    return subprocess.run(
        [*SIMULATOR, *arguments], capture_output=True, text=True, check=False, timeout=900
    )


def plant_names() -> list[str]:
    """Ask the simulator for its plants: the first word of each line."""
    listing = simulate("--list-plants")
    if listing.returncode != 0:
        sys.exit(f"The simulator cannot list its plants:\n{listing.stderr}")
    return [line.split()[0] for line in listing.stdout.splitlines() if line.strip()]


def is_caught(plant: str) -> bool:
    """Run one plant, print what came of it, and say whether a checker complained."""
    run = simulate(
        *("--profile", "all", "--schedules", str(SCHEDULES), "--seed", str(SEED)),
        *("--plant", plant),
    )
    complaint = next((line for line in run.stdout.splitlines() if "SIM FAIL" in line), "")
    caught = run.returncode == VIOLATION_EXIT_CODE and bool(complaint)
    print(f"{'caught' if caught else 'MISSED':8}{plant}  {complaint}", flush=True)
    if not caught and run.stderr:
        print(run.stderr, file=sys.stderr)
    return caught


def main() -> int:
    """Run all plants; 1 if a single one stays unnoticed or there is none to run."""
    plants = plant_names()
    missed = [plant for plant in plants if not is_caught(plant)]
    print(f"{len(plants) - len(missed)} of {len(plants)} planted bugs caught")
    return 1 if missed or not plants else 0


if __name__ == "__main__":
    sys.exit(main())
