"""Make one part of the many small ones of a day, and remove what nobody needs any more.

What no state of the store of the last --keep hours names is removed: that, too, is what a job that
was stopped has left. Run it between other jobs: of two that write one has to begin again.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace

from pipeline.compacting import compact
from pipeline.running import Report, open_store, session_options
from pipeline.session import spark_session


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument(
        "--least", type=int, default=2, help="parts that become one (%(default)s or more)"
    )
    parser.add_argument(
        "--keep", type=float, default=24.0, help="hours that older states are kept (%(default)s)"
    )


def run(arguments: Namespace) -> int:
    """Merge, remove, say."""
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore compact") as spark:
        store = open_store(spark, arguments, report)
        before = store.snapshot()
        after, merged = compact(spark, store, before, arguments.least, report.steps())
        report.end()
        gone = store.sweep(3600 * arguments.keep, time.time())
    parts = sum(map(len, after.tables.values()))
    report.result({"merged": merged, "parts": parts, "folders_removed": gone})
    return 0
