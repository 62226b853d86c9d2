"""Who has written how much in which document, who was there for how long, and who edits together.

Writes the tables activity_edit, activity_presence and activity_together, for days of which there is
something new; with --page a page with plots of the last days. An edit is a message to a document:
the trace has sizes, and no content. Where names are pseudonyms, so are they here.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pipeline.activity import by_day, count_days, days_to_count
from pipeline.activity_page import Activity, page
from pipeline.putting import put
from pipeline.running import Report, open_store, session_options
from pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.store import Snapshot, Store


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument("--page", type=Path, help="file to write, e.g. activity.html")
    parser.add_argument("--days", type=int, default=30, help="days to show (%(default)s)")
    parser.add_argument("--rows", type=int, default=50, help="rows of its tables (%(default)s)")


def run(arguments: Namespace) -> int:
    """Compute, store, show."""
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore activity") as spark:
        store = open_store(spark, arguments, report)
        before = store.snapshot()
        snapshot = count_days(spark, store, before, report.steps())
        report.end()
        shown = read_activity(spark, store, snapshot, arguments.days)
    if arguments.page:
        put(arguments.page, page(shown, arguments.rows))
    report.result(
        {
            "computed": days_to_count(before),
            "days": len(shown.days),
            "documents": len({document for _, document, *_ in shown.edits}),
            "people": len({row[1] for row in shown.presence} | {row[2] for row in shown.edits}),
            "edits": sum(edits for *_, edits, _ in shown.edits),
        }
    )
    return 0


def read_activity(spark: SparkSession, store: Store, snapshot: Snapshot, days: int) -> Activity:
    """The last days of the tables, as the page takes them."""
    newest = sorted(snapshot.days_since("activity_presence", 0))[-days:]

    def rows(name: str, *columns: str) -> list[tuple[object, ...]]:
        table = by_day(spark, store, snapshot, name).where(F.col("day").isin(newest))
        return [tuple(row) for row in table.select(*columns).collect()]

    return Activity(
        newest,
        rows("activity_edit", "day", "document", "person", "edits", "bytes"),  # type: ignore[arg-type]
        rows("activity_presence", "day", "person", "sessions", "seconds"),  # type: ignore[arg-type]
        rows("activity_together", "document", "one", "other", "spans"),  # type: ignore[arg-type]
    )
