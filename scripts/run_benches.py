"""Run one benchmark or all of them, each in a process of its own, and print their figures.

The argument is a name from `python -m bench --list`, or `all`. Output: one JSON object a line.
"""

import subprocess
import sys
from typing import Final

BENCH: Final = (sys.executable, "-m", "bench")
ALL: Final = "all"


def bench_names() -> list[str]:
    """Ask the benchmark program for its cases: the first word of each line."""
    listing = subprocess.run([*BENCH, "--list"], capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        sys.exit(f"The benchmarks cannot be listed:\n{listing.stderr}")
    return [line.split()[0] for line in listing.stdout.splitlines() if line.strip()]


def main(wanted: str) -> int:
    """Run the wanted cases one after the other; 1 if one of them fails."""
    names = bench_names()
    if wanted not in (ALL, *names):
        print(f"No benchmark is called {wanted!r}. Known: {', '.join(names)}.", file=sys.stderr)
        return 2
    chosen = names if wanted == ALL else [wanted]
    results = [subprocess.run([*BENCH, name, "--json"], check=False).returncode for name in chosen]
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ALL))
