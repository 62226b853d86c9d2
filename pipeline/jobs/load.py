"""What sequencers, groups and nodes carry in each minute, and how long messages wait.

Writes the tables load_group, load_sequencer, load_latency and load_sender; says the busiest groups.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from pipeline.ingest import hash_of
from pipeline.running import Report, open_store, session_options
from pipeline.schemas import raw
from pipeline.session import spark_session
from pipeline.transforms import load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument("--top", type=int, default=10, help="groups and senders to name")


def run(arguments: Namespace) -> int:
    """Compute, store, say."""
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore load") as spark:
        store = open_store(spark, arguments, report)
        snapshot = store.snapshot()

        def table(kind: str) -> DataFrame:
            return store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0))

        accepts = table("accept")
        frames = {
            "load_group": load.group_load(accepts, load.group_nodes(table("membership"))),
            "load_sequencer": load.sequencer_load(table("frame")),
            "load_latency": load.latency(table("delivery"), accepts),
            "load_sender": load.hot_senders(accepts, arguments.top),
        }
        written = {}
        for name, frame in frames.items():
            with report.phase(name):
                written[name] = store.write(frame, name, snapshot, files=1)
        batch = f"load {snapshot.number + 1} {hash_of(written)}"
        store.commit(snapshot, batch, replace=written)
        groups = spark.read.parquet(f"{store.root}/{written['load_group']}")
        peaks = load.group_peaks(groups).orderBy("load_us", ascending=False).limit(arguments.top)
        report.result(
            {
                "windows": groups.select("w_start").distinct().count(),
                "busiest": {row["gid"]: round(row["load_us"], 1) for row in peaks.collect()},
            }
        )
    return 0
