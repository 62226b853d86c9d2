"""Propose which node should sequence what, and say what it would change. Nothing is moved.

The plan is a JSON file that the sequencing service takes; an admin looks at it and applies it. With
--nodes: what if the cluster had these nodes? Such a plan is written over no other one. Exit code 3:
there is something to move; 0: nothing; 1: nothing, though something is wrong that no placement
mends.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.loading import load_days
from pipeline.placement import Bounds, Placement, imbalance
from pipeline.planning import Planned, plan
from pipeline.putting import put
from pipeline.running import Report, open_store, session_options
from pipeline.session import spark_session
from pipeline.spans import add_span, span_of
from pipeline.transforms.resting import REST_MIN

TO_MOVE = 3
"""Exit code where a plan waits for somebody's approval."""
INFEASIBLE = 1
"""Exit code where nothing is to move, and not all is well."""


def add_arguments(parser: ArgumentParser) -> None:
    """What this job takes."""
    bounds = Bounds()
    parser.add_argument(
        "--output", type=Path, help="file for the plan, written even if nothing moves"
    )
    parser.add_argument("--nodes", default="", help="what if these were the nodes: a,b,c")
    parser.add_argument("--drain", default="", help="nodes that are to have nothing: a,b")
    parser.add_argument("--moves", type=int, default=bounds.moves, help="at most (%(default)s)")
    parser.add_argument(
        "--rest",
        type=float,
        default=REST_MIN,
        help="minutes that a group which has moved is left alone, unless it must (%(default)s)",
    )
    parser.add_argument("--days", type=int, default=7, help="of load to plan for (%(default)s)")
    add_span(parser)
    parser.add_argument(
        "--slack", type=float, default=bounds.slack, help="above the mean (%(default)s)"
    )
    parser.add_argument(
        "--capacity",
        type=float,
        default=bounds.capacity,
        help="us of processor time a second that a node can carry (%(default)s)",
    )


def run(arguments: Namespace) -> int:
    """Propose, write, say."""
    report = Report(as_json=arguments.json)
    bounds = Bounds(
        slack=arguments.slack,
        moves=arguments.moves,
        capacity=arguments.capacity,
        draining=frozenset(filter(None, arguments.drain.split(","))),
    )
    nodes = list(filter(None, arguments.nodes.split(",")))
    with (
        spark_session(session_options(arguments), "groupcore plan") as spark,
        report.phase("plan"),
    ):
        store = open_store(spark, arguments, report)
        snapshot = load_days(spark, store, store.snapshot(), window_s=arguments.window)
        planned = plan(
            spark,
            store,
            snapshot,
            bounds,
            nodes=nodes,
            days=arguments.days,
            span=span_of(arguments),
            rest_min=arguments.rest,
        )
    placement = planned.placement
    if arguments.output:
        write(arguments.output, planned)
    report.result(
        {
            "moves": Counter(move.reason for move in placement.moves),
            "groups": sum(len(move.groups) for move in placement.moves),
            "imbalance": [round(imbalance(x), 3) for x in (placement.before, placement.after)],
            "windows": planned.before.windows,
            "imbalance_replayed": [planned.before.imbalance, planned.after.imbalance],
            "fullest_us_replayed": [planned.before.fullest_us, planned.after.fullest_us],
            "latency_us": [None if wait is None else wait.p50_us for wait in planned.waits],
            "near": [None if wait is None else wait.near for wait in planned.waits],
            "not_worth": planned.not_worth,
            "infeasible": placement.infeasible,
            "supposes": planned.supposes,
            "absent": sorted((planned.names | bounds.draining) - planned.present),
        }
    )
    return code_of(placement)


def code_of(placement: Placement) -> int:
    """The exit code: what can be done about it counts first."""
    if placement.moves:
        return TO_MOVE
    return INFEASIBLE if placement.infeasible else 0


def write(path: Path, planned: Planned) -> None:
    """The plan, in the place of a former one; one without moves too, as the former is out of date.

    Raises PipelineError `not_replaced` where a what-if would take a plan's place.
    """
    if planned.supposes and path.is_file() and not _is_what_if(path):
        raise PipelineError(
            "not_replaced",
            f"{path} is there already, and this plan is for other nodes than the cluster has:"
            f" {', '.join(planned.supposes)}.",
            "Give --output another file.",
        )
    put(path, f"{json.dumps(planned.text(), indent=1)}\n")


def _is_what_if(path: Path) -> bool:
    try:
        return "supposes" in json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, TypeError):
        return False
