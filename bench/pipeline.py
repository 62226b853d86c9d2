"""The Spark jobs: audit, overlap, components, placement, ingest; DuckDB beside the audit.

On `local[2]` with 2 GiB for the driver, data in the page cache, one run each. The audit's rows are
deliveries at nodes; `duckdb` judges the rules about deliveries in the same files with two threads,
for each process from the start (`bench.order_oracle`). Needs `make pipeline`.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from groupcore.trace import TABLES, VERSION, Segment

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

T = TypeVar("T")


def run(quick: bool) -> dict[str, object]:
    """All figures."""
    from pipeline.session import SessionOptions, spark_session

    folder = Path(tempfile.mkdtemp(prefix="groupcore-bench-"))
    try:
        options = SessionOptions("local[2]", "2g", 8)
        started = time.perf_counter()
        with spark_session(options, "groupcore bench") as spark:
            spark.range(1).count()
            session_s = time.perf_counter() - started
            return {
                "session_s": round(session_s, 2),
                "audit": audit(spark, folder, 300_000 if quick else 5_000_000),
                "overlap": overlap(spark, 100_000 if quick else 1_000_000),
                "components": components(spark, 100_000 if quick else 1_000_000),
                "placement": placement(10_000 if quick else 100_000),
                "ingest": ingest(spark, folder, 200_000 if quick else 2_000_000),
                "peak_mb": peak_mb(spark),
            }
    finally:
        shutil.rmtree(folder)


def audit(spark: SparkSession, folder: Path, deliveries: int) -> dict[str, object]:
    """A clean trace, judged whole; then by DuckDB."""
    from bench import order_oracle
    from bench.synthetic_trace import write_trace
    from pipeline.audit import KINDS, Logs
    from pipeline.audit import audit as judge
    from pipeline.schemas import SEGMENT_FACTS, raw

    place = folder / "audit"
    place.mkdir()
    rows = write_trace(place, deliveries)
    paths = {kind: str(place / f"{kind}.parquet") for kind in KINDS}
    tables = {kind: spark.read.schema(raw(kind)).parquet(path) for kind, path in paths.items()}
    logs = Logs(**tables, segment=spark.createDataFrame([], SEGMENT_FACTS))  # type: ignore[arg-type]
    phases: dict[str, float] = {}
    begun = time.perf_counter()

    def note(name: str) -> None:
        phases[name] = round(time.perf_counter() - begun, 1)

    found, seconds = timed(lambda: judge(logs, note))
    assert found.clean, found.counts
    other, duckdb_s = timed(lambda: order_oracle.judge(paths))
    assert not other
    return {
        "deliveries": rows,
        "seconds": seconds,
        "deliveries_per_s": round(rows / seconds),
        "begun_at_s": phases,
        "duckdb_s": duckdb_s,
    }


def overlap(spark: SparkSession, memberships: int) -> dict[str, object]:
    """Teams that share people, and twenty processes that are in a tenth of all groups."""
    from pipeline.components import components as label
    from pipeline.transforms import overlap as rules

    groups = memberships // 10
    draw = np.random.default_rng(1)
    gid = draw.integers(0, groups, memberships * 8 // 10)
    team = gid // 20 * 12
    process = team + draw.integers(0, 16, len(gid))
    hubs = np.repeat(np.arange(20) + 10 * groups, groups // 10)
    both = np.unique(
        np.stack((np.r_[gid, draw.integers(0, groups, len(hubs))], np.r_[process, hubs])), axis=1
    )
    frame = spark.createDataFrame(_arrow({"gid": both[0], "process": both[1]})).selectExpr(
        "gid", "cast(process as string) as process"
    )
    matter = rules.that_matter(frame).cache()
    matter.count()

    def find() -> tuple[str, int]:
        cost = rules.costs(matter).first()
        assert cost is not None
        way = "primal" if cost["primal"] <= cost["dual"] else "dual"
        edges = (
            rules.strong_pairs(matter).select("a", "b")
            if way == "primal"
            else rules.star_edges(matter)
        )
        return way, label(edges).select("component").distinct().count()

    (way, parts), seconds = timed(find)
    return {
        "memberships": both.shape[1],
        "groups": groups,
        "way": way,
        "components": parts,
        "seconds": seconds,
    }


def components(spark: SparkSession, edges: int) -> dict[str, object]:
    """Random edges between a fifth as many vertices, and a long chain."""
    from pipeline.components import components as label

    draw = np.random.default_rng(2)
    vertices = edges // 5
    a, b = draw.integers(0, vertices, edges), draw.integers(0, vertices, edges)
    near = np.abs(a - b) < 50_000
    chain = np.arange(vertices, vertices + 2_000)
    ends = np.r_[a[near], chain[:-1]], np.r_[b[near], chain[1:]]
    frame = spark.createDataFrame(_arrow({"a": ends[0], "b": ends[1]}))
    count, seconds = timed(lambda: label(frame).select("component").distinct().count())
    return {"edges": int(near.sum()) + 1_999, "components": count, "seconds": seconds}


def placement(count: int) -> dict[str, object]:
    """Sixteen nodes with a skewed load."""
    from pipeline.placement import Bounds, Unit, imbalance, place

    draw = Random(1)
    nodes = [f"n{i}" for i in range(16)]
    units = [
        Unit(i, {i: nodes[int(16 * draw.random() ** 1.3)]}, {i: draw.paretovariate(1.3)})
        for i in range(count)
    ]
    placed, seconds = timed(lambda: place(units, nodes, Bounds(moves=count)))
    return {
        "units": count,
        "moves": len(placed.moves),
        "imbalance": [round(imbalance(x), 3) for x in (placed.before, placed.after)],
        "seconds": seconds,
    }


def ingest(spark: SparkSession, folder: Path, rows: int) -> dict[str, object]:
    """Segments of 100,000 accepts into the store."""
    import pyarrow as pa

    from pipeline.ingest import ingest as take
    from pipeline.schemas import arrow_schema
    from pipeline.store import Store

    schema = arrow_schema(TABLES["accept"])
    each = 100_000
    number = np.arange(each)
    for n in range(rows // each):
        segment = Segment("2026-11-22", f"n{n % 4}", "accept", 1, n // 4)
        path = folder / "trace" / segment.path
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {
            "groupcore.kind": "accept",
            "groupcore.version": str(VERSION),
            "groupcore.every": "1",
        }
        columns = [
            pa.repeat(pa.scalar(f"n{n % 4}#1"), each)
            if field.type == pa.string()
            else pa.array(number + n // 4 * each).cast(pa.int64()).cast(field.type)
            for field in schema
        ]
        batch = pa.record_batch(columns, schema=schema.with_metadata(metadata))
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_stream(file, batch.schema, options=options) as stream,
        ):
            for start in range(0, each, 2_000):
                stream.write_batch(batch.slice(start, 2_000))
    taken, seconds = timed(lambda: take(spark, Store(str(folder / "store")), str(folder / "trace")))
    return {"rows": taken.rows, "seconds": seconds, "rows_per_s": round(taken.rows / seconds)}


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it returns, and the seconds that it took."""
    started = time.perf_counter()
    result = work()
    return result, round(time.perf_counter() - started, 2)


def peak_mb(spark: SparkSession) -> int:
    """The most memory that Java's process has had."""
    assert spark._jvm is not None
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def _arrow(columns: dict[str, np.ndarray]) -> pa.Table:
    import pyarrow as pa

    return pa.table(columns)
