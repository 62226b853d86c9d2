"""What the benchmarks share: quantiles, CPU and memory of a process, how busy the machine is."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of them does not exceed; 0 of nothing."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def longest_gap_ms(at: Sequence[int], since: int, until: int) -> float:
    """The longest time between two of these times (ns) that touches the span; all of it without."""
    first = max(0, bisect_left(at, since) - 1)
    last = bisect_left(at, until) + 1
    return max((b - a for a, b in pairwise(at[first:last])), default=until - since) / 1e6


def cpu_of(pid: int) -> float:
    """CPU seconds of all living threads of a process, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def waited_of(pid: int) -> float:
    """Seconds in which a process's main thread could have run, and no processor was free for it."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) / 1e9


def rss_kb_of(pid: int) -> int:
    """Resident memory of a process in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def pss_kb_of(pid: int) -> int:
    """Memory of a process in KiB, with its part of what it shares with others."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def load_average() -> float:
    """Processes that ran or wanted to over the last minute; a high one makes figures rough."""
    return round(os.getloadavg()[0], 2)
