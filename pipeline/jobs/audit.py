"""Judge whether the order was kept, over everything that the store has of the trace.

What an earlier audit has judged is not judged again, unless what is new is not in order, or --full
asks for it; the result is the same.
Each violation is one JSON line. Exit code 0: no rule is broken; 1: one is; 2: it could not be
judged. With --certificate the result is signed and written as JSON, and as a page beside it.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path

from pipeline.certificate import describe, load_key, page, sign
from pipeline.ingest import hash_of
from pipeline.judging import judge, keep
from pipeline.running import Report, open_store, session_options
from pipeline.schemas import VIOLATION
from pipeline.session import spark_session

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


def run(arguments: Namespace) -> int:
    """Judge, store, sign, say."""
    if arguments.certificate and not arguments.key:
        arguments.key = arguments.certificate.with_suffix(".key")
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore audit") as spark:
        store = open_store(spark, arguments, report)
        snapshot = store.snapshot()
        audited, logs, whole = judge(spark, store, snapshot, report.steps(), whole=arguments.full)
        said = describe(audited, store.root, snapshot.number, datetime.now(UTC))
        parts, frontier = keep(store, snapshot, audited, logs)
        if whole:
            written = store.write(audited.violations, "audit_violation", snapshot, files=1)
            parts["audit_violation"] = written
        made = store.commit(
            snapshot,
            f"audit {snapshot.number + 1} {hash_of(said)}",
            replace=parts,
            positions={"audit": said, "audit_frontier": frontier.position()},
        )
        broken = store.read(
            spark, "audit_violation", VIOLATION, made.parts_since("audit_violation", 0)
        )
        for row in broken.limit(arguments.limit).collect():
            print(json.dumps({k: v for k, v in row.asDict().items() if v is not None}))
        report.end()
    if arguments.certificate:
        document = sign(said, load_key(arguments.key))
        arguments.certificate.write_text(json.dumps(document, indent=1), encoding="utf-8")
        arguments.certificate.with_suffix(".html").write_text(page(document), encoding="utf-8")
    report.result(
        {
            "result": said["result"],
            "deliveries": said["deliveries"],
            "violations": sum(audited.counts.values()),
            "not_auditable": sum(audited.excused.values()),
            "held": audited.held,
            "whole": whole,
            "seconds": round(sum(report.seconds.values()), 2),
        }
    )
    return 0 if audited.clean else BROKEN
