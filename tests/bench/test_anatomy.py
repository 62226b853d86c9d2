"""What a keystroke costs, in counts: no change makes it dearer without saying so.

`python -m bench anatomy` prints the counts of now. When they fall, or have to rise, write them into
`bench/anatomy.json` in the same commit: `.venv/bin/python -m tests.bench.test_anatomy`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.anatomy import ROLES

ROOT = Path(__file__).parents[2]
EXPECTED = ROOT / "bench" / "anatomy.json"
COUNTED = ("turns", "datagrams", "encodings", "log_parts", "files")
"""Beside calls, which each minor version of Python counts in its own way."""
DEARER = 1.05
CHEAPER = 0.9
"""What fell further than that is written down, so that it cannot come back unnoticed."""


def counts(figures: dict[str, Any]) -> dict[str, float]:
    """Of each node, and on the way to the reader, by name."""
    parts = (*ROLES, "until_read")
    names = [*COUNTED, "calls"] if figures["python"] == _expected()["python"] else [*COUNTED]
    return {
        f"{part}.{name}": figures[part][name]
        for part in parts
        for name in names
        if name in figures[part]
    }


def _expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return found


def measured() -> dict[str, Any]:
    """The counts of now, in a process whose sets have always the same order."""
    command = [sys.executable, "-m", "bench", "anatomy", "--json"]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return {name: found[name] for name in ("python", "all", *ROLES, "until_read")}


def test_a_keystroke_costs_no_more_than_is_written_down() -> None:
    expected = _expected()
    now = counts(measured())
    was = {name: value for name, value in counts({**expected}).items() if name in now}
    assert now.keys() == was.keys()
    dearer = {name: (was[name], now[name]) for name in now if now[name] > was[name] * DEARER}
    assert not dearer, f"dearer than bench/anatomy.json says: {dearer}"
    cheaper = {name: (was[name], now[name]) for name in now if now[name] < was[name] * CHEAPER}
    assert not cheaper, f"cheaper than bench/anatomy.json says, write it down: {cheaper}"


def main() -> None:
    """Write the counts of now."""
    EXPECTED.write_text(json.dumps(measured(), indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"{EXPECTED.name} is written\n")


if __name__ == "__main__":
    main()
