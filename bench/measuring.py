"""What the benchmarks share: quantiles, CPU and memory of a process, how busy the machine is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of them does not exceed; 0 of nothing."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu_of(pid: int) -> float:
    """CPU seconds of all living threads of a process, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def rss_kb_of(pid: int) -> int:
    """Resident memory of a process in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def load_average() -> float:
    """Processes that ran or wanted to over the last minute; a high one makes figures rough."""
    return round(os.getloadavg()[0], 2)
