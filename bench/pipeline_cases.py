"""What the pipeline's benchmark measures: each job over so many rows, DuckDB at the same work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from groupcore.trace import TABLES, VERSION, Segment

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import SparkSession

    Numbers = NDArray[np.int64]

T = TypeVar("T")
Figures = dict[str, object]
"""`rows` and `seconds`, and what is peculiar to the job."""

HUBS = 20
SEGMENT_ROWS = 100_000


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it returns, and the seconds that it took."""
    started = time.perf_counter()
    result = work()
    return result, round(time.perf_counter() - started, 2)


# --- audit ----------------------------------------------------------------------------------------


def audit(spark: SparkSession, folder: Path, deliveries: int) -> Figures:
    """A clean trace, judged whole."""
    from pipeline.audit import KINDS, Logs
    from pipeline.audit import audit as judge
    from pipeline.schemas import SEGMENT_FACTS, raw

    paths, rows = _trace(folder, deliveries)
    tables = {kind: spark.read.schema(raw(kind)).parquet(paths[kind]) for kind in KINDS}
    logs = Logs(**tables, segment=spark.createDataFrame([], SEGMENT_FACTS))  # type: ignore[arg-type]
    phases: dict[str, float] = {}
    begun = time.perf_counter()

    def note(name: str) -> None:
        phases[name] = round(time.perf_counter() - begun, 1)

    found, seconds = timed(lambda: judge(logs, note))
    assert found.clean, found.counts
    spark.catalog.clearCache()
    return {"rows": rows, "seconds": seconds, "begun_at_s": phases}


def audit_duckdb(folder: Path, deliveries: int) -> Figures:
    """The rules about deliveries alone, for each process from the start."""
    from bench import order_oracle

    paths, rows = _trace(folder, deliveries)
    found, seconds = timed(lambda: order_oracle.judge(paths))
    assert not found
    return {"rows": rows, "seconds": seconds}


def _trace(folder: Path, deliveries: int) -> tuple[dict[str, str], int]:
    from bench.synthetic_trace import write_trace
    from pipeline.audit import KINDS

    place = folder / f"audit-{deliveries}"
    place.mkdir()
    rows = write_trace(place, deliveries)
    return {kind: str(place / f"{kind}.parquet") for kind in KINDS}, rows


# --- overlap, components --------------------------------------------------------------------------


def memberships(count: int) -> tuple[Numbers, Numbers]:
    """gid, process: hubs that are in a tenth of all groups each, and teams of 16 with 20 groups.

    The five teams of a department share people: without the hubs it is a component.
    """
    groups = count // 10
    draw = np.random.default_rng(1)
    gid = draw.integers(0, groups, count * 8 // 10)
    team = gid // 20 % 5
    process = gid // 100 * 60 + (team * 12 + draw.integers(0, 16, len(gid))) % 60
    hubs = np.repeat(np.arange(HUBS) + 10 * groups, groups // 10)
    both = np.unique(
        np.stack((np.r_[gid, draw.integers(0, groups, len(hubs))], np.r_[process, hubs])), axis=1
    )
    return both[0], both[1]


def overlap(spark: SparkSession, folder: Path, count: int, groups_max: int) -> Figures:
    """From JOINs to components, as the job does it; who is in more groups only watches."""
    from pyarrow import parquet

    from pipeline.overlap import find_overlap

    gid, process = memberships(count)
    rows = len(gid)
    columns = {
        "gid": gid,
        "process": np.char.add("n00#1/", process.astype(str)),
        "op": np.full(rows, "join"),
        "epoch": np.ones(rows, np.int64),
        "seq": np.arange(rows),
        "observes": np.zeros(rows, bool),
    }
    path = folder / f"membership-{count}.parquet"
    parquet.write_table(_arrow(columns), path, row_group_size=SEGMENT_ROWS, compression="zstd")
    joins = spark.read.parquet(str(path))
    groups = joins.selectExpr("gid", "'strict' as promise").distinct().cache()
    groups.count()

    def find() -> tuple[str, int, int]:
        found = find_overlap(joins, groups, groups_max)
        parts = found.components.select("component").distinct().count()
        return found.way, len(found.observers), parts

    (way, watching, parts), seconds = timed(find)
    spark.catalog.clearCache()
    return {
        "rows": len(gid),
        "seconds": seconds,
        "way": way,
        "observers": watching,
        "components": parts,
    }


_MEMBERS = """
create temp table members as
select gid, 'n00#1/' || process as process from memberships
where process not in (select process from memberships group by process having count(*) > ?)
"""
_STARS = """
with pairs as (
    select m.process a, n.process b, min(gid) center, list(gid) gids
    from members m join members n using (gid) where m.process < n.process
    group by all having count(*) > 1)
select distinct center a, b from (select center, unnest(gids) b from pairs) where center != b
"""


def overlap_duckdb(folder: Path, count: int, groups_max: int) -> Figures:
    """The same by pairs of processes, always; components by the pipeline's own function."""
    import duckdb

    from pipeline.components import by_labels

    gid, process = memberships(count)
    members = _arrow({"gid": gid, "process": process})
    with duckdb.connect(config={"threads": 2, "memory_limit": "4GB"}) as db:
        db.execute("set enable_progress_bar = false")  # it would be among the figures
        db.register("memberships", members)

        def find() -> int:
            db.execute(_MEMBERS, [groups_max])
            edges = db.execute(_STARS).fetchnumpy()
            _, labels = by_labels(np.asarray(edges["a"]), np.asarray(edges["b"]))
            return len(np.unique(labels))

        parts, seconds = timed(find)
    return {"rows": len(gid), "seconds": seconds, "way": "dual", "components": parts}


def components(spark: SparkSession, folder: Path, edges: int) -> Figures:
    """Random edges between a fifth as many vertices, and a long chain."""
    from pipeline.components import components as label

    draw = np.random.default_rng(2)
    vertices = edges // 5
    # Near ones only, so that they are many components: some more are drawn than are kept.
    a = draw.integers(0, vertices, edges)
    b = np.minimum(a + draw.integers(1, 50, edges), a // 100 * 100 + 99)
    chain = np.arange(vertices + 100, vertices + 2_100)
    frame = spark.createDataFrame(_arrow({"a": np.r_[a, chain[:-1]], "b": np.r_[b, chain[1:]]}))
    frame.cache().count()
    count, seconds = timed(lambda: label(frame).select("component").distinct().count())
    spark.catalog.clearCache()
    return {"rows": edges + len(chain) - 1, "seconds": seconds, "components": count}


# --- placement, ingest ----------------------------------------------------------------------------


def placement(count: int) -> Figures:
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
        "rows": count,
        "seconds": seconds,
        "moves": len(placed.moves),
        "imbalance": [round(imbalance(x), 3) for x in (placed.before, placed.after)],
    }


def ingest(spark: SparkSession, folder: Path, rows: int, here_bytes_max: int) -> Figures:
    """Segments of accepts into a store; by this process up to so many bytes."""
    from pipeline.ingest import ingest as take
    from pipeline.store import Store

    trace = folder / f"trace-{rows}"
    _write_segments(trace, rows)
    store = Store(str(folder / f"store-{rows}"))
    taken, seconds = timed(lambda: take(spark, store, str(trace), here_bytes_max=here_bytes_max))
    assert taken.rows == rows
    return {"rows": rows, "seconds": seconds}


def ingest_duckdb(folder: Path, rows: int) -> Figures:
    """The same segments into Parquet files by days."""
    import duckdb

    trace, out = folder / f"trace-{rows}", folder / f"duckdb-{rows}"
    _write_segments(trace, rows)

    def take() -> None:
        with duckdb.connect(config={"threads": 2, "memory_limit": "4GB"}) as db:
            db.execute("set enable_progress_bar = false")  # it would be among the figures
            reader = _batches(trace)
            db.register("rows", reader)
            db.execute(
                f"copy (select *, strftime(t, '%Y-%m-%d') as date from rows) to '{out}'"
                " (format parquet, compression zstd, partition_by (date))"
            )

    _, seconds = timed(take)
    return {"rows": rows, "seconds": seconds}


def _batches(trace: Path) -> pa.RecordBatchReader:
    """The rows of all segments."""
    import pyarrow as pa

    from pipeline.schemas import arrow_schema

    def read() -> Iterator[pa.RecordBatch]:
        for path in sorted(trace.rglob("*.arrows")):
            with pa.OSFile(str(path)) as file:
                yield from pa.ipc.open_stream(file)

    return pa.RecordBatchReader.from_batches(arrow_schema(TABLES["accept"]), read())


def _write_segments(trace: Path, rows: int) -> None:
    import pyarrow as pa

    from pipeline.schemas import arrow_schema

    schema = arrow_schema(TABLES["accept"])
    number = np.arange(SEGMENT_ROWS)
    draw = np.random.default_rng(3)
    metadata = {
        "groupcore.kind": "accept",
        "groupcore.version": str(VERSION),
        "groupcore.every": "1",
    }
    for n in range(rows // SEGMENT_ROWS):
        segment = Segment("2026-11-22", f"n{n % 4}", "accept", 1, n // 4)
        path = trace / segment.path
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = {
            "node": pa.repeat(pa.scalar(f"n{n % 4}#1"), SEGMENT_ROWS),
            "off": pa.array(number + n // 4 * SEGMENT_ROWS),
            "t": pa.array(1_795_305_600_000_000 + 100 * number).cast(schema.field("t").type),
            "lseq": pa.array(4096 * number),
            "gid": pa.array(draw.integers(1, 5_000, SEGMENT_ROWS)),
            "epoch": pa.repeat(pa.scalar(1), SEGMENT_ROWS),
            "seq": pa.array(number // 10),
            "count": pa.repeat(pa.scalar(1), SEGMENT_ROWS),
            "sender": pa.array([f"n{i % 4}#1/{i % 499}" for i in range(SEGMENT_ROWS)]),
            "first": pa.array(number // 100),
            "bytes": pa.array(draw.integers(20, 400, SEGMENT_ROWS)),
            "crc": pa.array(draw.integers(0, 2**32, SEGMENT_ROWS)),
        }
        ordered = [columns[field.name].cast(field.type) for field in schema]
        batch = pa.record_batch(ordered, schema=schema.with_metadata(metadata))
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_stream(file, batch.schema, options=options) as stream,
        ):
            for start in range(0, SEGMENT_ROWS, 2_000):
                stream.write_batch(batch.slice(start, 2_000))


def _arrow(columns: Mapping[str, NDArray[Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.table(columns)
