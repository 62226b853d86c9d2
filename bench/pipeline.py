"""The Spark jobs: audit, overlap, components, placement, ingest, each at 1, 4 and 16 times; DuckDB.

Each job and engine in a process of its own, three sizes in turn: the first one is with a Java that
has just begun. Spark as `local[2]` with 2 GiB, DuckDB with two threads and up to 4 GB; data in the
page cache, one run each. `peak_mb`: the most memory of the process, and of its Java, that was in
use meanwhile; `cpu_s`: processor time of both, with making the data. Rows of the audit are
deliveries at nodes; `duckdb` judges the rules about these alone (`bench.order_oracle`). `overlap`
counts hubs like everybody, `observers` leaves them out as `--observers` does. `arrow` is ingest as
it is done up to 64 MiB. Each figure is printed to stderr as it comes. Needs `make pipeline`.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench import pipeline_cases as cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROWTH: Final = (1, 4, 16)
PARTS: Final = 16
"""The largest of the three sizes is what is asked for."""
ROWS: Final = {
    "audit": 5_000_000,
    "overlap": 1_000_000,
    "observers": 1_000_000,
    "components": 1_000_000,
    "placement": 100_000,
    "ingest": 8_000_000,
}
QUICK: Final = 10
"""So many times less with --quick, and the largest size only; ingest has whole segments."""
ALL_BYTES: Final = 1 << 40
OBSERVERS: Final = 64
"""Who is in more groups only watches: the jobs' default."""
EVERYTHING: Final = 1 << 40

OnSpark = Callable[["SparkSession", Path, int], cases.Figures]
Alone = Callable[[Path, int], cases.Figures]

ON_SPARK: Final[dict[tuple[str, str], OnSpark]] = {
    ("audit", "spark"): cases.audit,
    ("overlap", "spark"): partial(cases.overlap, groups_max=EVERYTHING),
    ("observers", "spark"): partial(cases.overlap, groups_max=OBSERVERS),
    ("components", "spark"): cases.components,
    ("ingest", "spark"): partial(cases.ingest, here_bytes_max=0),
    ("ingest", "arrow"): partial(cases.ingest, here_bytes_max=ALL_BYTES),
}
ALONE: Final[dict[tuple[str, str], Alone]] = {
    ("audit", "duckdb"): cases.audit_duckdb,
    ("overlap", "duckdb"): partial(cases.overlap_duckdb, groups_max=EVERYTHING),
    ("observers", "duckdb"): partial(cases.overlap_duckdb, groups_max=OBSERVERS),
    ("placement", "python"): lambda folder, count: cases.placement(count),
    ("ingest", "duckdb"): cases.ingest_duckdb,
}


def run(quick: bool) -> dict[str, object]:
    """All figures, as `pipeline`: a list of jobs."""
    spawned = multiprocessing.get_context("spawn")
    figures: list[dict[str, object]] = []
    for job, engine in sorted((*ON_SPARK, *ALONE)):
        with spawned.Pool(1) as pool:
            figures += pool.apply(measure, (job, engine, sizes(job, quick)))
    return {"pipeline": figures}


def sizes(job: str, quick: bool) -> list[int]:
    """How many rows a job is given, one time after the other."""
    if quick:
        return [ROWS[job] // QUICK]
    return [ROWS[job] * times // PARTS for times in GROWTH]


def measure(job: str, engine: str, counts: list[int]) -> list[dict[str, object]]:
    """The figures of one job, in this process."""
    folder = Path(tempfile.mkdtemp(prefix="groupcore-bench-"))
    try:
        figures = []
        for figure in _measured(job, engine, counts, folder):
            print(json.dumps(figure), file=sys.stderr, flush=True)
            figures.append(figure)
        return figures
    finally:
        shutil.rmtree(folder)


def _measured(
    job: str, engine: str, counts: list[int], folder: Path
) -> Iterator[dict[str, object]]:
    if (job, engine) in ALONE:
        for count in counts:
            yield _watched(job, engine, [os.getpid()], partial(ALONE[job, engine], folder, count))
        return
    from pipeline.session import SessionOptions, spark_session

    with spark_session(SessionOptions("local[2]", "2g", 8), "groupcore bench") as spark:
        assert spark._jvm is not None
        pids = [os.getpid(), spark._jvm.java.lang.ProcessHandle.current().pid()]
        spark.range(1).count()
        for count in counts:
            work = partial(ON_SPARK[job, engine], spark, folder, count)
            yield _watched(job, engine, pids, work)


def _watched(
    job: str, engine: str, pids: list[int], work: Callable[[], cases.Figures]
) -> dict[str, object]:
    for pid in pids:
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins anew
    before_s = sum(map(_cpu_s, pids))
    figures = work()
    cpu_s = round(sum(map(_cpu_s, pids)) - before_s, 1)
    peak_mb = sum(map(_peak_mb, pids))
    return {"job": job, "engine": engine, "peak_mb": peak_mb, "cpu_s": cpu_s, **figures}


def _cpu_s(pid: int) -> float:
    """What processor time a process has taken, and those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024
