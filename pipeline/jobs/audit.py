"""Judge whether the order was kept, over everything that the store has of the trace.

What an earlier audit has judged is not judged again, unless what is new is not in order, or --full
asks for it; the result is the same.
Each violation is one JSON line. Exit code 0: no rule is broken; 1: one is; 2: it could not be
judged. Rows that a node's log owns up to have lost (a crash, a full disk, a damaged segment) excuse
what they would have explained, and nothing before or behind them: `kept_in_part` says that not
everything could be proved. With --certificate the result is signed and written as JSON, and as a
page beside it. With --follow it judges each time that nodes have completed segments, and says
violations as it finds them; its exit code is that of the last result.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.certificate import describe, page
from pipeline.following import Following, add_follow_arguments, stop_when_asked, trace_to_follow
from pipeline.ingest import hash_of
from pipeline.judging import has_news, judge, keep
from pipeline.putting import put
from pipeline.running import Report, open_store, session_options
from pipeline.schemas import VIOLATION
from pipeline.session import spark_session
from pipeline.signing import load_key, sign

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.store import Snapshot, Store

BROKEN = 1
"""Exit code where a rule is broken."""


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument("--certificate", type=Path, help="file to write, e.g. order.json")
    parser.add_argument(
        "--key", type=Path, help="PEM file of the Ed25519 key to sign with; made if missing"
    )
    parser.add_argument("--full", action="store_true", help="judge everything from the start")
    parser.add_argument(
        "--limit", type=int, default=1000, help="violations to print (%(default)s); all are stored"
    )
    add_follow_arguments(parser)


def run(arguments: Namespace) -> int:
    """Judge, store, sign, say."""
    if arguments.certificate and not arguments.key:
        arguments.key = arguments.certificate.with_suffix(".key")
    report = Report(as_json=arguments.json)
    trace = trace_to_follow(arguments.trace) if arguments.follow else ""
    stop = stop_when_asked() if arguments.follow else None
    with spark_session(session_options(arguments), "groupcore audit") as spark:
        store = open_store(spark, arguments, report)
        court = _Court(spark, store, arguments, report)
        court.judge(whole=arguments.full)
        if stop is not None:

            def work() -> None:
                if has_news(store.snapshot()):
                    court.judge()

            following = Following(
                spark, store, trace, "audit", arguments.every, arguments.skip_damaged
            )
            following.run(work, stop)
    return 0 if court.clean else BROKEN


@dataclass
class _Court:
    """Judges a store, once or again and again. `said`: violations that have been printed."""

    spark: SparkSession
    store: Store
    arguments: Namespace
    report: Report
    clean: bool = True
    said: set[str] = field(default_factory=set)

    def judge(self, *, whole: bool = False) -> None:
        """Judge what is new; keep, sign and say the result."""
        store, report = self.store, self.report
        snapshot = store.snapshot()
        audited, logs, whole = judge(self.spark, store, snapshot, report.steps(), whole=whole)
        said = describe(audited, store.root, snapshot.number, datetime.now(UTC))
        parts, frontier = keep(store, snapshot, audited, logs)
        if whole:
            # In one order, so that the console finds the rows of a rule beside each other.
            found = audited.violations.coalesce(1).sortWithinPartitions("rule", "gid", "seq")
            parts["audit_violation"] = store.write(found, "audit_violation", snapshot)
        made = store.commit(
            snapshot,
            f"audit {snapshot.number + 1} {hash_of(said)}",
            replace=parts,
            positions={"audit": said, "audit_frontier": frontier.position()},
        )
        if not audited.clean:
            self._tell(made)
        report.end()
        if self.arguments.certificate:
            self._sign(said)
        self.clean = audited.clean
        report.result(
            {
                "result": said["result"],
                "deliveries": said["deliveries"],
                "violations": sum(audited.counts.values()),
                "not_auditable": sum(audited.excused.values()),
                "held": audited.held,
                "unproved": sum(one.unproved for one in audited.ranges.values()),
                "missing": sum(one.missing for one in audited.ranges.values()),
                "whole": audited.whole,
                "from_the_start": whole,
                "seconds": round(sum(report.seconds.values()), 2),
            }
        )

    def _tell(self, snapshot: Snapshot) -> None:
        """Print the violations that have not been printed."""
        parts = snapshot.parts_since("audit_violation", 0)
        broken = self.store.read(self.spark, "audit_violation", VIOLATION, parts)
        for row in broken.limit(self.arguments.limit).collect():
            line = json.dumps({k: v for k, v in row.asDict().items() if v is not None})
            if line not in self.said:
                self.said.add(line)
                print(line, flush=True)

    def _sign(self, said: dict[str, Any]) -> None:
        path: Path = self.arguments.certificate
        document = sign(said, load_key(self.arguments.key))
        put(path, json.dumps(document, indent=1))
        put(path.with_suffix(".html"), page(document))
