"""Objects as they were at any number or time, many at once, out of exported logs.

A log is exported by `python -m server export-log DIR FILE`. Its messages are done once more by the
code that replicas run; where a live replica has told the hash of its state in the order, the copy
made here is held against it, and so are copies out of several logs against each other. Writes the
table object_state. Exit code 1: something differs, or is not whole.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from pyspark.sql import functions as F

from groupcore.shared.rebuilding import time_ms_of
from pipeline.errors import PipelineError
from pipeline.ingest import hash_of
from pipeline.running import Report, session_options
from pipeline.session import spark_session
from pipeline.store import Store
from pipeline.transforms.rebuilding import STATE, Wanted, kinds_of, read_exports, rebuilt, unlike

WRONG = 1
"""Exit code where an object is not what live replicas had, or not whole."""


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument(
        "--journal", action="append", required=True, help="an exported log; several times"
    )
    parser.add_argument(
        "--name",
        action="append",
        help="objects, e.g. 'doc/3f0c…' or 'doc/3f0c…/*'; several times; all if left out",
    )
    until = parser.add_mutually_exclusive_group()
    until.add_argument("--at-seq", type=int, metavar="N", help="as of this number of the group")
    until.add_argument("--at-time", type=time_ms_of, metavar="TIME", help="as of 2026-11-22T07:00Z")
    parser.add_argument(
        "--kinds",
        default="server.rebuilding:kind_of",
        help="the function that knows the classes of objects by their names (%(default)s)",
    )
    parser.add_argument(
        "--limit", type=int, default=100, help="of what is wrong, to print (%(default)s)"
    )


def run(arguments: Namespace) -> int:
    """Replay, store, compare, say."""
    kinds_of(arguments.kinds)
    report = Report(as_json=arguments.json)
    names = tuple(arguments.name or ["*"])
    wanted = Wanted(names, arguments.at_seq, arguments.at_time, arguments.kinds)
    with spark_session(session_options(arguments), "groupcore rebuild") as spark:
        store = Store(arguments.store)
        base = store.snapshot()
        with report.phase("objects"):
            states = rebuilt(read_exports(spark, arguments.journal), wanted)
            part = store.write(states, "object_state", base)
        with report.phase("comparison"):
            states = store.read(spark, "object_state", STATE, [part])
            wrong = states.where((F.size("differed") > 0) | (F.col("problem") != ""))
            found = [*wrong.drop("fields").collect(), *unlike(states).collect()]
            counted = states.agg(
                F.count("*").alias("objects"),
                F.coalesce(F.sum("agreed"), F.lit(0)).alias("agreed"),
            ).first()
        assert counted is not None
        if not counted["objects"]:
            raise PipelineError(
                "no_object", "The logs hold no object of that name.", "Look at --name and --kinds."
            )
        batch = f"rebuild {base.number + 1} {hash_of([*arguments.journal, *map(str, wanted)])}"
        store.commit(base, batch, replace={"object_state": part})
    for row in found[: arguments.limit]:
        print(json.dumps(row.asDict()))
    report.result({**counted.asDict(), "wrong": len(found)})
    return WRONG if found else 0
