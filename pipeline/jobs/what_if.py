"""What would the last days have been with another placement? Their load is replayed, nothing moves.

--placement: a plan, as `plan` writes it; groups that it does not name stay where they are. --nodes:
how many share the load, if not those of the trace. Exit code 2 for a plan that is none.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.loading import load_days, newest_days
from pipeline.placement import PLAN_FORMAT
from pipeline.planning import replay
from pipeline.running import Report, open_store, session_options
from pipeline.schemas import raw
from pipeline.session import spark_session
from pipeline.transforms import owners


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    parser.add_argument("--placement", type=Path, required=True, help="the plan to try")
    parser.add_argument("--nodes", default="", help="the nodes that share the load: a,b,c")
    parser.add_argument("--days", type=int, default=7, help="of load to replay (%(default)s)")


def run(arguments: Namespace) -> int:
    """Replay both placements, say."""
    report = Report(as_json=arguments.json)
    asked = read_plan(arguments.placement)
    with spark_session(session_options(arguments), "groupcore what-if") as spark:
        store = open_store(spark, arguments, report)
        snapshot = load_days(spark, store, store.snapshot(), report.steps())
        report.end()
        groups, views = (
            store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0))
            for kind in ("group", "view")
        )
        today = {row["gid"]: row["node"] for row in owners.owners(groups).collect()}
        there = {row["node"] for row in owners.present_nodes(views).collect()}
        other = today | {gid: node for gid, node in asked.items() if gid in today}
        sharing = set(filter(None, arguments.nodes.split(","))) or there | set(asked.values())
        loads = newest_days(spark, store, snapshot, arguments.days).groups
        with report.phase("replay"):
            before = replay(loads, today, len(there) or 1)
            after = replay(loads, other, len(sharing))
    report.result(
        {
            "windows": before.windows,
            "groups_elsewhere": sum(other[gid] != node for gid, node in today.items()),
            "unknown_groups": len(asked.keys() - today.keys()),
            "imbalance_replayed": [before.imbalance, after.imbalance],
            "fullest_us_replayed": [before.fullest_us, after.fullest_us],
        }
    )
    return 0


def read_plan(path: Path) -> dict[int, str]:
    """Group and node of each that the plan names. Raises PipelineError `bad_plan`."""
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        if plan["plan"] != PLAN_FORMAT:
            raise ValueError("it has another format")
        return {int(gid): str(node) for gid, node in plan["groups"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PipelineError(
            "bad_plan", f"{path} is no plan: {error}.", "Take one that `plan --output` has written."
        ) from None
