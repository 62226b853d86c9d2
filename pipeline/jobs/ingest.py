"""Take the segments that nodes have completed into the store.

Each segment is taken once; nothing new is no error. Exit code 2: nothing was taken, and why.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from pipeline.errors import PipelineError
from pipeline.ingest import ingest
from pipeline.running import Report, session_options
from pipeline.session import spark_session
from pipeline.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """Nothing but what every job takes."""
    del parser


def run(arguments: Namespace) -> int:
    """Take in what is new."""
    if not arguments.trace:
        raise PipelineError("no_trace", "There is no trace to take in.", "Name it with --trace.")
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore ingest") as spark:
        with report.phase("ingest"):
            store = Store(arguments.store)
            taken = ingest(spark, store, arguments.trace, skip_damaged=arguments.skip_damaged)
        report.result(
            {"segments": taken.segments, "rows": taken.rows, "damaged": list(taken.damaged)}
        )
    return 0
