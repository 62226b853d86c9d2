"""Which strict groups need one sequencer, and whose leaving would part them.

Who has joined as an observer is left out. So is who is in more groups than --observers without
having said so: archivers and bots that are in everything would make one component of everything.
The service refuses such joins (strict_groups_max), and takes observers.
Writes the tables overlap_component and overlap_articulation.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from pipeline.ingest import hash_of
from pipeline.overlap import find_overlap, holding_together, sizes
from pipeline.running import Report, open_store, session_options
from pipeline.schemas import raw
from pipeline.session import spark_session

OBSERVERS_DEFAULT = 64
"""The service's own bound."""


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument(
        "--observers",
        type=int,
        default=OBSERVERS_DEFAULT,
        help="who is in more strict groups only watches (%(default)s)",
    )
    parser.add_argument("--top", type=int, default=10, help="components to look into")


def run(arguments: Namespace) -> int:
    """Compute, store, say."""
    report = Report(as_json=arguments.json)
    with spark_session(session_options(arguments), "groupcore overlap") as spark:
        store = open_store(spark, arguments, report)
        snapshot = store.snapshot()
        membership, groups = (
            store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0))
            for kind in ("membership", "group")
        )
        with report.phase("components"):
            found = find_overlap(membership, groups, arguments.observers)
            written = {
                "overlap_component": store.write(
                    found.components, "overlap_component", snapshot, files=1
                )
            }
        with report.phase("who holds them together"):
            largest = sizes(found, arguments.top)
            who = holding_together(found, largest)
            rows = [
                (component, one.process, one.parts, one.largest)
                for component, own in who.items()
                for one in own
            ]
            frame = spark.createDataFrame(
                rows, "component bigint, process string, parts int, largest int"
            )
            written["overlap_articulation"] = store.write(
                frame, "overlap_articulation", snapshot, files=1
            )
        batch = f"overlap {snapshot.number + 1} {hash_of([largest, len(rows)])}"
        store.commit(snapshot, batch, replace=written)
        report.result(
            {
                "way": found.way,
                "observers": found.observers,
                "declared_observers": found.declared,
                "largest": [
                    {
                        "component": component,
                        "groups": size,
                        "held_by": [one.process for one in who.get(component, [])[:3]],
                    }
                    for component, size in largest
                ],
            }
        )
    return 0
