"""Which browser the tests and benchmarks drive."""

from __future__ import annotations

from pathlib import Path

CHROMIUMS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))
"""Those that can be driven, the preferred one first.

The shell is the same engine without the browser's own windows, which nobody looks at here: browser
tests take a sixth less of the CPU with it.
"""


def chromium() -> Path:
    """The first that is installed; FileNotFoundError names the command that installs one."""
    for path in CHROMIUMS:
        if path.exists():
            return path
    raise FileNotFoundError(f"{CHROMIUMS[0]} is not installed. Run: make chromium")
