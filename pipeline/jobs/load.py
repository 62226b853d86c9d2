"""What sequencers, groups and nodes carry in each minute, and how long messages wait.

Writes the tables load_group, load_sequencer, load_latency, load_round, load_sender and load_origin,
for days of which there is something new; says the busiest groups of the last days, how the load was
divided, and how long senders waited until their own message was back. --output: the windows of
these, for the console, which says by them what plans have brought. With --follow it does so each
time that nodes have completed segments; a day for which some come late is computed again.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.following import Following, add_follow_arguments, stop_when_asked, trace_to_follow
from pipeline.loading import days_to_load, load_days, newest_days
from pipeline.measuring import measure
from pipeline.putting import put
from pipeline.running import Report, open_store, session_options
from pipeline.schemas import raw
from pipeline.session import spark_session
from pipeline.spans import add_span, span_of
from pipeline.transforms import load, owners

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument("--top", type=int, default=10, help="groups to name")
    parser.add_argument("--days", type=int, default=7, help="days to name them of (%(default)s)")
    parser.add_argument("--output", type=Path, help="file for the windows")
    add_span(parser)
    add_follow_arguments(parser)


def run(arguments: Namespace) -> int:
    """Compute, store, say."""
    report = Report(as_json=arguments.json)
    trace = trace_to_follow(arguments.trace) if arguments.follow else ""
    stop = stop_when_asked() if arguments.follow else None
    with spark_session(session_options(arguments), "groupcore load") as spark:
        store = open_store(spark, arguments, report)
        _once(spark, store, arguments, report)
        if stop is not None:

            def work() -> None:
                if days_to_load(store.snapshot()):
                    _once(spark, store, arguments, report)

            following = Following(
                spark, store, trace, "load", arguments.every, arguments.skip_damaged
            )
            following.run(work, stop)
    return 0


def _once(spark: SparkSession, store: Store, arguments: Namespace, report: Report) -> None:
    """What is new in the store."""
    before = store.snapshot()
    snapshot = load_days(spark, store, before, report.steps(), arguments.window)
    report.end()
    loads = newest_days(spark, store, snapshot, arguments.days, span_of(arguments))
    views = store.read(spark, "view", raw("view"), snapshot.parts_since("view", 0))
    nodes = owners.present_nodes(views).count() or 1
    peaks = load.group_peaks(loads.groups).orderBy("load_us", ascending=False)
    busiest = peaks.limit(arguments.top).collect()
    found = measure(loads, nodes)
    if arguments.output:
        put(arguments.output, f"{json.dumps(found.shown())}\n")
    report.result(
        {
            "computed": days_to_load(before),
            "windows": found.all.windows,
            "imbalance": found.all.imbalance,
            "fullest_us": found.all.fullest_us,
            "latency_us": None if found.wait is None else found.wait.p50_us,
            "latency_us_p95": None if found.wait is None else found.wait.p95_us,
            "latency_us_at": found.at_nodes,
            "near": None if found.wait is None else found.wait.near,
            "busiest": {row["gid"]: round(row["load_us"], 1) for row in busiest},
        }
    )
