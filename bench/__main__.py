"""`python -m bench NAME [--json] [--quick]`, `python -m bench --list`.

`python -m bench keystroke --anatomy` is `python -m bench anatomy`: counts in the place of times.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

NAMES = (
    "order",
    "latency",
    "view-change",
    "failover",
    "merge",
    "keystroke",
    "anatomy",
    "fanout",
    "scroll",
    "join",
    "node-join",
    "contexts",
    "groups",
    "many-groups",
    "sequencers",
    "migration",
    "memory",
    "waking",
    "slowing",
    "durable",
    "at-rest",
    "trace",
    "objects",
    "editor",
    "document",
    "pipeline",
    "crowd",
    "attending",
    "places",
    "places-million",
    "place-sizes",
)


def machine() -> dict[str, object]:
    """What it was measured on."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {
        "cores": os.cpu_count(),
        "processor": model,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def commit() -> str:
    """The commit that was measured, with a plus when files differ from it."""
    describe = ["git", "describe", "--always", "--dirty=+"]
    done = subprocess.run(describe, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def module_of(name: str) -> ModuleType:
    """The module that runs the benchmark of that name."""
    return import_module(f"bench.{name.replace('-', '_')}")


def main() -> int:
    """Run one benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=NAMES, help="which benchmark")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--json", action="store_true", help="one JSON object, nothing else")
    parser.add_argument("--quick", action="store_true", help="shorter runs, rougher figures")
    parser.add_argument("--anatomy", action="store_true", help="of a keystroke: counts")
    arguments = parser.parse_args()
    if arguments.list:
        for name in NAMES:
            doc = module_of(name).__doc__ or ""
            print(f"{name:12} {doc.splitlines()[0]}")
        return 0
    if arguments.name is None:
        parser.error("name a benchmark, or --list")
    if arguments.anatomy and arguments.name != "keystroke":
        parser.error("--anatomy is of keystroke")
    name = "anatomy" if arguments.anatomy else arguments.name
    figures = module_of(name).run(arguments.quick)
    result = {"machine": machine(), "settings": {"quick": arguments.quick}, "commit": commit()}
    result.update(figures)
    print(json.dumps(result, indent=None if arguments.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
