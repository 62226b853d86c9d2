"""Take the segments that nodes have completed into the store.

Each segment is taken once; nothing new is no error. Exit code 2: nothing was taken, and why.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from pipeline.ingest import ingest
from pipeline.running import Report, session_options
from pipeline.session import spark_session
from pipeline.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument("--trace", required=True, help="folder or URI that the nodes write to")
    parser.add_argument(
        "--skip-damaged", action="store_true", help="name damaged segments and pass them over"
    )


def run(arguments: Namespace) -> int:
    """Take in what is new."""
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore ingest") as spark:
        with report.phase("ingest"):
            store = Store(arguments.store)
            taken = ingest(spark, store, arguments.trace, skip_damaged=arguments.skip_damaged)
        report.result(
            {"segments": taken.segments, "rows": taken.rows, "damaged": list(taken.damaged)}
        )
    return 0
