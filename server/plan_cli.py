"""`python -m server plan apply|list|status|cancel ...`: placement plans from a shell.

Exit codes: 0 done, 1 refused, no node there, or groups that did not move, 2 wrong use.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from server.command_line import OneLineParser, add_list, add_verbs, common_options
from server.errors import ServerError, SettingsProblem
from server.management_client import Shown, managed

ASK_AGAIN_S = 0.5
"""Between two questions how far a plan is."""
ON_ITS_WAY = ("running", "cancelling")


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(
        prog="python -m server plan", description="Which node sequences which groups."
    )
    verbs = add_verbs(parser)
    common = common_options()
    apply = verbs.add_parser("apply", parents=[common], help="have the node carry a plan out")
    apply.add_argument("file", type=Path, help="the plan, as JSON; - for the input")
    apply.add_argument("--dry-run", action="store_true", help="only say what it would do")
    apply.add_argument(
        "--at-once", type=int, choices=range(1, 100), metavar="N", help="so many moves at a time"
    )
    apply.add_argument("--wait", action="store_true", help="until it is over")
    add_list(verbs, [common], "the plans that the node was given")
    for verb, text in (
        ("status", "how far a plan is, and each of its groups"),
        ("cancel", "have no more of it done; what has moved stays"),
    ):
        verbs.add_parser(verb, parents=[common], help=text).add_argument("id")
    return parser


def run_plan_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    text = plan_of(given.file) if given.verb == "apply" else b""
    found = asyncio.run(_asked(given, text))
    if given.json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        print("\n".join(lines_of(found)))
    if problem := problem_of(found):
        raise ServerError(problem)


def plan_of(path: Path) -> bytes:
    """The text of a plan."""
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise SettingsProblem(f"{path} cannot be read: {error.strerror}") from None


async def _asked(given: argparse.Namespace, text: bytes) -> Shown:
    async with managed(given, "this node knows no plans; it is of before them") as node:
        match given.verb:
            case "apply" if given.dry_run:
                return await node.ask("POST", "/plans?dry_run=true", text)
            case "apply":
                query = f"?at_once={given.at_once}" if given.at_once else ""
                found = await node.ask("POST", f"/plans{query}", text)
                while given.wait and found["state"] in ON_ITS_WAY:
                    await asyncio.sleep(ASK_AGAIN_S)
                    found = await node.ask("GET", f"/plans/{found['id']}")
                return found
            case "ls":
                return await node.ask("GET", "/plans")
            case "status":
                return await node.ask("GET", f"/plans/{quote(given.id, safe='')}")
            case _:
                return await node.ask("POST", f"/plans/{quote(given.id, safe='')}/cancel")


def problem_of(found: Shown) -> str:
    """Why the command has not done all of what it was asked for; empty when it has."""
    if found.get("refused"):
        return "the plan is refused as it is; correct it and look again"
    if found.get("state") == "failed":
        return f"{found['failed']} groups did not move"
    if found.get("state") == "lost":
        return str(found["problem"])
    return ""


def lines_of(found: Shown) -> list[str]:
    """A line for each thing, as people read it."""
    if "plans" in found:
        return [_line(one) for one in _rows(found, "plans")] or ["no plans"]
    if "dry_run" in found:
        moves = [
            f"move     {one['name']}: {one['from']} to {one['to']}" for one in _rows(found, "moves")
        ]
        stays = [f"stays    {one['name']}: at {one['to']}" for one in _rows(found, "stays")]
        refused = [
            f"refused  {one['item']}: {one['problem']}; {one['remedy']} ({one['code']})"
            for one in _rows(found, "refused")
        ]
        return [*moves, *stays, *refused]
    steps = [
        f"  {one['state']:<8} {one['name']}: {one['from']} to {one['to']}"
        + (f": {one['why']}" if one["why"] else "")
        for one in _rows(found, "steps")
    ]
    return [_line(found), *steps]


def _line(plan: Shown) -> str:
    names = ("total", "done", "under_way", "failed", "left")
    numbers = "  ".join(f"{name}={plan[name]}" for name in names if name in plan)
    away = plan.get("away")
    waiting = f"  waits for {', '.join(map(str, away))}" if isinstance(away, list) and away else ""
    return f"{plan['id']}  {plan['state']}  {numbers}{waiting}{_gain(plan)}"


def _gain(plan: Shown) -> str:
    """The imbalance before, as expected and as measured: the pipeline's where it has said some."""
    said, live, measured = plan.get("expects"), plan.get("imbalance"), plan.get("measured")
    pair = (said.get("imbalance") if isinstance(said, dict) else None) or live
    if not isinstance(pair, list):
        return ""
    found = measured["imbalance"] if isinstance(measured, dict) else plan.get("brought")
    behind = "not measured" if found is None else f"measured {found}"
    return f"  imbalance {pair[0]}, expected {pair[1]}, {behind}"


def _rows(found: Shown, name: str) -> list[dict[str, Any]]:
    rows = found.get(name, [])
    assert isinstance(rows, list), "as the API says"
    return rows
