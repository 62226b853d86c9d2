"""What sequencers, groups and nodes carry in each minute, and how long messages wait.

Writes the tables load_group, load_sequencer, load_latency, load_sender and load_origin, for days of
which there is something new; says the busiest groups of the last days.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from pipeline.loading import days_to_load, load_days, newest_days
from pipeline.running import Report, open_store, session_options
from pipeline.session import spark_session
from pipeline.transforms import load


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument("--top", type=int, default=10, help="groups to name")
    parser.add_argument("--days", type=int, default=7, help="days to name them of (%(default)s)")


def run(arguments: Namespace) -> int:
    """Compute, store, say."""
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore load") as spark:
        store = open_store(spark, arguments, report)
        before = store.snapshot()
        snapshot = load_days(spark, store, before, report.steps())
        report.end()
        groups, _ = newest_days(spark, store, snapshot, arguments.days)
        peaks = load.group_peaks(groups).orderBy("load_us", ascending=False).limit(arguments.top)
        report.result(
            {
                "computed": days_to_load(before),
                "windows": groups.select("w_start").distinct().count(),
                "busiest": {row["gid"]: round(row["load_us"], 1) for row in peaks.collect()},
            }
        )
    return 0
